"""ONNX export of a learned model's kinematics, for other runtimes (needs the package `onnx`)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from pliant.errors import MissingExtraError
from pliant.models.network import Network


def export_onnx(network: Network, path: str | Path) -> Path:
    """Write a network with its scalings to `path` as ONNX: input "u" (batch, m), output "y" (batch, n), doubles."""
    try:
        from onnx import TensorProto, checker, helper, numpy_helper, save
    except ImportError:
        raise MissingExtraError("onnx", "onnx") from None
    nodes, weights, total = [], [], ""
    for member, theta in enumerate(network.folded):
        at, name = 0, "u"
        layers = len(network.sizes) - 1
        for k, (n_in, n_out) in enumerate(pairwise(network.sizes)):
            W = theta[at : at + n_in * n_out].reshape(n_out, n_in).T
            b = theta[at + n_in * n_out : at + (n_in + 1) * n_out]
            if k == layers - 1:  # the mean of the members, as a sum: runtimes know no Mean of doubles
                W, b = W / len(network.folded), b / len(network.folded)
            at += (n_in + 1) * n_out
            tag = f"{member}_{k}"
            weights += [
                numpy_helper.from_array(np.ascontiguousarray(W), f"W{tag}"),
                numpy_helper.from_array(b.copy(), f"b{tag}"),
            ]
            nodes.append(helper.make_node("Gemm", [name, f"W{tag}", f"b{tag}"], [f"z{tag}"]))
            name = f"z{tag}"
            if k < layers - 1:
                nodes.append(helper.make_node("Tanh", [name], [f"a{tag}"]))
                name = f"a{tag}"
        if not total:
            total = name
        else:
            nodes.append(helper.make_node("Add", [total, name], [f"sum{member}"]))
            total = f"sum{member}"
    nodes.append(helper.make_node("Identity", [total], ["y"]))
    graph = helper.make_graph(
        nodes,
        "pliant",
        [helper.make_tensor_value_info("u", TensorProto.DOUBLE, ["batch", network.inputs])],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, ["batch", network.outputs])],
        weights,
    )
    # An old version of the format on purpose: runtimes lag behind the package that writes it.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    checker.check_model(model)
    save(model, str(path))
    return Path(path)
