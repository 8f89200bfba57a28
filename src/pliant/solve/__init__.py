"""Forward problems, written once for every model: equilibrium, step, simulate, sweep, sensitivity, contact."""
