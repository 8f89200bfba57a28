"""The batched local step on a GPU: one fused CUDA kernel through torch, or plain torch where that is not available.

Needs torch and nothing else of pliant, so that it can be run on machines that have only torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

# One thread per pose and tet: F, its rotation by Newton on the quartic of tr S (see polar.py), stress, atomic scatter.
SOURCE = r"""
extern "C" __global__ void tet_forces(
    const double* __restrict__ x, const int* __restrict__ cells, const double* __restrict__ grads,
    const double* __restrict__ volumes, const int* __restrict__ row, const double* __restrict__ curves,
    const double* __restrict__ width, const double* __restrict__ lame, const int* __restrict__ measure,
    double* __restrict__ out, int n_tets, int n_nodes, int n_rows, int n_poses)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (e >= n_tets || b >= n_poses) return;
    const double* X = x + (size_t)b * n_nodes * 3;
    double* G = out + (size_t)b * n_nodes * 3;
    int n0 = cells[4*e], n1 = cells[4*e+1], n2 = cells[4*e+2], n3 = cells[4*e+3];
    double g[9];
    for (int i = 0; i < 9; i++) g[i] = grads[9*(size_t)e + i];
    double F[9];
    for (int i = 0; i < 3; i++) {
        double o = X[3*n0+i], u = X[3*n1+i]-o, v = X[3*n2+i]-o, w = X[3*n3+i]-o;
        for (int j = 0; j < 3; j++) F[3*i+j] = u*g[j] + v*g[3+j] + w*g[6+j];
    }
    double c[9] = {F[4]*F[8]-F[5]*F[7], F[5]*F[6]-F[3]*F[8], F[3]*F[7]-F[4]*F[6],
                   F[2]*F[7]-F[1]*F[8], F[0]*F[8]-F[2]*F[6], F[1]*F[6]-F[0]*F[7],
                   F[1]*F[5]-F[2]*F[4], F[2]*F[3]-F[0]*F[5], F[0]*F[4]-F[1]*F[3]};
    double J = F[0]*c[0] + F[1]*c[1] + F[2]*c[2];
    double I1 = 0, I2 = 0;
    for (int i = 0; i < 9; i++) { I1 += F[i]*F[i]; I2 += c[i]*c[i]; }
    double t = sqrt(3.0*I1), constant = I1*I1 - 4.0*I2;
    for (int k = 0; k < 30; k++) {
        double t2 = t*t, slope = 4.0*(t*(t2-I1) - 2.0*J);
        if (!(slope > 0)) break;
        double change = ((t2-2.0*I1)*t2 - 8.0*J*t + constant)/slope;
        t -= change;
        if (fabs(change) < 1e-9*t) break;
    }
    double product = 0.5*(t*(t*t-I1) - 2.0*J);
    double k0 = 0.5/fmax(product, 1e-3*I1*sqrt(I1)), y = t*t+I1;
    double m[9], R[9];
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
        m[3*i+j] = (i==j ? y : 0.0) - 2.0*(F[i]*F[j] + F[3+i]*F[3+j] + F[6+i]*F[6+j]);
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
        R[3*i+j] = k0*(F[3*i]*m[j] + F[3*i+1]*m[3+j] + F[3*i+2]*m[6+j] + 2.0*t*c[3*i+j]);
    for (int sweep = 0; sweep < 2; sweep++) {  // Newton-Schulz
        double s[9], Q[9];
        for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
            s[3*i+j] = (i==j ? 1.5 : 0.0) - 0.5*(R[i]*R[j] + R[3+i]*R[3+j] + R[6+i]*R[6+j]);
        for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
            Q[3*i+j] = R[3*i]*s[j] + R[3*i+1]*s[3+j] + R[3*i+2]*s[6+j];
        for (int i = 0; i < 9; i++) R[i] = Q[i];
    }
    t = 0;
    double d2 = 0;
    for (int i = 0; i < 9; i++) { t += R[i]*F[i]; double d = F[i]-R[i]; d2 += d*d; }
    int r = row[e];
    const double* table = curves + (size_t)r * n_rows * 5;
    double shear = table[0], h = width[r];
    if (h > 0) {
        double d = sqrt(d2);
        int i = min((int)(d/h), n_rows-1);
        double z = i == n_rows-1 ? 0.0 : d - i*h;
        const double* a = table + 5*i;
        shear = a[0] + z*(a[1] + z*(a[2] + z*a[3]));
    }
    double l = lame[r], q;
    int mode = measure[r];
    if (mode == 0) q = l*(t-3.0);
    else if (mode == 1) q = l*(J-1.0);
    else { double p = fmax(J, 0.25), cr = cbrt(p), e3 = cr-1.0, r2 = 1.0/(cr*cr);
           q = 3.0*l*e3*r2 + (J-p)*l*(r2*r2 - 2.0*e3*r2/p); }
    double vol = volumes[e];
    for (int i = 0; i < 3; i++) {
        double p[3];
        for (int j = 0; j < 3; j++)
            p[j] = vol*(2.0*shear*(F[3*i+j]-R[3*i+j]) + q*(mode == 0 ? R[3*i+j] : c[3*i+j]));
        double u = p[0]*g[0]+p[1]*g[1]+p[2]*g[2], v = p[0]*g[3]+p[1]*g[4]+p[2]*g[5], w = p[0]*g[6]+p[1]*g[7]+p[2]*g[8];
        atomicAdd(&G[3*n0+i], u+v+w);
        atomicAdd(&G[3*n1+i], -u);
        atomicAdd(&G[3*n2+i], -v);
        atomicAdd(&G[3*n3+i], -w);
    }
}
"""


def fused() -> Any | None:
    """The compiled kernel, or None where this torch cannot compile one."""
    build = getattr(torch.cuda, "_compile_kernel", None)
    if build is None or not torch.cuda.is_available():
        return None
    return build(SOURCE, "tet_forces")


def launch(kernel: Any, x: Any, tables: dict[str, Any]) -> Any:
    """Forces -d energy / d x (nb, N, 3) of poses x (nb, N, 3) by the fused kernel."""
    out = torch.zeros_like(x)
    n = tables["cells"].shape[0]
    grid = ((n + 127) // 128, x.shape[0], 1)
    kernel(
        grid=grid, block=(128, 1, 1),
        args=(
            x, tables["cells"], tables["grads"], tables["volumes"], tables["row"], tables["curves"], tables["width"],
            tables["lame"], tables["measure"], out, n, x.shape[1], tables["curves"].shape[1], x.shape[0],
        ),
    )  # fmt: skip
    return out


def plain(x: Any, tables: dict[str, Any]) -> Any:
    """The same by torch operations (any device): an SVD-free polar iteration, then a scatter."""
    X = x[:, tables["cells"].long()]
    D = X[:, :, 1:] - X[:, :, :1]
    F = torch.einsum("neai,eaj->neij", D, tables["grads"])
    U, _, Vh = torch.linalg.svd(F)
    sign = torch.sign(torch.linalg.det(U @ Vh))
    U = torch.cat([U[..., :2], U[..., 2:] * sign[..., None, None]], dim=-1)
    R = U @ Vh
    t = (R * F).sum(dim=(-1, -2))
    d = torch.linalg.norm(F - R, dim=(-1, -2))
    row = tables["row"].long()
    curves, width = tables["curves"], tables["width"][row]
    last = curves.shape[1] - 1
    i = torch.where(width > 0, (d / width.clamp(min=1e-300)).clamp(max=last), torch.zeros_like(d)).long()
    z = torch.where((width > 0) & (i < last), d - i * width, torch.zeros_like(d))
    a = curves[row.expand_as(i), i]
    shear = a[..., 0] + z * (a[..., 1] + z * (a[..., 2] + z * a[..., 3]))
    lame, measure = tables["lame"][row], tables["measure"][row]
    J = torch.linalg.det(F)
    c0 = torch.linalg.cross(F[..., 1, :], F[..., 2, :])
    c1 = torch.linalg.cross(F[..., 2, :], F[..., 0, :])
    c2 = torch.linalg.cross(F[..., 0, :], F[..., 1, :])
    C = torch.stack([c0, c1, c2], dim=-2)
    mean = (measure == 0).to(F.dtype)
    q = lame * torch.where(measure == 0, t - 3.0, J - 1.0)
    direction = mean[..., None, None] * R + (1.0 - mean)[..., None, None] * C
    P = tables["volumes"][:, None, None] * (2.0 * shear[..., None, None] * (F - R) + q[..., None, None] * direction)
    f = torch.einsum("neij,eaj->neai", P, tables["grads"])
    f = torch.cat([f.sum(dim=2, keepdim=True), -f], dim=2)
    out = torch.zeros_like(x)
    index = tables["cells"].long().reshape(1, -1, 1).expand(x.shape[0], -1, 3)
    return out.scatter_add_(1, index, f.reshape(x.shape[0], -1, 3))


class TorchOps:
    """Local forces, chamber volumes and the global solve with torch, on any of its devices."""

    def __init__(self, data: dict[str, Any], inverse: Any, device: str) -> None:
        self.xp = self.torch = torch
        self.device = device
        keys = ("cells", "grads", "volumes", "row", "curves", "width", "lame", "measure")
        self.data = {k: torch.as_tensor(np.ascontiguousarray(data[k]), device=device) for k in keys}
        self.kernel = fused() if device.startswith("cuda") else None
        self.inverse = torch.as_tensor(inverse, device=device)
        self.triangles = [torch.as_tensor(t, device=device) for t in data["triangles"]]

    def array(self, a: Any) -> Any:
        """As a tensor on the device."""
        return self.torch.as_tensor(np.ascontiguousarray(a), device=self.device)

    def host(self, a: Any) -> Any:
        """Back as numpy."""
        return a.cpu().numpy()

    def forces(self, x: Any) -> Any:
        """Elastic forces (nb, N, 3)."""
        if self.kernel is not None:
            x = x.contiguous()
            return launch(self.kernel, x, self.data)
        return plain(x, self.data)

    def volumes(self, x: Any) -> tuple[Any, Any]:
        """Volumes (nb, nc) and their gradients (nb, nc, N, 3)."""
        torch = self.torch
        C = torch.zeros((x.shape[0], len(self.triangles), *x.shape[1:]), dtype=x.dtype, device=x.device)
        V = []
        for c, t in enumerate(self.triangles):
            p = x[:, t]
            normal = [torch.linalg.cross(p[:, :, (k + 1) % 3], p[:, :, (k + 2) % 3]) / 6.0 for k in range(3)]
            V.append((p[:, :, 0] * normal[0]).sum(dim=(1, 2)))
            for k in range(3):
                C[:, c].index_add_(1, t[:, k], normal[k])
        return torch.stack(V, dim=1), C

    patience = 4

    def small(self, a: Any, b: Any) -> Any:
        """Solve many small systems, without looking whether they are singular."""
        return torch.linalg.solve_ex(a, b)[0]

    def largest(self, a: Any) -> Any:
        """Largest magnitude of each row."""
        return a.abs().amax(1)

    def at_most(self, a: Any, bound: float) -> Any:
        """Clipped from above."""
        return a.clamp(max=bound)

    def solve(self, rhs: Any) -> Any:
        """A^-1 rhs for (nb, k, n, 3)."""
        nb, k, n, _ = rhs.shape
        flat = rhs.permute(2, 0, 1, 3).reshape(n, -1)
        return (self.inverse @ flat).reshape(n, nb, k, 3).permute(1, 2, 0, 3)
