"""A coloured triangle mesh as binary glTF, the form in which the page takes vertex colours."""

from __future__ import annotations

import json
import struct

import numpy as np

from pliant.viewer.colours import to_linear

Array = np.ndarray


def mesh_to_glb(vertices: Array, triangles: Array, colours: Array, *, opacity: float = 1.0) -> bytes:
    """Binary glTF of one mesh.

    Args:
        vertices: positions (n, 3).
        triangles: indices (k, 3).
        colours: sRGB colour per vertex in [0, 1] (n, 3).
        opacity: 1 for solid, less to see through.
    """
    position = np.ascontiguousarray(vertices, "<f4")
    index = np.ascontiguousarray(triangles, "<u4")
    linear = np.ones((len(position), 4))
    linear[:, :3] = to_linear(colours)
    colour = np.ascontiguousarray(np.rint(linear * 65535), "<u2")
    blobs = [position.tobytes(), colour.tobytes(), index.tobytes()]
    offsets = np.concatenate([[0], np.cumsum([len(b) for b in blobs])])
    target = (34962, 34962, 34963)
    material = {
        "pbrMetallicRoughness": {
            "baseColorFactor": [0.86, 0.86, 0.86, opacity],
            "metallicFactor": 0.0,
            "roughnessFactor": 0.8,
        },
        "doubleSided": True,
    }
    if opacity < 1.0:
        material["alphaMode"] = "BLEND"
    head = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "materials": [material],
        "meshes": [
            {
                "primitives": [
                    {"attributes": {"POSITION": 0, "COLOR_0": 1}, "indices": 2, "material": 0, "mode": 4}
                ]
            }
        ],
        "buffers": [{"byteLength": int(offsets[-1])}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": int(offsets[i]), "byteLength": len(b), "target": target[i]}
            for i, b in enumerate(blobs)
        ],
        "accessors": [
            {
                "bufferView": 0,
                "componentType": 5126,
                "count": len(position),
                "type": "VEC3",
                "min": [float(v) for v in position.min(axis=0)],
                "max": [float(v) for v in position.max(axis=0)],
            },
            {
                "bufferView": 1,
                "componentType": 5123,
                "normalized": True,
                "count": len(position),
                "type": "VEC4",
            },
            {"bufferView": 2, "componentType": 5125, "count": int(index.size), "type": "SCALAR"},
        ],
    }
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data = b"".join(blobs)
    data += b"\0" * (-len(data) % 4)
    total = 12 + 8 + len(text) + 8 + len(data)
    return b"".join(
        [
            struct.pack("<4sII", b"glTF", 2, total),
            struct.pack("<I4s", len(text), b"JSON"),
            text,
            struct.pack("<I4s", len(data), b"BIN\0"),
            data,
        ]
    )
