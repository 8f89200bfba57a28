"""Inverse problems, written once for every model: targets, limits, condensation, QP and QPCC, invert, trajectories."""
