"""The virtual robot behaves as hardware does, and the recorder reads it."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import ArgumentError, FileError, MissingExtraError
from pliant.learn import ConstantCurvatureArm, HardwareLink, Measurements, VirtualRobot, record, specimen


def plain(**options):
    return VirtualRobot(lambda payload: ConstantCurvatureArm(), **options)


def test_without_faults_it_is_the_model():
    robot, u = plain(), np.array([3e4, 5e4, 2e4])
    robot.send(u)
    assert np.allclose(robot.read(), ConstantCurvatureArm().place(u, "tip").position, atol=1e-12)


def test_noise_has_its_size():
    robot = plain(noise=1e-4)
    robot.send(np.zeros(3))
    reads = np.array([robot.read() for _ in range(2000)])
    assert reads.std(axis=0) == pytest.approx([1e-4] * 3, rel=0.1)


def test_hysteresis_depends_on_the_direction():
    robot = plain(hysteresis=0.01)
    places = []
    for start in (0.0, 1e5):
        robot.send(np.full(3, start))
        robot.send(np.array([5e4, 2e4, 2e4]))
        places.append(robot.true_position())
    assert 1e-5 < np.linalg.norm(places[0] - places[1]) < 5e-3


def test_lag_needs_time():
    robot, u = plain(lag=0.5), np.array([8e4, 0.0, 0.0])
    robot.send(u, 0.1)
    early = robot.true_position()
    robot.send(u, 10.0)
    assert np.linalg.norm(robot.true_position() - early) > 5e-3


def test_payload_bends_the_arm():
    robot = specimen(1)
    robot.send(np.array([6e4, 0.0, 0.0]))
    free = robot.true_position()
    robot.load(0.15)
    robot.send(np.array([6e4, 0.0, 0.0]))
    assert robot.true_position()[2] < free[2] - 1e-3


def test_two_specimens_differ_and_repeat():
    u = np.array([5e4, 2e4, 7e4])
    a, b, c = specimen(1), specimen(2), specimen(1)
    for robot in (a, b, c):
        robot.send(u)
    assert np.linalg.norm(a.true_position() - b.true_position()) > 1e-3
    assert np.array_equal(a.read(), c.read())
    with pytest.raises(ArgumentError):
        specimen(3)
    with pytest.raises(ArgumentError):
        a.send([1.0, 2.0])


def test_recorder_waits_until_the_marker_rests():
    robot, u = plain(lag=0.3), np.array([[8e4, 0.0, 0.0], [0.0, 5e4, 0.0]])
    found = record(robot, u, settle=0.2)
    wanted = [ConstantCurvatureArm().place(x, "tip").position for x in u]
    assert np.abs(found.position - wanted).max() < 1e-4
    with pytest.raises(ArgumentError, match="rest"):
        record(plain(noise=1.0), u, settle=0.2, tries=3)


def test_hardware_link_writes_lines_and_reads_markers():
    sent = []
    link = HardwareLink(sent.append, lambda: np.array([1.0, 2.0, 3.0]), factor=1e-5)
    found = record(link, np.array([[1e5, 5e4]]), settle=0.001, still=1e-3)
    assert sent[0] == "1,0.5\n"
    assert found.position.tolist() == [[1.0, 2.0, 3.0]]


def test_csv_round_trip_and_errors(tmp_path):
    u, p = np.random.default_rng(0).random((5, 2)), np.random.default_rng(1).random((5, 3))
    names = ("left", "right")
    path = Measurements(u, p, np.full((5, 1), 0.1)).save(tmp_path / "m.csv", names)
    again = Measurements.load_csv(path, names)
    assert np.array_equal(again.u, u)
    assert np.array_equal(again.position, p)
    assert again.load.shape == (5, 1)
    assert np.allclose(Measurements.load_csv(path, names, unit=1e-3).position, 1e-3 * p)
    cases = {
        "missing": "left,x,y,z\n1,2,3,4\n",
        "words": "left,right,x,y,z\n1,2,three,4,5\n",
        "short": "left,right,x,y,z\n1,2,3\n",
        "nan": "left,right,x,y,z\n1,2,nan,4,5\n",
        "empty": "left,right,x,y,z\n",
    }
    for name, text in cases.items():
        (tmp_path / f"{name}.csv").write_text(text)
        with pytest.raises(FileError):
            Measurements.load_csv(tmp_path / f"{name}.csv", names)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "binary.csv", tmp_path / "nothing.csv"):
        with pytest.raises(FileError):
            Measurements.load_csv(path, names)


def test_extras_say_what_to_install():
    from pliant.learn import camera_marker, serial_sink

    for call, package in ((lambda: serial_sink("none"), "serial"), (lambda: camera_marker(0, plane=np.eye(3)), "cv2")):
        try:
            __import__(package)
        except ImportError:
            with pytest.raises(MissingExtraError):
                call()
