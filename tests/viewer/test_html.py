import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from pliant.errors import ArgumentError, UnknownNameError
from pliant.viewer.html import export_html


def data_of(path):
    text = path.read_text()
    return text, json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))


def test_the_file_is_self_contained(box, sweep, ball, tmp_path):
    path = export_html(box, sweep, tmp_path / "out" / "box.html", obstacles=[ball], title="</script> box")
    text, data = data_of(path)
    assert not re.search(r"(https?:)?//[a-z]+\.|<link|src=", text)
    assert data["frames"] == 41
    assert data["title"] == "</script> box"
    assert data["readings"][10]["rows"][0] == ["cable", "1.4 N", "7 mm"]


def test_long_trajectories_are_thinned_out_and_say_so(box, sweep, tmp_path):
    _, data = data_of(export_html(box, sweep, tmp_path / "a.html", max_frames=11))
    assert data["frames"] == 11
    assert "11 of 41 states" in data["subtitle"]
    assert data["times"][-1] == pytest.approx(2.0)


def test_bad_arguments_are_refused(box, sweep, tmp_path):
    with pytest.raises(UnknownNameError):
        export_html(box, sweep, tmp_path / "a.html", fields=("taste",))
    with pytest.raises(ArgumentError, match="fields"):
        export_html(box, sweep, tmp_path / "a.html", fields=())
    with pytest.raises(ArgumentError, match="max_frames"):
        export_html(box, sweep, tmp_path / "a.html", max_frames=0)
    with pytest.raises(ArgumentError, match="finite"):
        export_html(box, sweep[1].but(q=sweep[1].q * np.nan), tmp_path / "a.html")


@pytest.fixture
def page(chromium, box, sweep, ball, tmp_path):
    path = export_html(box, sweep, tmp_path / "box.html", obstacles=[ball], fields=("displacement", "strain"))
    page = chromium.new_page(viewport={"width": 1000, "height": 700})
    page.asked, page.errors = [], []
    page.on("request", lambda r: page.asked.append(r.url))
    page.on("pageerror", lambda e: page.errors.append(str(e)))
    page.goto(path.as_uri())
    page.wait_for_function("window.replay && window.replay.ready", timeout=120_000)
    yield page
    page.close()


def shot(page):
    page.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)


def changed(a, b):
    return (np.abs(a - b).max(axis=2) > 30).mean()


@pytest.mark.browser
def test_the_page_shows_the_states_exactly(page, box, sweep):
    first = shot(page)
    page.evaluate("window.replay.scrub(40)")
    last = shot(page)
    assert changed(first, last) > 0.03
    drawn = np.array(page.evaluate("Array.from(window.replay.positions)")).reshape(-1, 3)
    wanted = box.bent(sweep[40].u)
    gap = np.linalg.norm(drawn[:, None] - wanted[None], axis=2).min(axis=1)
    assert gap.max() < 0.13 / 65535 * 1.8
    assert page.inner_text("#time") == "2.000 s"
    assert "28 mm" in page.inner_text("#rows")
    assert not page.errors
    assert all(u.startswith(("file:", "blob:", "data:")) for u in page.asked)


@pytest.mark.browser
def test_mouse_turns_zooms_and_resets(page):
    home = shot(page)
    page.mouse.move(400, 350)
    page.mouse.down()
    page.mouse.move(520, 320, steps=4)
    page.mouse.up()
    assert changed(home, shot(page)) > 0.03
    page.mouse.wheel(0, -400)
    assert page.evaluate("window.replay.camera.distance") < page.evaluate("window.replay.data.view.distance")
    page.mouse.dblclick(400, 350)
    assert changed(home, shot(page)) < 1e-3


@pytest.mark.browser
def test_play_field_and_see_through(page):
    page.click("#play")
    page.wait_for_function("window.replay.frame > 3", timeout=60_000)
    page.click("#play")
    assert not page.evaluate("window.replay.playing")
    page.evaluate("window.replay.scrub(30)")
    plain = shot(page)
    page.select_option("#field", "1")
    assert "strain" in page.inner_text("#label")
    strained = shot(page)
    assert changed(plain, strained) > 0.02
    page.check("#through")
    assert changed(strained, shot(page)) > 0.02


@pytest.mark.browser
def test_a_single_state_has_no_player(chromium, finger, tmp_path):
    from pliant.solve.equilibrium import equilibrium

    path = export_html(finger, equilibrium(finger, {"up": 0.01}).require(), tmp_path / "finger.html")
    page = chromium.new_page(viewport={"width": 600, "height": 450})
    page.goto(path.as_uri())
    page.wait_for_function("window.replay && window.replay.ready", timeout=120_000)
    assert page.locator("#foot").is_hidden()
    assert (shot(page).max(axis=2) < 180).mean() > 0.03
    page.close()
