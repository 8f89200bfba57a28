"""The report is one file with everything in it."""

from __future__ import annotations

import re

from pliant.learn import write_report
from pliant.learn.comparison import Compared, execute
from pliant.learn.inverse import follow_path
from pliant.learn.paths import arm_flower


def test_report_is_one_page_with_pictures(real, arm_data, robot, tmp_path, middle):
    targets = arm_flower(count=12)
    w = follow_path(real.model, targets, start=middle)
    reached = execute(robot, w.u)
    row = Compared("ours <b>", 1e-5, 2e-4, 4e-4, w.u, reached)
    path = write_report(
        tmp_path / "r.html",
        real.model,
        data=arm_data,
        comparison=[row, row],
        paths={"flower": (targets, reached, targets + 1e-3)},
    )
    page = path.read_text()
    assert page.count("data:image/png;base64,") >= 5
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "ours &lt;b&gt;" in page
    assert real.report.kind in page
    assert "without correction 1.732 mm" in page
