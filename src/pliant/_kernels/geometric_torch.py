"""The batched local step on a GPU: one fused CUDA kernel through torch, or plain torch where that is not available.

Needs torch and nothing else of pliant, so that it can be run on machines that have only torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

LOW = 0.2  # start of the curves over principal stretches, see geometric_laws.STRETCH_LOW

# What the kernels share: F, its cofactor, its rotation by Newton on the quartic of tr S (see polar.py), the two laws.
PRELUDE = r"""
__device__ void gradient(const double* X, const int* node, const double* g, double* F)
{
    for (int i = 0; i < 3; i++) {
        double o = X[3*node[0]+i], u = X[3*node[1]+i]-o, v = X[3*node[2]+i]-o, w = X[3*node[3]+i]-o;
        for (int j = 0; j < 3; j++) F[3*i+j] = u*g[j] + v*g[3+j] + w*g[6+j];
    }
}

__device__ double cofactor(const double* F, double* c)
{
    c[0] = F[4]*F[8]-F[5]*F[7]; c[1] = F[5]*F[6]-F[3]*F[8]; c[2] = F[3]*F[7]-F[4]*F[6];
    c[3] = F[2]*F[7]-F[1]*F[8]; c[4] = F[0]*F[8]-F[2]*F[6]; c[5] = F[1]*F[6]-F[0]*F[7];
    c[6] = F[1]*F[5]-F[2]*F[4]; c[7] = F[2]*F[3]-F[0]*F[5]; c[8] = F[0]*F[4]-F[1]*F[3];
    return F[0]*c[0] + F[1]*c[1] + F[2]*c[2];
}

__device__ void turn(const double* F, const double* c, double J, double* R)
{
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
    double m[9];
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
}

__device__ double secant(const double* table, double h, int n_rows, double d, double* slope)
{
    *slope = 0.0;
    if (!(h > 0)) return table[0];
    int i = min((int)(d/h), n_rows-1);
    double z = i == n_rows-1 ? 0.0 : d - i*h;
    const double* a = table + 5*i;
    if (i < n_rows-1) *slope = a[1] + z*(2.0*a[2] + 3.0*z*a[3]);
    return a[0] + z*(a[1] + z*(a[2] + z*a[3]));
}

// F = U diag(s) V^T with rotations U and V: Jacobi on F^T F; the smallest s has the sign of det F.
__device__ void frames(const double* F, double* U, double* s, double* V)
{
    double A[9];
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) {
        A[3*i+j] = F[i]*F[j] + F[3+i]*F[3+j] + F[6+i]*F[6+j];
        V[3*i+j] = i == j;
    }
    for (int sweep = 0; sweep < 8; sweep++) {
        if (fabs(A[1])+fabs(A[2])+fabs(A[5]) <= 1e-17*(A[0]+A[4]+A[8])) break;
        for (int k = 0; k < 3; k++) {
            int p = k == 2 ? 1 : 0, q = k == 0 ? 1 : 2, r = 3-p-q;
            double apq = A[3*p+q];
            if (apq == 0.0) continue;
            double theta = 0.5*(A[4*q]-A[4*p])/apq;
            double t = copysign(1.0, theta)/(fabs(theta) + sqrt(theta*theta + 1.0));
            double c = rsqrt(t*t + 1.0), z = t*c;
            A[4*p] -= t*apq; A[4*q] += t*apq; A[3*p+q] = A[3*q+p] = 0.0;
            double arp = A[3*r+p], arq = A[3*r+q];
            A[3*r+p] = A[3*p+r] = c*arp - z*arq;
            A[3*r+q] = A[3*q+r] = z*arp + c*arq;
            for (int i = 0; i < 3; i++) {
                double vp = V[3*i+p], vq = V[3*i+q];
                V[3*i+p] = c*vp - z*vq; V[3*i+q] = z*vp + c*vq;
            }
        }
    }
    int o[3] = {0, 1, 2};
    if (A[4*o[0]] < A[4*o[1]]) { int t = o[0]; o[0] = o[1]; o[1] = t; }
    if (A[4*o[0]] < A[4*o[2]]) { int t = o[0]; o[0] = o[2]; o[2] = t; }
    if (A[4*o[1]] < A[4*o[2]]) { int t = o[1]; o[1] = o[2]; o[2] = t; }
    double W[9];
    for (int i = 0; i < 3; i++) { W[3*i] = V[3*i+o[0]]; W[3*i+1] = V[3*i+o[1]]; }
    W[2] = W[3]*W[7]-W[6]*W[4]; W[5] = W[6]*W[1]-W[0]*W[7]; W[8] = W[0]*W[4]-W[3]*W[1];
    for (int i = 0; i < 9; i++) V[i] = W[i];
    for (int k = 0; k < 2; k++) {
        double n = 0;
        for (int i = 0; i < 3; i++) U[3*i+k] = F[3*i]*V[k] + F[3*i+1]*V[3+k] + F[3*i+2]*V[6+k];
        if (k == 1) {
            double d = U[0]*U[1] + U[3]*U[4] + U[6]*U[7];
            for (int i = 0; i < 3; i++) U[3*i+1] -= d*U[3*i];
        }
        for (int i = 0; i < 3; i++) n += U[3*i+k]*U[3*i+k];
        s[k] = sqrt(n);
        for (int i = 0; i < 3; i++) U[3*i+k] /= fmax(s[k], 1e-150);
    }
    U[2] = U[3]*U[7]-U[6]*U[4]; U[5] = U[6]*U[1]-U[0]*U[7]; U[8] = U[0]*U[4]-U[3]*U[1];
    s[2] = 0;
    for (int i = 0; i < 3; i++) s[2] += U[3*i+2]*(F[3*i]*V[2] + F[3*i+1]*V[5] + F[3*i+2]*V[8]);
}

__device__ double stretch_law(const double* table, double h, int n_rows, double s, double* slope)
{
    int i = min(max((int)((s - 0.2)/h), 0), n_rows-1);
    double z = s - (0.2 + i*h);
    const double* a = table + 5*i;
    if (z < 0.0) { *slope = a[1]; return a[0] + z*a[1]; }
    *slope = a[1] + z*(2.0*a[2] + 3.0*z*a[3]);
    return a[0] + z*(a[1] + z*(a[2] + z*a[3]));
}

__device__ void volume_law(double l, double J, double t, int mode, double* q, double* dq)
{
    if (mode == 0) { *q = l*(t-3.0); *dq = l; return; }
    if (mode == 1) { *q = l*(J-1.0); *dq = l; return; }
    double p = fmax(J, 0.25), cr = cbrt(p), e3 = cr-1.0, r2 = 1.0/(cr*cr);
    *dq = l*(r2*r2 - 2.0*e3*r2/p);
    *q = 3.0*l*e3*r2 + (J-p)*(*dq);
}
"""

# One thread per pose and tet: F, its rotation, stress, atomic scatter.
SOURCE = PRELUDE + r"""
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
    int node[4] = {cells[4*e], cells[4*e+1], cells[4*e+2], cells[4*e+3]};
    double g[9], F[9], c[9], R[9];
    for (int i = 0; i < 9; i++) g[i] = grads[9*(size_t)e + i];
    gradient(X, node, g, F);
    double J = cofactor(F, c), P[9], t = 0, slope, q, dq;
    int r = row[e], mode = measure[r] & 3;
    const double* table = curves + (size_t)r * n_rows * 5;
    if (measure[r] & 4) {  // a curve over principal stretches
        double U[9], s[3], V[9], w[3];
        frames(F, U, s, V);
        for (int k = 0; k < 3; k++) { w[k] = stretch_law(table, width[r], n_rows, s[k], &slope); t += s[k]; }
        for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) {
            P[3*i+j] = w[0]*U[3*i]*V[3*j] + w[1]*U[3*i+1]*V[3*j+1] + w[2]*U[3*i+2]*V[3*j+2];
            R[3*i+j] = U[3*i]*V[3*j] + U[3*i+1]*V[3*j+1] + U[3*i+2]*V[3*j+2];
        }
    } else {
        turn(F, c, J, R);
        double d2 = 0;
        for (int i = 0; i < 9; i++) { t += R[i]*F[i]; double d = F[i]-R[i]; d2 += d*d; }
        double shear = secant(table, width[r], n_rows, sqrt(d2), &slope);
        for (int i = 0; i < 9; i++) P[i] = 2.0*shear*(F[i]-R[i]);
    }
    volume_law(lame[r], J, t, mode, &q, &dq);
    double vol = volumes[e];
    for (int i = 0; i < 3; i++) {
        double p[3];
        for (int j = 0; j < 3; j++) p[j] = vol*(P[3*i+j] + q*(mode == 0 ? R[3*i+j] : c[3*i+j]));
        double u = p[0]*g[0]+p[1]*g[1]+p[2]*g[2], v = p[0]*g[3]+p[1]*g[4]+p[2]*g[5], w = p[0]*g[6]+p[1]*g[7]+p[2]*g[8];
        atomicAdd(&G[3*node[0]+i], u+v+w);
        atomicAdd(&G[3*node[1]+i], -u);
        atomicAdd(&G[3*node[2]+i], -v);
        atomicAdd(&G[3*node[3]+i], -w);
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


def principal(x: Any, tables: dict[str, Any]) -> tuple[Any, Any, Any, Any, Any]:
    """Every element of every pose in the frames of its principal stretches, by torch operations.

    Returns U (nb, ne, 3, 3), stretches s (nb, ne, 3), V (nb, ne, 3, 3), and the derivatives of the energy density by
    the stretches, w (nb, ne, 3) and H (nb, ne, 3, 3).
    """
    X = x[:, tables["cells"].long()]
    F = torch.einsum("neai,eaj->neij", X[:, :, 1:] - X[:, :, :1], tables["grads"])
    U, s, Vh = torch.linalg.svd(F)
    for factor, last in ((U, U[..., :, 2:]), (Vh, Vh[..., 2:, :])):  # rotations: the last stretch takes the sign
        sign = torch.sign(torch.linalg.det(factor))
        last *= sign[..., None, None]
        s[..., 2] *= sign
    row, curves = tables["row"].long(), tables["curves"]
    width, measure, lame = tables["width"][row], tables["measure"][row], tables["lame"][row]
    last_row = curves.shape[1] - 1
    eye = torch.eye(3, dtype=x.dtype, device=x.device)
    # a curve over the distance to the rest shape
    e = s - 1.0
    d = torch.linalg.norm(e, dim=-1)
    i = torch.where(width > 0, (d / width.clamp(min=1e-300)).clamp(max=last_row), torch.zeros_like(d)).long()
    inside = (width > 0) & (i < last_row)
    z = torch.where(inside, d - i * width, torch.zeros_like(d))
    a = curves[row.expand_as(i), i]
    shear = a[..., 0] + z * (a[..., 1] + z * (a[..., 2] + z * a[..., 3]))
    slope = torch.where(inside, a[..., 1] + z * (2.0 * a[..., 2] + 3.0 * z * a[..., 3]), torch.zeros_like(z))
    k = torch.where(d > 1e-12, 2.0 * slope / d.clamp(min=1e-12), torch.zeros_like(d))[..., None, None]
    w = 2.0 * shear[..., None] * e
    H = 2.0 * shear[..., None, None] * eye + k * e[..., :, None] * e[..., None, :]
    # a curve over the principal stretches
    over = ((measure & 4) > 0)[None, :, None]
    if bool(over.any()):
        step = width.clamp(min=1e-300)[:, None]
        i = ((s - LOW) / step).clamp(min=0, max=last_row).long()
        a = curves[row[:, None].expand_as(i), i]
        z = s - (LOW + i * step)
        below = z < 0
        z3 = torch.where(below, torch.zeros_like(z), z)
        f = a[..., 0] + torch.where(below, z, z3) * a[..., 1] + z3 * z3 * (a[..., 2] + z3 * a[..., 3])
        df = a[..., 1] + z3 * (2.0 * a[..., 2] + 3.0 * z3 * a[..., 3])
        w, H = torch.where(over, f, w), torch.where(over[..., None], df[..., None] * eye, H)
    # the volume
    J = s.prod(-1)
    p = J.clamp(min=0.25)
    cr = p ** (1.0 / 3.0)
    curved = lame * (cr**-4 - 2.0 * (cr - 1.0) / (cr * cr * p))
    root = 3.0 * lame * (cr - 1.0) / (cr * cr) + (J - p) * curved
    mode = measure & 3
    q = torch.where(mode == 0, lame * (s.sum(-1) - 3.0), torch.where(mode == 1, lame * (J - 1.0), root))
    dq = torch.where(mode == 2, curved, lame.expand_as(J))
    mean = (mode == 0)[None, :, None]
    c = torch.stack([s[..., 1] * s[..., 2], s[..., 0] * s[..., 2], s[..., 0] * s[..., 1]], -1)
    n = torch.where(mean, torch.ones_like(c), c)
    cross = torch.zeros_like(H)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        cross[..., i, j] = cross[..., j, i] = s[..., 3 - i - j]
    H = H + dq[..., None, None] * n[..., :, None] * n[..., None, :]
    H = H + torch.where(mean[..., None], torch.zeros_like(H), q[..., None, None] * cross)
    return U, s, Vh.mT, w + q[..., None] * n, H


def scatter(P: Any, like: Any, tables: dict[str, Any]) -> Any:
    """Stresses (nb, ne, 3, 3) times volumes as gradients on the nodes, shaped like x (nb, N, 3)."""
    f = torch.einsum("neij,eaj->neai", tables["volumes"][:, None, None] * P, tables["grads"])
    f = torch.cat([-f.sum(dim=2, keepdim=True), f], dim=2)
    index = tables["cells"].long().reshape(1, -1, 1).expand(like.shape[0], -1, 3)
    return torch.zeros_like(like).scatter_add_(1, index, f.reshape(like.shape[0], -1, 3))


def plain(x: Any, tables: dict[str, Any]) -> Any:
    """Forces as `launch`, by torch operations (any device)."""
    U, _, V, w, _ = principal(x, tables)
    return -scatter((U * w[..., None, :]) @ V.mT, x, tables)


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

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """A tensor of zeros on the device."""
        return torch.zeros(shape, dtype=torch.float64, device=self.device)

    def eye(self, n: int) -> Any:
        """The unit matrix (n, n) on the device."""
        return torch.eye(n, dtype=torch.float64, device=self.device)

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
