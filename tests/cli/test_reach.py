"""`pliant reach trunk` as a user has it: a process, a page in a browser, a mouse, Ctrl-C."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest
from browser_page import ALONG, GIZMO_ARM, HEIGHT, WIDTH, changed, drag, pixels, projected_at_first


class Served:
    """A process that serves a page; `url` and `remark` are what it prints."""

    def __init__(self, robot: str, port: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pliant.cli", "reach", robot, "--no-browser", "--port", str(port)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        line = self.process.stdout.readline()
        found = re.match(rf"{robot}: (http://localhost:\d+)  \((.*)\)", line)
        assert found, line + self.process.stdout.read()
        self.url, self.remark = found.groups()

    def interrupted(self) -> tuple[int, str]:
        """Exit code after Ctrl-C, and all that was printed since."""
        self.process.send_signal(signal.SIGINT)
        said, _ = self.process.communicate(timeout=60)
        return self.process.returncode, said

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def test_a_busy_port_is_told_and_ctrl_c_ends_it_quietly():
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with Served("golden_beam", port) as served:
            assert served.remark == f"port {port} is taken, Ctrl-C ends"
            assert served.url != f"http://localhost:{port}"
            assert served.interrupted() == (0, "")


def text(page):
    """All words of a page in one line."""
    return re.sub(r"\s+", " ", page.locator("body").inner_text())


def awaited(page, pattern, timeout=90):
    """The first match of a pattern in the words of a page, as soon as there is one."""
    for _ in range(4 * timeout):
        found = re.search(pattern, text(page))
        if found:
            return found
        page.wait_for_timeout(250)
    raise AssertionError(f"no {pattern!r} in {text(page)}")


def idle(page):
    """Wait until readings stay as they are for a second and nothing is being solved."""
    before, same = "", 0
    for _ in range(600):
        now = text(page)
        same = same + 1 if now == before and "Solving" not in now else 0
        if same == 4:
            return now
        before = now
        page.wait_for_timeout(250)
    raise AssertionError(f"it does not come to rest: {before}")


def page_of(context, served):
    page = context.new_page()
    page.goto(served.url)
    page.wait_for_selector("text=targets to drag", timeout=120_000)
    return page


@pytest.fixture
def context(chromium):
    made = chromium.new_context(viewport={"width": WIDTH, "height": HEIGHT}, has_touch=True)
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.browser
def test_target_and_ball_are_dragged(context):
    import pliant as pl
    from pliant.cli.obstacles import beside
    from pliant.viewer.scene import Scene

    model = pl.FemModel(pl.robots.trunk())
    start = pl.equilibrium(model)
    ball = beside(model, start.q)
    scene = Scene(model, obstacles=[ball])
    tip, arm = model.locate(start, "tip").position, GIZMO_ARM * scene.size * ALONG

    def drag_along(page, place, by):
        drag(page, projected_at_first(scene, place + arm), projected_at_first(scene, place + arm + by * ALONG))

    with Served("trunk", 9130) as served:
        page = page_of(context, served)
        idle(page)
        straight = pixels(page)
        drag_along(page, tip, 0.03)  # the target
        awaited(page, r"Target (reached|not reached)")
        near = float(re.search(r"target error ([\d.e-]+) mm", idle(page))[1])
        assert near < 10.0  # it cannot grow longer, so a target beside its tip is a little out of reach
        bent = pixels(page)
        assert changed(straight, bent) > 0.01
        assert float(page.locator("[role=slider]").first.get_attribute("aria-valuenow")) > 0.5

        drag_along(page, np.array(ball.centre), -0.03)  # the ball, into the trunk
        awaited(page, r"[1-9]\d* contacts?, largest force")
        touched = idle(page)
        assert float(re.search(r"largest force ([\d.e-]+) N", touched)[1]) > 0.01
        assert "Showing the last good state" not in touched
        assert changed(bent, pixels(page)) > 0.005

        contact = page.get_by_label("contact", exact=True)
        contact.scroll_into_view_if_needed()
        contact.click()
        awaited(page, r" 0 contacts|Target (reached|not reached): [\d.]+ mm away (?!.*contacts?,)")
        assert float(re.search(r"target error ([\d.e-]+) mm", idle(page))[1]) == pytest.approx(near, abs=0.05)


@pytest.mark.slow
@pytest.mark.browser
def test_two_tabs_touch_keyboard_and_a_window_of_another_size(context):
    with Served("golden_beam", 9131) as served:
        page, other = page_of(context, served), page_of(context, served)
        page.set_viewport_size({"width": 760, "height": 700})
        page.wait_for_timeout(1000)
        assert page.locator("canvas").first.bounding_box()["width"] == pytest.approx(760, abs=2)
        first, thumb = page.locator("[role=slider]").first, other.locator("[role=slider]").first
        box = thumb.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        finger = context.new_cdp_session(other)
        finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for i in range(1, 6):
            finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + 3 * i, "y": y}]})
            other.wait_for_timeout(60)
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        idle(other)
        touched = float(thumb.get_attribute("aria-valuenow"))
        assert touched > 0.0
        thumb.focus()
        other.keyboard.press("ArrowRight")
        idle(other)
        moved = float(thumb.get_attribute("aria-valuenow"))
        assert moved > touched
        assert float(first.get_attribute("aria-valuenow")) == moved  # both tabs show the one robot
        assert re.search(r"residual [\d.e-]+ · \d+ iterations", idle(page))[0] in text(other)


@pytest.mark.slow
@pytest.mark.browser
def test_the_page_tells_the_end_and_finds_the_next_viewer(context):
    with Served("golden_beam", 9132) as served:
        page = page_of(context, served)
        assert served.interrupted() == (0, "")
        awaited(page, r"golden_beam \(ended\)")
        assert "The viewer has ended" in text(page)
    with Served("golden_beam", 9132):
        awaited(page, r"golden_beam Actuators", timeout=120)
        assert "The viewer has ended" not in idle(page)
