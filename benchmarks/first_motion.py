"""First motion: how long a user of `pliant reach trunk` waits, in a headless Chromium that draws in software.

    python benchmarks/first_motion.py [--runs 3] [--write]

Every row is the median over fresh processes with compiled kernels in the cache: from the start of the command until its
page is served; from opening the page until the body is drawn; from the first move of a mouse that drags the target until
the moved body is handed to the graphics. With a graphics card the page is faster.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
from page import Page

PAGE = Page(
    name="viewer",
    title="The page of `pliant reach trunk`",
    text=__doc__ or "",
    columns=("what", "seconds", "bar"),
    decimals=2,
    command="first_motion.py --write",
)
SIZE = {"width": 1000, "height": 560}
ARROW = (480, 98)  # pixel of the target's red arrow in a page of that size
BODY = 8000  # bytes of a vertex buffer: the body has more, nothing else that changes in a drag has
ARGUMENTS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
HOOK = f"""(() => {{
  window.drawn = []; window.moved = [];
  const api = WebGL2RenderingContext.prototype, original = api.bufferData;
  api.bufferData = function (target, data, ...rest) {{
    if (data && data.byteLength > {BODY}) window.drawn.push(performance.now());
    return original.call(this, target, data, ...rest);
  }};
  addEventListener('pointermove', e => {{ if (e.buttons) window.moved.push(performance.now()) }}, true);
}})()"""


def once(chromium: Any, port: int) -> tuple[float, float, float]:
    """Seconds to the page, to the body, to the first motion."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "pliant.cli", "reach", "trunk", "--no-browser", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        found = re.search(r"http\S+?:\d+", process.stdout.readline())  # type: ignore[union-attr]
        served, page = time.perf_counter() - begin, chromium.new_page(viewport=SIZE)
        page.add_init_script(HOOK)
        begin = time.perf_counter()
        page.goto(found[0])  # type: ignore[index]
        page.wait_for_function("window.drawn.length > 0", timeout=120_000)
        body = time.perf_counter() - begin
        page.wait_for_timeout(3000)  # a user looks first
        before = page.evaluate("window.drawn.length")
        x, y = ARROW
        page.mouse.move(x, y)
        page.wait_for_timeout(400)
        page.mouse.down()
        for i in range(1, 9):
            page.mouse.move(x + 4 * i, y)
            page.wait_for_timeout(30)
        page.mouse.up()
        page.wait_for_function(f"window.drawn.length > {before}", timeout=120_000)
        page.wait_for_timeout(1500)
        drawn, moved = page.evaluate("window.drawn")[before:], page.evaluate("window.moved")
        page.close()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    return served, body, (drawn[0] - moved[0]) / 1e3


def main(runs: int = 3) -> list[dict[str, Any]]:
    """The rows of the page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(ARGUMENTS))
        served, body, motion = np.median([once(chromium, 9600 + i) for i in range(runs)], axis=0)
        chromium.close()
    rows = [
        {"what": "from the command to its page", "seconds": served, "bar": ""},
        {"what": "from opening the page to the body", "seconds": body, "bar": ""},
        {"what": "from the first move of a drag to the first motion", "seconds": motion, "bar": "under 1 s"},
    ]
    for row in rows:
        PAGE.show(row)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="First motion of a dragged target in a browser.")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.path.name}")
    options = parser.parse_args()
    result = main(options.runs)
    if options.write:
        PAGE.write(result)
