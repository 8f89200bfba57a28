"""Counters that several threads share inside compiled kernels: they take tasks from them and wait on them.

A counter is the address of an int64 (`counter(array, index)`). All operations are sequentially consistent: what
a thread wrote before it counted is seen by whoever sees the count.
"""

from __future__ import annotations

import ctypes
import sys

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_INT64 = ir.IntType(64)


def _yield_address() -> int:
    """Address of the operating system's function that lets another thread run."""
    if sys.platform == "win32":
        return ctypes.cast(ctypes.windll.kernel32.SwitchToThread, ctypes.c_void_p).value or 0
    return ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0


llvm.add_symbol("pliant_yield", _yield_address())


def _changing(operation):
    """Code that changes a counter by an operation of one argument and returns what it was before."""

    def codegen(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], _INT64.as_pointer())
        return builder.atomic_rmw(operation, pointer, args[1], "seq_cst")

    return codegen


@intrinsic
def add(typingctx, address, amount):
    """Add to a counter; returns what it was before."""
    return types.int64(types.intp, types.int64), _changing("add")


@intrinsic
def lower(typingctx, address, value):
    """Lower a counter to `value` if it is larger; returns what it was before."""
    return types.int64(types.intp, types.int64), _changing("min")


@intrinsic
def read(typingctx, address):
    """Value of a counter."""

    def codegen(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], _INT64.as_pointer())
        return builder.load_atomic(pointer, "seq_cst", 8)

    return types.int64(types.intp), codegen


@intrinsic
def _give_way(typingctx):
    def codegen(context, builder, signature, args):
        from numba.core import cgutils

        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "pliant_yield"), [])
        return context.get_dummy_value()

    return types.none(), codegen


@njit(inline="always")
def counter(array, index):
    """Address of one int64 of a contiguous array."""
    return array.ctypes.data + 8 * index


@njit(nogil=True)
def wait_for(address, value):
    """Return when a counter has reached `value`: watch it for some microseconds, then let others run in between."""
    looks = 0
    while read(address) < value:
        looks += 1
        if looks > 2000:
            _give_way()
