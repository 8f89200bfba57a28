"""Linear algebra that knows nothing of robots: symmetric sparse matrices, their analysis and their factorisations."""
