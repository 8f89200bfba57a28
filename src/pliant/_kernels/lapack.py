"""BLAS and LAPACK inside compiled kernels, taken from scipy, so nothing has to be linked.

Each routine is an external symbol registered with LLVM at import. (A ctypes pointer would work as well,
but numba refuses to cache functions that hold one.) Matrices are addresses of doubles in column-major
storage; `address(array, offset)` gives one. Scalars go by value here and by reference below.
The routines release nothing and allocate nothing; whether they use threads is up to the BLAS.
"""

from __future__ import annotations

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

from pliant._kernels import notice  # noqa: F401  says that kernels are being compiled

LEFT, RIGHT = ord("L"), ord("R")
LOWER = ord("L")
NO, TRANS = ord("N"), ord("T")
NONUNIT = ord("N")

_CHAR, _INT, _DOUBLE = ir.IntType(8), ir.IntType(32), ir.DoubleType()
_KINDS = {
    "c": (types.int64, _CHAR),
    "i": (types.int64, _INT),
    "d": (types.float64, _DOUBLE),
    "a": (types.intp, None),
}


def _bind(module: str, name: str, kinds: str):
    """An intrinsic calling a Fortran routine; kinds are c(har), i(nteger), d(ouble), a(ddress), r(esult)."""
    symbol = f"pliant_{name}"
    llvm.add_symbol(symbol, get_cython_function_address(f"scipy.linalg.{module}", name))
    returns = kinds.endswith("r")
    passed = kinds.rstrip("r")

    def codegen(context, builder, signature, args):
        values = cgutils.unpack_tuple(builder, args[0], len(passed))
        pointers = []
        for kind, value, given in zip(passed, values, signature.args[0]):
            wanted, stored = _KINDS[kind]
            value = context.cast(builder, value, given, wanted)
            if stored is None:
                pointers.append(builder.inttoptr(value, cgutils.voidptr_t))
                continue
            if isinstance(stored, ir.IntType):
                value = builder.trunc(value, stored)
            slot = cgutils.alloca_once(builder, stored)
            builder.store(value, slot)
            pointers.append(builder.bitcast(slot, cgutils.voidptr_t))
        info = cgutils.alloca_once(builder, _INT)
        builder.store(_INT(0), info)
        if returns:
            pointers.append(builder.bitcast(info, cgutils.voidptr_t))
        function_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t] * len(pointers))
        function = cgutils.get_or_insert_function(builder.module, function_type, symbol)
        builder.call(function, pointers)
        return builder.sext(builder.load(info), ir.IntType(64))

    @intrinsic
    def call(typingctx, arguments):
        return types.int64(arguments), codegen

    return call


_dpotrf = _bind("cython_lapack", "dpotrf", "ciair")
_dgetrf = _bind("cython_lapack", "dgetrf", "iiaiar")
_dgetrs = _bind("cython_lapack", "dgetrs", "ciiaiaair")
_dtrsm = _bind("cython_blas", "dtrsm", "cccciidaiai")
_dsyrk = _bind("cython_blas", "dsyrk", "cciidaidai")
_dgemm = _bind("cython_blas", "dgemm", "cciiidaiaidai")
_dgemv = _bind("cython_blas", "dgemv", "ciidaiaidai")
_dtrsv = _bind("cython_blas", "dtrsv", "ccciaiai")


@njit(inline="always")
def address(array, offset):
    """Address of element `offset` of a contiguous array of doubles."""
    return array.ctypes.data + 8 * offset


@njit
def dpotrf(n, a, lda):
    """Lower Cholesky factor in place; 0, or 1 + the column that is not positive."""
    return _dpotrf((LOWER, n, a, lda))


@njit
def dgetrf(n, a, lda, pivots):
    """LU factors in place, with row pivots (n,) of 32 bits; 0, or 1 + the column without one."""
    return _dgetrf((n, n, a, lda, pivots))


@njit
def dgetrs(trans, n, a, lda, pivots, b):
    """Solve op(a) x = b with LU factors, in place: b (n,)."""
    _dgetrs((trans, n, 1, a, lda, pivots, b, n))


@njit
def dtrsm(side, trans, m, n, a, lda, b, ldb):
    """Solve with a lower triangle from one side, in place: b (m, n)."""
    _dtrsm((side, LOWER, trans, NONUNIT, m, n, 1.0, a, lda, b, ldb))


@njit
def dsyrk(n, k, alpha, a, lda, beta, c, ldc):
    """Lower triangle of c (n, n) = alpha a a^T + beta c with a (n, k)."""
    _dsyrk((LOWER, NO, n, k, alpha, a, lda, beta, c, ldc))


@njit
def dgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    """c (m, n) = alpha op(a) op(b) + beta c."""
    _dgemm((transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))


@njit
def dgemv(trans, m, n, alpha, a, lda, x, beta, y):
    """y = alpha op(a) x + beta y with a (m, n)."""
    _dgemv((trans, m, n, alpha, a, lda, x, 1, beta, y, 1))


@njit
def dtrsv(trans, n, a, lda, x):
    """Solve with a lower triangle, in place: x (n,)."""
    _dtrsv((LOWER, trans, NONUNIT, n, a, lda, x, 1))
