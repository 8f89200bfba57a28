"""Products of the exact Hessian of a batch of poses with vectors: fused CUDA kernels through torch, or plain torch.

With F = U diag(s) V^T and an energy density w(s) the change of stress along dF is, in these frames (f = U^T dF V),

    p_ii = sum_j H_ij f_jj,   p_ij = a (f_ij + f_ji)/2 + b (f_ij - f_ji)/2,
    a = (w_i - w_j)/(s_i - s_j),   b = (w_i + w_j)/(s_i + s_j),

with w_i and H_ij the first and second derivatives (see `geometric_principal`). Chambers of pressure p subtract p times
the second derivative of their volume. Needs torch and nothing else of pliant but the kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from pliant._kernels.geometric_torch import PRELUDE, principal, scatter

SOURCE = PRELUDE + r"""
extern "C" __global__ void tet_products(
    const double* __restrict__ x, const int* __restrict__ cells, const double* __restrict__ grads,
    const double* __restrict__ volumes, const int* __restrict__ row, const double* __restrict__ curves,
    const double* __restrict__ width, const double* __restrict__ lame, const int* __restrict__ measure,
    const double* __restrict__ dx, double* __restrict__ out,
    int n_tets, int n_nodes, int n_rows, int n_poses, int n_sides)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (e >= n_tets || b >= n_poses) return;
    const double* X = x + (size_t)b * n_nodes * 3;
    int node[4] = {cells[4*e], cells[4*e+1], cells[4*e+2], cells[4*e+3]};
    double g[9], F[9], U[9], V[9], s[3], w[3], H[9];
    for (int i = 0; i < 9; i++) g[i] = grads[9*(size_t)e + i];
    gradient(X, node, g, F);
    frames(F, U, s, V);
    int r = row[e], mode = measure[r] & 3;
    const double* table = curves + (size_t)r * n_rows * 5;
    for (int i = 0; i < 9; i++) H[i] = 0.0;
    if (measure[r] & 4) {
        for (int i = 0; i < 3; i++) w[i] = stretch_law(table, width[r], n_rows, s[i], &H[4*i]);
    } else {
        double d = sqrt((s[0]-1)*(s[0]-1) + (s[1]-1)*(s[1]-1) + (s[2]-1)*(s[2]-1)), slope;
        double shear = secant(table, width[r], n_rows, d, &slope), k = d > 1e-12 ? 2.0*slope/d : 0.0;
        for (int i = 0; i < 3; i++) {
            w[i] = 2.0*shear*(s[i]-1);
            for (int j = 0; j < 3; j++) H[3*i+j] = k*(s[i]-1)*(s[j]-1) + (i == j ? 2.0*shear : 0.0);
        }
    }
    double q, dq;
    volume_law(lame[r], s[0]*s[1]*s[2], s[0]+s[1]+s[2], mode, &q, &dq);
    for (int i = 0; i < 3; i++) {
        double ci = mode == 0 ? 1.0 : s[(i+1)%3]*s[(i+2)%3];
        w[i] += q*ci;
        for (int j = 0; j < 3; j++) {
            H[3*i+j] += dq*ci*(mode == 0 ? 1.0 : s[(j+1)%3]*s[(j+2)%3]);
            if (mode != 0 && i != j) H[3*i+j] += q*s[3-i-j];
        }
    }
    double flip[3], twist[3];  // of the pairs (1, 2), (0, 2), (0, 1)
    for (int k = 0; k < 3; k++) {
        int i = (k+1)%3, j = (k+2)%3;
        double gap = s[i]-s[j];
        flip[k] = fabs(gap) > 1e-6 ? (w[i]-w[j])/gap : 0.5*(H[4*i]+H[4*j]) - H[3*i+j];
        twist[k] = (w[i]+w[j])/fmax(s[i]+s[j], 1e-2);
    }
    double vol = volumes[e];
    for (int k = 0; k < n_sides; k++) {
        const double* D = dx + ((size_t)b * n_sides + k) * n_nodes * 3;
        double* O = out + ((size_t)b * n_sides + k) * n_nodes * 3;
        double f[9], B[9], P[9];
        gradient(D, node, g, f);
        for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
            B[3*i+j] = U[i]*f[j] + U[3+i]*f[3+j] + U[6+i]*f[6+j];
        for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
            f[3*i+j] = B[3*i]*V[j] + B[3*i+1]*V[3+j] + B[3*i+2]*V[6+j];
        for (int i = 0; i < 3; i++) P[4*i] = H[3*i]*f[0] + H[3*i+1]*f[4] + H[3*i+2]*f[8];
        for (int m = 0; m < 3; m++) {
            int i = (m+1)%3, j = (m+2)%3;
            double even = 0.5*flip[m]*(f[3*i+j]+f[3*j+i]), odd = 0.5*twist[m]*(f[3*i+j]-f[3*j+i]);
            P[3*i+j] = even + odd;
            P[3*j+i] = even - odd;
        }
        for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
            B[3*i+j] = U[3*i]*P[j] + U[3*i+1]*P[3+j] + U[3*i+2]*P[6+j];
        for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
            P[3*i+j] = vol*(B[3*i]*V[3*j] + B[3*i+1]*V[3*j+1] + B[3*i+2]*V[3*j+2]);
        for (int i = 0; i < 3; i++) {
            double p0 = P[3*i], p1 = P[3*i+1], p2 = P[3*i+2];
            double u = p0*g[0]+p1*g[1]+p2*g[2], v = p0*g[3]+p1*g[4]+p2*g[5], w = p0*g[6]+p1*g[7]+p2*g[8];
            atomicAdd(&O[3*node[0]+i], -u-v-w);
            atomicAdd(&O[3*node[1]+i], u);
            atomicAdd(&O[3*node[2]+i], v);
            atomicAdd(&O[3*node[3]+i], w);
        }
    }
}
"""

TRIANGLES = r"""
extern "C" __global__ void triangle_products(
    const double* __restrict__ x, const int* __restrict__ triangles, const int* __restrict__ chamber,
    const double* __restrict__ effort, const double* __restrict__ dx, double* __restrict__ out,
    int n_triangles, int n_nodes, int n_chambers, int n_poses, int n_sides)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (t >= n_triangles || b >= n_poses) return;
    double factor = -effort[(size_t)b * n_chambers + chamber[t]] / 6.0;
    if (factor == 0.0) return;
    const double* X = x + (size_t)b * n_nodes * 3;
    int node[3] = {triangles[3*t], triangles[3*t+1], triangles[3*t+2]};
    for (int k = 0; k < n_sides; k++) {
        const double* D = dx + ((size_t)b * n_sides + k) * n_nodes * 3;
        double* O = out + ((size_t)b * n_sides + k) * n_nodes * 3;
        for (int a = 0; a < 3; a++) {
            const double *p = X + 3*node[(a+1)%3], *s = X + 3*node[(a+2)%3];
            const double *dp = D + 3*node[(a+1)%3], *ds = D + 3*node[(a+2)%3];
            for (int j = 0; j < 3; j++) {
                int m = (j+1)%3, n = (j+2)%3;
                atomicAdd(&O[3*node[a]+j], factor*(dp[m]*s[n] - dp[n]*s[m] + p[m]*ds[n] - p[n]*ds[m]));
            }
        }
    }
}
"""


class Products:
    """Hessian of the energy of node positions, times vectors, for a batch of poses.

    Args:
        tables: the tensors of `TorchOps.data`.
        triangles: of each chamber (m, 3).
        fused: compile CUDA kernels.
    """

    def __init__(self, tables: dict[str, Any], triangles: list[Any], *, fused: bool) -> None:
        self.tables, self.triangles = tables, triangles
        device = tables["cells"].device
        self.joined = torch.cat(triangles).to(torch.int32).contiguous()
        sizes = torch.tensor([len(t) for t in triangles], device=device)
        self.chamber = torch.repeat_interleave(torch.arange(len(triangles), device=device), sizes).to(torch.int32)
        self.kernels = None
        if fused:
            build = torch.cuda._compile_kernel  # type: ignore[attr-defined]
            self.kernels = build(SOURCE, "tet_products"), build(TRIANGLES, "triangle_products")

    def at(self, x: Any, effort: Any) -> Callable[[Any], Any]:
        """The map dx -> (d2 energy / dx2) dx, (nb, k, N, 3), at poses x (nb, N, 3) under pressures (nb, nc)."""
        if self.kernels is None:
            return self._plain(x, effort)
        t, m = self.tables, self.joined.shape[0]
        tets, rows = t["cells"].shape[0], t["curves"].shape[1]
        body, walls = self.kernels
        x, effort = x.contiguous(), effort.contiguous()

        def times(dx: Any) -> Any:
            dx = dx.contiguous()
            out = torch.zeros_like(dx)
            nb, k, n = dx.shape[:3]
            body(
                grid=((tets + 127) // 128, nb, 1), block=(128, 1, 1),
                args=(x, t["cells"], t["grads"], t["volumes"], t["row"], t["curves"], t["width"], t["lame"],
                      t["measure"], dx, out, tets, n, rows, nb, k),
            )  # fmt: skip
            walls(
                grid=((m + 127) // 128, nb, 1), block=(128, 1, 1),
                args=(x, self.joined, self.chamber, effort, dx, out, m, n, effort.shape[1], nb, k),
            )  # fmt: skip
            return out

        return times

    def _plain(self, x: Any, effort: Any) -> Callable[[Any], Any]:
        """The same by torch operations (any device)."""
        U, s, V, w, H = principal(x, self.tables)
        flip, twist = torch.zeros_like(H), torch.zeros_like(H)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            gap, total = s[..., i] - s[..., j], (s[..., i] + s[..., j]).clamp(min=1e-2)
            close = 0.5 * (H[..., i, i] + H[..., j, j]) - H[..., i, j]
            safe = torch.where(gap.abs() > 1e-6, gap, torch.ones_like(gap))
            value = torch.where(gap.abs() > 1e-6, (w[..., i] - w[..., j]) / safe, close)
            flip[..., i, j] = flip[..., j, i] = 0.5 * value
            twist[..., i, j] = twist[..., j, i] = 0.5 * (w[..., i] + w[..., j]) / total
        cells = self.tables["cells"].long()

        def times(dx: Any) -> Any:
            sides = []
            for y in dx.unbind(1):
                X = y[:, cells]
                f = torch.einsum("neai,eaj->neij", X[:, :, 1:] - X[:, :, :1], self.tables["grads"])
                f = U.mT @ f @ V
                P = flip * (f + f.mT) + twist * (f - f.mT)
                P = P + torch.diag_embed((H @ f.diagonal(dim1=-2, dim2=-1)[..., None])[..., 0])
                out = scatter(U @ P @ V.mT, x, self.tables)
                for c, tri in enumerate(self.triangles):
                    p, dp = x[:, tri], y[:, tri]
                    for a in range(3):
                        m, n = (a + 1) % 3, (a + 2) % 3
                        bent = torch.linalg.cross(dp[:, :, m], p[:, :, n]) + torch.linalg.cross(p[:, :, m], dp[:, :, n])
                        out.index_add_(1, tri[:, a], -effort[:, c, None, None] * bent / 6.0)
                sides.append(out)
            return torch.stack(sides, 1)

        return times
