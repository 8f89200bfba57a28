"""A small software rasteriser: triangles into depth, normal, value and material buffers; soft shadows."""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True)
def fill_triangles(
    screen, depth, inverse_w, normals, values, triangles, material, z_out, n_out, v_out, m_out
):
    """Draw triangles, nearest first by a z-buffer.

    Args:
        screen: pixel coordinates of the vertices (n, 2); pixel centres are at +0.5.
        depth: depth of the vertices (n,); triangles with a depth <= 0 are left out.
        inverse_w: 1 / w of a perspective view, or ones for a parallel one (n,).
        normals: normals at the vertices (n, 3).
        values: scalar at the vertices (n,).
        triangles: vertex indices (k, 3).
        material: material of each triangle (k,).
        z_out: depth buffer (h, w), changed.
        n_out: normal buffer (h, w, 3), changed.
        v_out: value buffer (h, w), changed.
        m_out: material buffer (h, w), changed.
    """
    height, width = z_out.shape
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if depth[i] <= 0.0 or depth[j] <= 0.0 or depth[k] <= 0.0:
            continue
        ax, ay, bx, by = screen[i, 0], screen[i, 1], screen[j, 0], screen[j, 1]
        cx, cy = screen[k, 0], screen[k, 1]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if abs(area) < 1e-12:
            continue
        x0 = max(0, math.floor(min(ax, bx, cx) - 0.5))
        x1 = min(width - 1, math.ceil(max(ax, bx, cx) - 0.5))
        y0 = max(0, math.floor(min(ay, by, cy) - 0.5))
        y1 = min(height - 1, math.ceil(max(ay, by, cy) - 0.5))
        for y in range(y0, y1 + 1):
            py = y + 0.5
            for x in range(x0, x1 + 1):
                px = x + 0.5
                a = ((bx - px) * (cy - py) - (by - py) * (cx - px)) / area
                b = ((cx - px) * (ay - py) - (cy - py) * (ax - px)) / area
                c = 1.0 - a - b
                if a < 0.0 or b < 0.0 or c < 0.0:
                    continue
                a *= inverse_w[i]
                b *= inverse_w[j]
                c *= inverse_w[k]
                s = a + b + c
                a /= s
                b /= s
                c /= s
                z = a * depth[i] + b * depth[j] + c * depth[k]
                if z >= z_out[y, x]:
                    continue
                z_out[y, x] = z
                v_out[y, x] = a * values[i] + b * values[j] + c * values[k]
                m_out[y, x] = material[t]
                for d in range(3):
                    n_out[y, x, d] = a * normals[i, d] + b * normals[j, d] + c * normals[k, d]


TAPS = 14


@njit(cache=True)
def _light(x, y, z, axes, origin, scale, shadow_map, bias, radius, spin):
    """Fraction of the lamp's light that reaches a point: taps on a disc of a shadow map, turned by `spin`."""
    height, width = shadow_map.shape
    if height == 0:
        return 1.0
    u = (axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z - origin[0]) * scale
    v = (axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z - origin[1]) * scale
    if u < -radius or v < -radius or u > width + radius or v > height + radius:
        return 1.0
    depth = axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z - origin[2] - bias
    lit = 0
    for k in range(TAPS):
        r = radius * math.sqrt((k + 0.5) / TAPS)
        angle = 2.399963 * k + spin
        i = math.floor(u + r * math.cos(angle))
        j = math.floor(v + r * math.sin(angle))
        if i < 0 or j < 0 or i >= width or j >= height or shadow_map[j, i] >= depth:
            lit += 1
    return lit / TAPS


@njit(cache=True)
def _spin(x, y):
    """A pseudo-random angle per pixel; the grain vanishes when pixels are averaged."""
    a = math.sin(12.9898 * x + 78.233 * y) * 43758.5453
    return 6.2831853 * (a - math.floor(a))


@njit(cache=True)
def shade_ground(
    colour,
    covered,
    eye,
    axes,
    focal,
    ground,
    middle,
    reach,
    cell,
    tints,
    lamp_axes,
    lamp_origin,
    lamp_scale,
    shadow_map,
    radius,
):
    """Blend a ground with a grid and shadows into linear colours where nothing covers it.

    Args:
        colour: linear colours (h, w, 3), changed.
        covered: material buffer; pixels with a material >= 0 are left alone (h, w).
        eye: the camera (3,).
        axes: its right, up and forward directions (3, 3).
        focal: focal length [pixels].
        ground: height of the ground.
        middle: centre of the visible patch (2,).
        reach: radius at which it has faded away.
        cell: size of the grid's cells.
        tints: linear colours of ground and lines (2, 3).
        lamp_axes: axes of the shadow map (3, 3); with origin (3,) and scale [texels per metre].
        lamp_origin: see lamp_axes.
        lamp_scale: see lamp_axes.
        shadow_map: depth of the nearest thing (h, w); empty for no shadows.
        radius: softness of the shadow [texels].
    """
    height, width = covered.shape
    for j in range(height):
        py = (0.5 * height - j - 0.5) / focal
        for i in range(width):
            if covered[j, i] >= 0:
                continue
            px = (i + 0.5 - 0.5 * width) / focal
            dz = axes[2, 2] + px * axes[0, 2] + py * axes[1, 2]
            if dz > -1e-4 * 1.0:
                continue
            depth = (ground - eye[2]) / dz
            if depth <= 0:
                continue
            dx = axes[2, 0] + px * axes[0, 0] + py * axes[1, 0]
            dy = axes[2, 1] + px * axes[0, 1] + py * axes[1, 1]
            x, y = eye[0] + depth * dx, eye[1] + depth * dy
            fade = 1.25 - math.sqrt((x - middle[0]) ** 2 + (y - middle[1]) ** 2) / reach
            if fade <= 0:
                continue
            fade = min(fade, 1.0)
            fade = fade * fade * (3 - 2 * fade)
            # Lines keep a width of about a pixel: a pixel's footprint grows with distance and slant.
            slant = max(-dz / math.sqrt(dx * dx + dy * dy + dz * dz), 0.08)
            wide = 1.1 * depth / focal / math.sqrt(slant)
            line = 0.0
            for coordinate in (x, y):
                at = coordinate / cell
                away = abs(at - math.floor(at + 0.5)) * cell
                line = max(line, min(1.0, max(0.0, 1.5 - away / wide)) * min(1.0, cell / (6 * wide)))
            lit = _light(
                x, y, ground, lamp_axes, lamp_origin, lamp_scale, shadow_map, 0.0, radius, _spin(i, j)
            )
            light = 0.66 + 0.34 * lit
            for d in range(3):
                tint = (tints[0, d] + (tints[1, d] - tints[0, d]) * line) * light
                colour[j, i, d] += (tint - colour[j, i, d]) * fade


@njit(cache=True)
def shade_surface(
    colour,
    z,
    normal,
    value,
    material,
    nearer,
    albedo,
    table,
    mapped,
    opacity,
    eye,
    axes,
    focal,
    lamp,
    lamp_axes,
    lamp_origin,
    lamp_scale,
    shadow_map,
    bias,
    radius,
):
    """Light the pixels of filled triangles and blend them into linear colours.

    Args:
        colour: linear colours (h, w, 3), changed.
        z: depth buffer (h, w).
        normal: normal buffer (h, w, 3).
        value: value buffer in [0, 1] (h, w).
        material: material buffer (h, w), -1 where nothing is.
        nearer: depth in front of which a pixel must lie to be seen (h, w).
        albedo: linear colour per material (m, 3).
        table: linear colour map (t, 3).
        mapped: whether a material is coloured by its value (m,).
        opacity: of the surface.
        eye: the camera (3,).
        axes: its right, up and forward directions (3, 3).
        focal: focal length [pixels].
        lamp: direction to the lamp (3,).
        lamp_axes: axes of the shadow map (3, 3); with origin (3,) and scale [texels per metre].
        lamp_origin: see lamp_axes.
        lamp_scale: see lamp_axes.
        shadow_map: depth of the nearest thing (h, w); empty for no shadows.
        bias: distance by which points are lifted off their surface before asking for the shadow.
        radius: softness of the shadow [texels].
    """
    height, width = z.shape
    for j in range(height):
        py = (0.5 * height - j - 0.5) / focal
        for i in range(width):
            m = material[j, i]
            if m < 0 or z[j, i] > nearer[j, i]:
                continue
            px = (i + 0.5 - 0.5 * width) / focal
            dx = axes[2, 0] + px * axes[0, 0] + py * axes[1, 0]
            dy = axes[2, 1] + px * axes[0, 1] + py * axes[1, 1]
            dz = axes[2, 2] + px * axes[0, 2] + py * axes[1, 2]
            far = z[j, i]
            x, y, h = eye[0] + far * dx, eye[1] + far * dy, eye[2] + far * dz
            length = math.sqrt(dx * dx + dy * dy + dz * dz)
            tx, ty, tz = -dx / length, -dy / length, -dz / length
            nx, ny, nz = normal[j, i, 0], normal[j, i, 1], normal[j, i, 2]
            length = max(math.sqrt(nx * nx + ny * ny + nz * nz), 1e-12)
            head = (nx * tx + ny * ty + nz * tz) / length
            if head < 0:
                length, head = -length, -head
            nx, ny, nz = nx / length, ny / length, nz / length
            facing = nx * lamp[0] + ny * lamp[1] + nz * lamp[2]
            lit = 0.0
            if facing > 0:
                lit = _light(
                    x + bias * nx, y + bias * ny, h + bias * nz, lamp_axes, lamp_origin, lamp_scale,
                    shadow_map, 0.2 * bias, radius, _spin(i, j),
                )  # fmt: skip
            hx, hy, hz = lamp[0] + tx, lamp[1] + ty, lamp[2] + tz
            length = max(math.sqrt(hx * hx + hy * hy + hz * hz), 1e-12)
            gloss = max(0.0, (nx * hx + ny * hy + nz * hz) / length) ** 40
            light = 0.30 + 0.14 * (1.0 + nz) + 0.16 * head + 0.52 * max(facing, 0.0) * (0.25 + 0.75 * lit)
            shine = 0.09 * gloss * lit
            k = 0
            if mapped[m]:
                k = round(min(1.0, max(0.0, value[j, i])) * (len(table) - 1))
            for d in range(3):
                base = table[k, d] if mapped[m] else albedo[m, d]
                colour[j, i, d] += (base * light + shine - colour[j, i, d]) * opacity
