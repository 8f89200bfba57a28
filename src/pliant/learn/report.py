"""One HTML page about a learned model: errors in the workspace, histograms, learning curves, paths, tables."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.archive import replacing
from pliant.learn.comparison import Compared
from pliant.learn.dataset import Dataset
from pliant.models.learned import LearnedModel

Array = np.ndarray
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2rem auto;padding:0 1rem;color:#1d2433}
h1{font-size:1.6rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid #dde2ea}
table{border-collapse:collapse;margin:.8rem 0}td,th{padding:.3rem .9rem .3rem 0;text-align:left;
border-bottom:1px solid
#eef1f5}th{color:#5a6579;font-weight:600}td.n{font-variant-numeric:tabular-nums}
img{max-width:100%;margin:.5rem 0}p.s{color:#5a6579;margin-top:0}
"""


def write_report(
    path: str | Path,
    model: LearnedModel,
    *,
    data: Dataset | None = None,
    comparison: Sequence[Compared] = (),
    paths: Mapping[str, Sequence[Array]] | None = None,
) -> Path:
    """Write the page; returns its path. Everything is inside of the one file.

    Args:
        path: the file to write.
        model: the learned model.
        data: samples to judge it on: errors in the workspace and their histogram.
        comparison: rows of the method table (`compare_methods`).
        paths: name -> (targets, reached), both [m] (n, 3); a third: reached without correction.
    """
    facts = model.facts
    name = html.escape(model.knowledge.robot)
    parts = [f"<h1>{name}: learned model</h1>", f"<p class=s>{html.escape(repr(model))}</p>"]
    parts += ["<h2>What was learned</h2>", _facts(model)]
    if facts.get("history"):
        parts += ["<h2>Training</h2>", _picture(_training, facts["history"], facts.get("networks", []))]
    if data is not None:
        parts += ["<h2>Errors in the workspace</h2>", _picture(_workspace, model, data)]
    if "transfer" in facts:
        parts += ["<h2>From simulation to reality</h2>", _transfer(facts["transfer"])]
        if len(facts["transfer"].get("curve", {})) > 1:
            parts.append(_picture(_samples, facts["transfer"]))
    if comparison:
        parts += ["<h2>Methods on one path, judged on the robot</h2>", _methods(comparison)]
        parts.append(_picture(_method_bars, comparison))
    for title, lines in (paths or {}).items():
        e = [1e3 * np.linalg.norm(x - lines[0], axis=1) for x in lines[1:]]
        note = f"mean error {e[0].mean():.3f} mm, largest {e[0].max():.3f} mm"
        if len(e) > 1:
            note += f"; without correction {e[1].mean():.3f} mm, {e[1].max():.3f} mm"
        parts += [f"<h2>{html.escape(title)}</h2>", f"<p class=s>{note}</p>", _picture(_path, *lines)]
    page = (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{name}: learned model</title>"
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )
    path = Path(path)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def _picture(draw: Any, *args: Any) -> str:
    """A drawing as an embedded picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure, *args)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}">'


def _rows(rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> str:
    top = "<tr>" + "".join(f"<th>{html.escape(c)}</th>" for c in head) + "</tr>" if head else ""
    body = "".join(
        "<tr>" + "".join(f"<td{' class=n' if i else ''}>{html.escape(c)}</td>" for i, c in enumerate(r)) + "</tr>"
        for r in rows
    )
    return f"<table>{top}{body}</table>"


def _facts(model: LearnedModel) -> str:
    f, k = model.facts, model.knowledge
    rows = [
        ["workspace width", f"{1e3 * model.width:.1f} mm"],
        ["training samples", f"{f.get('samples', '?')} ({'with' if f.get('slopes') else 'without'} Jacobians)"],
        ["layers", " - ".join(map(str, k.kinematics.sizes))],
        ["networks", str(k.kinematics.members)],
        ["training time", f"{f.get('seconds', 0.0):.1f} s ({f.get('trainer', '?')})"],
    ]
    test = f.get("test", {})
    for point in k.points:
        if point in test:
            e = test[point]
            rows.append(
                [
                    f"held-out error of {point}",
                    f"mean {1e3 * e['mean']:.4f} mm, max {1e3 * e['max']:.4f} mm ({100 * e['max_share']:.3f} %)",
                ]
            )
            if "slope_error" in e:
                rows.append([f"Jacobian of {point}", f"{100 * e['slope_error']:.3f} % mean relative error"])
    for a, (low, high) in zip(k.actuators, k.ranges):
        rows.append([a["name"], f"{low:g} to {high:g} {a.get('unit', '')}"])
    return _rows(rows)


def _transfer(t: Mapping[str, Any]) -> str:
    def mm(x: float) -> str:
        return f"{1e3 * x:.3f} mm"

    rows = [["no correction", mm(t["before"]["mean"]), mm(t["before"]["p95"]), mm(t["before"]["max"])]]
    for kind, e in t["errors"].items():
        chosen = " (chosen)" if kind == t["kind"] else ""
        rows.append([kind + chosen, mm(e["mean"]), mm(e["p95"]), mm(e["max"])])
    enough = f"{t['enough']} would have been enough" if t.get("enough") else "more would still help"
    text = f"<p class=s>{t['samples']} measurements; {enough}. Errors are cross-validated.</p>"
    return text + _rows(rows, ["correction", "mean", "95 %", "max"])


def _methods(rows: Sequence[Compared]) -> str:
    body = [[r.name, f"{1e3 * r.seconds:.4g} ms", f"{1e3 * r.mean:.3f} mm", f"{1e3 * r.largest:.3f} mm"] for r in rows]
    return _rows(body, ["method", "time per waypoint", "mean error", "max error"])


def _training(figure: Any, history: Sequence[Any], names: Sequence[str]) -> None:
    axes = figure.subplots()
    for i, curve in enumerate(history):
        h, name = np.asarray(curve, float), names[i] if i < len(names) else f"network {i + 1}"
        line = axes.semilogy(h[:, 0], lw=1.4, label=f"{name}: training")[0]
        axes.semilogy(h[:, 1], "--", lw=1.2, color=line.get_color(), label=f"{name}: validation")
    axes.set_xlabel("iteration")
    axes.set_ylabel("rms error, scaled")
    axes.legend(fontsize=8, ncols=2)
    axes.grid(alpha=0.3)


def _workspace(figure: Any, model: LearnedModel, data: Dataset) -> None:
    ok = data.ok
    x = data.position[ok, 0]
    p, _ = model.without_correction().position(data.u[ok], data.points[0])
    e = 1e3 * np.linalg.norm(p - x, axis=1)
    unit, e = ("um", 1e3 * e) if e.max() < 0.01 else ("mm", e)
    left, middle, right = figure.subplots(1, 3)
    order = np.argsort(e)
    for axes, (a, b) in ((left, (0, 2)), (middle, (0, 1))):
        dots = axes.scatter(1e3 * x[order, a], 1e3 * x[order, b], c=e[order], s=7, cmap="viridis")
        axes.set_xlabel(f"{'xyz'[a]} [mm]")
        axes.set_ylabel(f"{'xyz'[b]} [mm]")
        axes.set_aspect("equal", adjustable="datalim")
    figure.colorbar(dots, ax=middle, label=f"error [{unit}]")
    right.hist(e, bins=40, color="#4670a8")
    right.set_xlabel(f"error [{unit}]")
    right.set_ylabel("samples")
    right.locator_params(axis="x", nbins=5)


def _samples(figure: Any, t: Mapping[str, Any]) -> None:
    axes = figure.subplots()
    n = [int(k) for k in t["curve"]]
    for key, text in (("mean", "mean"), ("p95", "95 %")):
        axes.loglog(n, [1e3 * e[key] for e in t["curve"].values()], "o-", label=text)
    axes.axhline(10.0 * t["width"], color="#999", lw=1, ls="--", label="1 % of the workspace")
    axes.set_xlabel("measurements")
    axes.set_ylabel("error [mm]")
    axes.set_xticks(n, [str(k) for k in n])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.tick_params(axis="y", which="minor", labelsize=8)
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    axes.legend()
    axes.grid(alpha=0.3, which="both")


def _method_bars(figure: Any, rows: Sequence[Compared]) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    names = [r.name for r in rows]
    bars = ((left, [1e3 * r.mean for r in rows], "#4670a8"), (right, [1e3 * r.seconds for r in rows], "#c07a3e"))
    for axes, values, colour in bars:
        axes.bar_label(axes.barh(names, values, color=colour), fmt="{:.3g}", padding=3, fontsize=8)
        axes.set_xscale("log")
        axes.margins(x=0.25)
        axes.xaxis.set_major_formatter("{x:g}")
    left.set_xlabel("mean error [mm]")
    left.invert_yaxis()
    right.set_xlabel("time per waypoint [ms]")


def _path(figure: Any, target: Array, reached: Array, before: Array | None = None) -> None:
    left, right = figure.subplots(1, 2)
    span = np.ptp(target, axis=0)
    a, b = sorted(np.argsort(span)[1:])
    lines = [(target, "#999", 3.0, "wanted"), (reached, "#c0392b", 1.2, "reached")]
    if before is not None:
        lines.append((before, "#4670a8", 1.0, "without correction"))
    for x, colour, width, label in lines:
        left.plot(1e3 * x[:, a], 1e3 * x[:, b], color=colour, lw=width, label=label)
    left.set_xlabel(f"{'xyz'[a]} [mm]")
    left.set_ylabel(f"{'xyz'[b]} [mm]")
    left.set_aspect("equal", adjustable="datalim")
    left.legend(fontsize=8)
    for x, colour, width, label in lines[1:]:
        right.plot(1e3 * np.linalg.norm(x - target, axis=1), color=colour, lw=width, label=label)
    right.set_xlabel("waypoint")
    right.set_ylabel("error [mm]")
    right.set_ylim(bottom=0.0)
    right.grid(alpha=0.3)
