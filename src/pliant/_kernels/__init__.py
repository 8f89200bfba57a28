"""_kernels of pliant."""
