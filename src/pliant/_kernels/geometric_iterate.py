"""The batched local/global iteration, written once for numpy and torch.

Needs numpy and nothing else of pliant: `ops` brings local forces, chamber volumes and the global solve (see
`geometric_batch.CpuOps` and `geometric_torch.TorchOps`).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pliant._kernels.geometric_anderson import Mixing

Array = np.ndarray


def iterate(
    ops: Any,
    data: dict[str, Any],
    commands: Array,
    *,
    tolerance: float,
    iterations: int,
    window: int,
    start: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The local/global iteration of a batch on a backend; returns host arrays.

    `start` holds the first poses: x (nb, N, 3) on the device, and the frames of rigid parts; by default the rest pose.
    """
    begin = time.perf_counter()
    xp = ops.xp
    nb, nc = commands.shape
    free = ops.array(data["free"])
    n, length = len(data["free"]), data["length"]
    gravity = ops.array(data["gravity"])
    driven = [int(i) for i in np.flatnonzero(data["driven"])]
    pushed = [int(i) for i in np.flatnonzero(~data["driven"])]
    target = ops.array(commands)
    rest_volumes = ops.array(data["rest_volumes"])
    parts = [(ops.array(nodes), ops.array(arm), ops.array(origin)) for nodes, arm, origin in data["parts"]]
    fields = ops.array(np.hstack(data["fields"])) if parts else None
    gram = ops.array(data["gram"])
    if start is None:
        x = _tile(xp, ops.array(data["rest"]), nb)
        R = [_tile(xp, ops.array(np.eye(3)), nb) for _ in parts]
        p = [_tile(xp, origin, nb) for _, _, origin in parts]
    else:
        x = start["x"]
        R = [ops.array(frame) for frame, _ in start["frames"]]
        p = [ops.array(place) for _, place in start["frames"]]
    mixing = Mixing(ops, (nb, 3 * n + 6 * len(parts)), window)
    done = np.zeros(nb, dtype=bool)
    count = np.full(nb, iterations)
    step_size = np.full(nb, np.inf)
    previous = ops.array(np.full(nb, np.inf))
    effort = ops.array(np.zeros((nb, nc)))
    cap = 0.05 * length
    alive = np.arange(nb)
    final_x = np.repeat(data["rest"][None], nb, axis=0)
    final_R = [np.tile(np.eye(3), (nb, 1, 1)) for _ in parts]
    final_p = [np.tile(origin, (nb, 1)) for _, _, origin in data["parts"]]
    final_e, final_v = np.zeros((nb, nc)), np.zeros((nb, nc))
    for used in range(1, iterations + 1):
        g = ops.forces(x) + gravity
        V, C = ops.volumes(x)
        if len(pushed):
            for i in pushed:
                g = g + target[:, i][:, None, None] * C[:, i]
        stack = xp.concatenate([g[:, None], C[:, driven]], 1) if xp is np else xp.cat([g[:, None], C[:, driven]], 1)
        full = stack[:, :, free]
        solved = ops.solve(full)
        # rigid parts: condensed motions, see geometric_proxy
        motions = None
        if parts:
            big = _coefficients(xp, R, len(parts))  # (nb, 3, 4P, 6P)
            load = _part_loads(xp, stack, parts, R, p, x)  # (nb, k, 6P)
            modes = xp.einsum("nm,bkni->bkmi", fields, full)  # (nb, k, 4P, 3)
            load = load - xp.einsum("bimd,bkmi->bkd", big, modes)
            schur = xp.einsum("bimd,mo,bioe->bde", big, gram, big)
            motions = ops.small(schur[:, None], load[..., None])[..., 0]  # (nb, k, 6P)
            weights = xp.einsum("bimd,bkd->bkmi", big, motions)
            solved = solved - xp.einsum("nm,bkmi->bkni", fields, weights)
        flat = solved.reshape(len(alive), stack.shape[1], 3 * n)
        if motions is not None:
            flat = xp.concatenate([flat, motions], 2) if xp is np else xp.cat([flat, motions], 2)
        f = flat[:, 0]
        ramp = xp.ones_like(f[:, 0])
        if len(driven):
            rows = full[:, 1:].reshape(len(alive), len(driven), 3 * n)
            if motions is not None:
                own = _part_loads(xp, stack[:, 1:], parts, R, p, x)
                rows = xp.concatenate([rows, own], 2) if xp is np else xp.cat([rows, own], 2)
            W = xp.einsum("bin,bjn->bij", rows, flat[:, 1:])
            error = V[:, driven] - rest_volumes[driven] - target[:, driven]
            toward = ops.small(W, -error[..., None])[..., 0]
            reach = ops.largest(xp.einsum("bj,bjn->bn", toward, flat[:, 1:]))
            ramp = ops.at_most(cap / (reach + 1e-300), 1.0)
            scaled = error * ramp[:, None]
            lam = ops.small(W, -(scaled + xp.einsum("bin,bn->bi", rows, f))[..., None])[..., 0]
            f = f + xp.einsum("bj,bjn->bn", lam, flat[:, 1:])
            effort[:, driven] = lam
        if len(pushed):
            effort[:, pushed] = target[:, pushed]
        size_now, norm = ops.largest(f), (f * f).sum(1) ** 0.5
        finished = np.zeros(len(alive), dtype=bool)
        if used % ops.patience == 0 or used == iterations:  # looking costs a synchronisation on a GPU
            size = ops.host(size_now)
            finished = ((size <= tolerance * length) & (ops.host(ramp) == 1.0)) | ~np.isfinite(size)
        if finished.any() or used == iterations:
            ids = alive[finished] if used < iterations else alive
            sel = np.flatnonzero(finished) if used < iterations else np.arange(len(alive))
            s = ops.array(sel)
            final_x[ids] = ops.host(x[s])
            for k in range(len(parts)):
                final_R[k][ids], final_p[k][ids] = ops.host(R[k][s]), ops.host(p[k][s])
            final_e[ids], final_v[ids] = ops.host(effort[s]), ops.host(V[s] - rest_volumes)
            step_size[ids], count[ids] = size[sel] / length, used
            done[ids] = (finished & np.isfinite(size))[sel]
            rest_of = ~finished
            if not rest_of.any() or used == iterations:
                break
            m = ops.array(np.flatnonzero(rest_of))
            alive = alive[rest_of]
            x, f, effort, target = x[m], f[m], effort[m], target[m]
            R, p = [r[m] for r in R], [v[m] for v in p]
            ramp, norm, previous = ramp[m], norm[m], previous[m]
            mixing.keep(m)
        # where the command is still on its way, or the step has grown, the history says nothing
        restart = xp.where((ramp < 1.0) | (norm > 2.0 * previous), 0.0 * norm + 1.0, 0.0 * norm)
        previous = norm
        step = mixing.step(f, restart)
        step = step * ops.at_most(2.0 * cap / (ops.largest(step) + 1e-300), 1.0)[:, None]
        mixing.took(f, step)
        x = x.copy() if xp is np else x.clone()
        x[:, free] += step[:, : 3 * n].reshape(len(alive), n, 3)
        for k, (nodes, arm, _) in enumerate(parts):
            at = 3 * n + 6 * k
            p[k] = p[k] + step[:, at : at + 3]
            R[k] = _exp(xp, step[:, at + 3 : at + 6]) @ R[k]
            x[:, nodes] = p[k][:, None] + xp.einsum("bij,nj->bni", R[k], arm)
    return {
        "x": final_x,
        "frames": list(zip(final_R, final_p)),
        "effort": final_e,
        "displacement": final_v,
        "converged": done,
        "iterations": count,
        "step": step_size,
        "elapsed": time.perf_counter() - begin,
    }


def _tile(xp: Any, a: Any, nb: int) -> Any:
    return np.repeat(a[None], nb, axis=0) if xp is np else a[None].repeat(nb, *([1] * a.dim()))


def _cross(xp: Any, v: Any) -> Any:
    """[v]x for (..., 3)."""
    z = v[..., 0] * 0.0
    rows = [z, -v[..., 2], v[..., 1], v[..., 2], z, -v[..., 0], -v[..., 1], v[..., 0], z]
    return xp.stack(rows, -1).reshape(*v.shape[:-1], 3, 3)


def _exp(xp: Any, w: Any) -> Any:
    """Rotation matrices of rotation vectors (nb, 3)."""
    t2 = (w * w).sum(-1)[..., None, None]
    t = (t2 + 1e-30) ** 0.5
    K = _cross(xp, w)
    eye = np.eye(3) if xp is np else xp.eye(3, dtype=w.dtype, device=w.device)
    return eye + (xp.sin(t) / t) * K + ((1.0 - xp.cos(t)) / (t * t)) * (K @ K)


def _coefficients(xp: Any, R: list[Any], count: int) -> Any:
    """Node fields of the six motions of each part: (nb, 3, 4 P, 6 P)."""
    nb = R[0].shape[0]
    big = np.zeros((nb, 3, 4 * count, 6 * count)) if xp is np else xp.zeros(
        (nb, 3, 4 * count, 6 * count), dtype=R[0].dtype, device=R[0].device)  # fmt: skip
    unit = np.eye(3)
    for k in range(count):
        for j in range(3):
            big[:, j, 4 * k, 6 * k + j] = 1.0
            spin = _cross(xp, (unit if xp is np else xp.as_tensor(unit, device=R[k].device))[j])
            big[:, :, 4 * k + 1 : 4 * k + 4, 6 * k + 3 + j] = spin @ R[k]
    return big


def _part_loads(xp: Any, stack: Any, parts: list[Any], R: list[Any], p: list[Any], x: Any) -> Any:
    """Force and torque of node forces (nb, k, N, 3) on each part (nb, k, 6 P)."""
    out = []
    for k, (nodes, _, _) in enumerate(parts):
        on = stack[:, :, nodes]
        arm = x[:, nodes] - p[k][:, None]
        spin = xp.einsum("bnij,bknj->bki", _cross(xp, arm), on)
        out += [on.sum(2), spin]
    return xp.concatenate(out, 2) if xp is np else xp.cat(out, 2)
