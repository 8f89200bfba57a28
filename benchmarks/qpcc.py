"""Time of the dense solvers of the inverse problem: QP, LCP, QPCC pieces, whole QPCC.

Run: OMP_NUM_THREADS=1 python benchmarks/qpcc.py    (about a minute; keeps its rows in out/qpcc.json, for the page)

Baselines in the same run: DAQP for the QP, the full formulation of a piece for the reduced one (spec 9.7).
Printed beside: the thesis on a desktop i7 3.60 GHz (spec 9.7, 10.3, 13.4). Random problems as in spec 17.6.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant._kernels import qp as qp_kernel
from pliant._kernels import qpcc as qpcc_kernel
from pliant.inverse.qp import QP, solve_qp
from pliant.inverse.qpcc import QPCC, piece_qp, solve_qpcc
from pliant.solve.complementarity import solve_contact, solve_lcp

Row = dict[str, Any]


def median_time(call: Callable[[], Any], repeats: int = 30) -> float:
    """Median process time of a call [us] after one warm-up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e6 * float(np.median(times))


def compliance(rng: np.random.Generator, size: int, dofs: int) -> np.ndarray:
    """Random H A^-1 H^T."""
    B, H = rng.normal(size=(dofs, dofs)), rng.normal(size=(size, dofs))
    W = H @ np.linalg.solve(B @ B.T + 0.5 * np.eye(dofs), H.T)
    return 0.5 * (W + W.T)


def random_problem(
    rng: np.random.Generator, ne: int, na: int, nc: int, *, rows: int = 1, dofs: int = 300
) -> QPCC:
    """Random QPCC; rows=3 adds tangents."""
    W = compliance(rng, ne + na + rows * nc, dofs)
    e, a, c = slice(0, ne), slice(ne, ne + na), slice(ne + na, None)
    own = np.diag(W)
    return QPCC(
        Wea=W[e, a], Wec=W[e, c], de=rng.normal(size=ne) * own[e], Waa=W[a, a], Wac=W[a, c], da=np.zeros(na),
        Wca=W[c, a], Wcc=W[c, c], dc=0.5 * rng.normal(size=rows * nc) * own[c],
        effort_min=0.0, effort_max=3.0, rows_per_contact=rows,
    )  # fmt: skip


def qp_rows(rng: np.random.Generator) -> list[Row]:
    """Ours against DAQP, whole call, and our kernel alone."""
    import daqp

    rows = []
    for n, m in ((4, 8), (8, 16), (12, 24), (20, 40), (50, 100)):
        B = rng.normal(size=(n + 2, n))
        G = rng.normal(size=(m - n, n))
        qp = QP(B.T @ B, B.T @ rng.normal(size=n + 2), G=G, lower=-1.0, upper=1.0, lo=-0.5, hi=0.5)
        stacked, lower, upper = qp.stacked
        A, sense = np.ascontiguousarray(stacked[n:]), np.zeros(m, np.int32)
        zero = np.zeros(n)
        s = solve_qp(qp)
        rows.append(
            {
                "case": f"QP {n} unknowns {m} constraints",
                "solve_qp_us": median_time(lambda qp=qp: solve_qp(qp)),
                "kernel_us": median_time(
                    lambda qp=qp, st=stacked, lo=lower, up=upper, z=zero: qp_kernel.solve_dense_qp(
                        qp.Q, qp.c, st, lo, up, z, np.zeros(lo.size, np.int8), 1000
                    )
                ),
                "daqp_us": median_time(
                    lambda qp=qp, A=A, lo=lower, up=upper, se=sense: daqp.solve(qp.Q, qp.c, A, up, lo, se)
                ),
                "iterations": s.iterations,
            }
        )
    return rows


def contact_rows(rng: np.random.Generator) -> list[Row]:
    """Forward contact: frictionless and with friction."""
    rows = []
    for n in (9, 21, 76):
        W = compliance(rng, n, 300)
        q = rng.normal(size=n) * np.diag(W).mean()
        s = solve_lcp(W, q)
        rows.append(
            {
                "case": f"LCP {n} contacts",
                "cold_us": median_time(lambda W=W, q=q: solve_lcp(W, q)),
                "warm_us": median_time(lambda W=W, q=q, s=s: solve_lcp(W, q, start=s.force)),
                "residual": s.residual,
            }
        )
    for n in (5, 12, 39):
        W = compliance(rng, 3 * n, 300)
        q = rng.normal(size=3 * n) * np.diag(W).mean()
        triples = np.arange(3 * n).reshape(n, 3)
        c = solve_contact(W, q, triples=triples, friction=0.6)
        rows.append(
            {
                "case": f"Coulomb {n} contacts",
                "cold_us": median_time(
                    lambda W=W, q=q, t=triples: solve_contact(W, q, triples=t, friction=0.6), 10
                ),
                "warm_us": median_time(
                    lambda W=W, q=q, t=triples, c=c: solve_contact(
                        W, q, triples=t, friction=0.6, start=c.force
                    ),
                    10,
                ),
                "residual": c.residual,
            }
        )
    return rows


def reduced_rows(rng: np.random.Generator) -> list[Row]:
    """Compiled solve of a piece, full over reduced (factorisation and reduction included)."""
    rows = []
    for nc, thesis in ((3, 1.25), (10, 1.88), (50, 7.82)):
        problem = random_problem(rng, 3, 3, nc)
        states = solve_qpcc(problem).contact_set
        qp = piece_qp(problem, states, reduced=False)
        stacked, lower, upper = qp.stacked
        scaled = qpcc_kernel.scale_problem(problem.data())[0]
        zero, third = np.zeros(3), np.zeros(nc, bool)
        reduced = median_time(
            lambda p=scaled, s=states, z=zero, t=third: qpcc_kernel.pivot_search(
                p, 0.0, 0.0, z, 1, s.copy(), t, z, 1, 0, 1e-9
            )
        )
        full = median_time(
            lambda qp=qp, st=stacked, lo=lower, up=upper: qp_kernel.solve_dense_qp(
                qp.Q, qp.c, st, lo, up, np.zeros(qp.c.size), np.zeros(lo.size, np.int8), 1000
            )
        )
        rows.append(
            {
                "case": f"piece 3 actuators {nc} contacts",
                "reduced_us": reduced,
                "full_us": full,
                "ratio": full / reduced,
                "thesis_ratio": thesis,
            }
        )
    return rows


def qpcc_rows(rng: np.random.Generator) -> list[Row]:
    """Whole local solve from zero efforts and warm; averages over ten problems."""
    rows = []
    cases = ((2, 5, 1, 0.08), (2, 19, 1, 0.63), (4, 21, 1, 0.44), (5, 47, 1, 3.13), (8, 76, 1, 4.91),
             (4, 9, 3, 0.21), (9, 12, 3, 0.98), (21, 39, 3, 10.67), (8, 81, 3, 35.47))  # fmt: skip
    for na, nc, per, thesis in cases:
        cold, warm, pieces = [], [], []
        for _ in range(10):
            problem = random_problem(rng, 3, na, nc, rows=per, dofs=300 if per == 1 else 400)
            s = solve_qpcc(problem)
            cold.append(median_time(lambda p=problem: solve_qpcc(p), 5))
            warm.append(
                median_time(
                    lambda p=problem, s=s: solve_qpcc(p, start=s.effort, contact_set=s.contact_set), 5
                )
            )
            pieces.append(len(s.pieces))
        rows.append(
            {
                "case": f"QPCC {na} actuators {nc} {'contacts' if per == 1 else 'sticking contacts'}",
                "cold_us": float(np.median(cold)),
                "warm_us": float(np.median(warm)),
                "pieces": float(np.mean(pieces)),
                "thesis_us": 1e3 * thesis,
            }
        )
    return rows


def global_rows(rng: np.random.Generator) -> list[Row]:
    """Branch and bound with proof."""
    rows = []
    for na, nc in ((3, 6), (4, 8), (4, 12), (4, 20)):
        times, nodes = [], []
        for _ in range(10):
            problem = random_problem(rng, 3, na, nc, dofs=60)
            start = time.perf_counter()
            s = solve_qpcc(problem, search="global")
            times.append(1e3 * (time.perf_counter() - start))
            nodes.append(s.nodes)
        rows.append(
            {
                "case": f"global {na} actuators {nc} contacts",
                "median_ms": float(np.median(times)),
                "worst_ms": max(times),
                "nodes": float(np.mean(nodes)),
            }
        )
    return rows


def table(rows: list[Row]) -> str:
    """The QPCC rows as a table."""
    lines = ["| QPCC | cold [ms] | warm [ms] | pieces | thesis [ms] |", "|---|---|---|---|---|"]
    for r in rows:
        if "thesis_us" in r:
            times = " | ".join(f"{1e-3 * r[k]:.3f}" for k in ("cold_us", "warm_us"))
            name = r["case"].removeprefix("QPCC ")
            lines.append(f"| {name} | {times} | {r['pieces']:.1f} | {1e-3 * r['thesis_us']:.2f} |")
    return "\n".join(lines)


def main() -> list[Row]:
    """All rows, also printed."""
    rng = np.random.default_rng(0)
    rows = [*qp_rows(rng), *contact_rows(rng), *reduced_rows(rng), *qpcc_rows(rng), *global_rows(rng)]
    for row in rows:
        numbers = "  ".join(f"{k} {v:.3g}" for k, v in row.items() if k != "case")
        print(f"{row['case']:42s} {numbers}")
    Path("out").mkdir(exist_ok=True)
    Path("out/qpcc.json").write_text(json.dumps(rows, default=float))
    return rows


if __name__ == "__main__":
    main()
