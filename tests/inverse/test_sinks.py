import json
import os
import socket
import sys
import threading

import numpy as np
import pytest

import pliant as pl
from pliant.inverse.sinks import SerialSink, UdpSink, ZmqSink, as_csv, as_json

U = {"c1": 1.5e-3, "c2": -2.0}


def test_messages():
    assert json.loads(as_json(0.5, U, "SINGLE")) == {"t": 0.5, "u": U, "status": "SINGLE"}
    assert as_csv(0.5, U, "SINGLE") == b"0.500000,0.0015,-2\n"


def test_udp_loop_back():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(5)
        with UdpSink("127.0.0.1", receiver.getsockname()[1]) as sink:
            for k in range(5):
                sink.send(0.01 * k, U, "CONVERGED")
        got = [json.loads(receiver.recv(4096)) for _ in range(5)]
    assert [m["t"] for m in got] == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04])
    assert got[0]["u"] == U
    assert sink.sent == 5


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo terminals")
def test_serial_loop_back():
    pytest.importorskip("serial")
    master, slave = os.openpty()
    try:
        with SerialSink(os.ttyname(slave), baud=57600) as sink:
            sink.send(1.0, U, "SINGLE")
            sink.send(1.25, U, "SINGLE")
            got = b""
            while got.count(b"\n") < 2:
                got += os.read(master, 4096)
        lines = got.replace(b"\r", b"").split(b"\n")
        assert lines[0] == b"1.000000,0.0015,-2"
        assert lines[1] == b"1.250000,0.0015,-2"
    finally:
        os.close(master)
        os.close(slave)


def test_zmq_loop_back():
    zmq = pytest.importorskip("zmq")
    context = zmq.Context()
    with ZmqSink("tcp://127.0.0.1:*") as sink:
        receiver = context.socket(zmq.SUB)
        receiver.setsockopt(zmq.SUBSCRIBE, b"actuation")
        receiver.setsockopt(zmq.RCVTIMEO, 5000)
        receiver.connect(sink.address)
        stop = threading.Event()

        def publish():
            while not stop.is_set():  # a subscriber needs a moment to be known
                sink.send(2.0, U, "SINGLE")
                stop.wait(0.01)

        sender = threading.Thread(target=publish)
        sender.start()
        topic, message = receiver.recv_multipart()
        stop.set()
        sender.join()
        receiver.close()
    context.term()
    assert topic == b"actuation"
    assert json.loads(message)["u"] == U


def test_not_finite_is_never_sent():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.setblocking(False)
        with UdpSink("127.0.0.1", receiver.getsockname()[1]) as sink, pytest.raises(pl.ArgumentError, match="c2"):
            sink.send(0.0, {"c1": 0.0, "c2": np.nan}, "SINGLE")
        with pytest.raises(BlockingIOError):
            receiver.recv(100)


def test_missing_extras_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "serial", None)
    monkeypatch.setitem(sys.modules, "zmq", None)
    with pytest.raises(pl.MissingExtraError, match=r"pliant\[serial\]"):
        SerialSink("/dev/null")
    with pytest.raises(pl.MissingExtraError, match=r"pliant\[zmq\]"):
        ZmqSink("tcp://127.0.0.1:*")


def test_bad_input():
    with pytest.raises(pl.ArgumentError, match="form"):
        UdpSink("127.0.0.1", 9999, form="xml")
    with pytest.raises(pl.ArgumentError, match="port"):
        UdpSink("127.0.0.1", 0)
    pytest.importorskip("zmq")
    with pytest.raises(pl.ArgumentError, match="address"):
        ZmqSink("nonsense")
