"""Compiled kernels: private plain functions on arrays, without any knowledge of robots."""
