import json
import struct

import numpy as np
import pytest

from pliant.viewer.glb import mesh_to_glb


@pytest.mark.parametrize("opacity", [1.0, 0.4])
def test_glb_is_well_formed(opacity):
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    colours = np.array([[0.0, 0.5, 1.0]] * 3)
    data = mesh_to_glb(vertices, np.array([[0, 1, 2]]), colours, opacity=opacity)
    magic, version, total = struct.unpack("<4sII", data[:12])
    assert (magic, version, total) == (b"glTF", 2, len(data))
    length, kind = struct.unpack("<I4s", data[12:20])
    assert kind == b"JSON"
    assert length % 4 == 0
    head = json.loads(data[20 : 20 + length])
    start = 20 + length + 8
    view = head["bufferViews"][0]
    read = np.frombuffer(data, "<f4", 9, start + view["byteOffset"]).reshape(3, 3)
    np.testing.assert_allclose(read, vertices)
    view = head["bufferViews"][1]
    read = np.frombuffer(data, "<u2", 4, start + view["byteOffset"]) / 65535
    np.testing.assert_allclose(read, [0.0, 0.2140, 1.0, 1.0], atol=1e-4)  # linear light
    assert ("alphaMode" in head["materials"][0]) == (opacity < 1)
