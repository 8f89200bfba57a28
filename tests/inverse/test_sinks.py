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


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo terminals")
def test_a_serial_port_that_vanishes_is_said_in_words():
    pytest.importorskip("serial")
    master, slave = os.openpty()
    sink = SerialSink(os.ttyname(slave))
    sink.send(0.0, U, "SINGLE")
    os.close(master)
    os.close(slave)
    with pytest.raises(pl.ChannelError, match=r"serial port /dev/.*; nothing more is sent"):
        sink.send(0.1, U, "SINGLE")
    assert sink.sent == 1
    sink.close()  # what is gone need not be given back
    sink.close()
    with pytest.raises(pl.ChannelError, match="closed"):
        sink.send(0.2, U, "SINGLE")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo terminals")
def test_a_serial_port_that_nobody_reads_blocks_no_longer_than_its_timeout():
    pytest.importorskip("serial")
    master, slave = os.openpty()
    long = {f"c{i}": 1.0 for i in range(100_000)}  # more than the port's buffer holds
    with SerialSink(os.ttyname(slave), timeout=0.05) as sink, pytest.raises(pl.ChannelError, match="timeout"):
        sink.send(0.0, long, "SINGLE")
    os.close(master)
    os.close(slave)


def test_datagrams_that_do_not_fit_are_counted_and_those_to_nobody_are_sent():
    with UdpSink("127.0.0.1", 9) as sink:
        sink.send(0.0, U, "SINGLE")

        class Full:
            def sendto(self, *_):
                raise BlockingIOError

            def close(self):
                pass

        sink._socket.close()
        sink._socket = Full()
        sink.send(0.1, U, "SINGLE")
        assert (sink.sent, sink.lost) == (1, 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: UdpSink("no.such.host.invalid", 5000), "no.such.host.invalid"),
        (lambda: SerialSink("/dev/no_such_port"), "no_such_port"),
        (lambda: UdpSink("127.0.0.1", 9, form=lambda *_: b"x" * 70_000).send(0.0, U, "SINGLE"), "too long"),
    ],
)
def test_what_cannot_be_opened_or_sent_is_a_channel_error(make, words):
    pytest.importorskip("serial")
    with pytest.raises(pl.ChannelError, match=words):
        make()


def test_a_form_that_is_not_bytes_is_refused():
    with UdpSink("127.0.0.1", 9, form=lambda *_: "text") as sink, pytest.raises(pl.ArgumentError, match="bytes"):
        sink.send(0.0, U, "SINGLE")


def test_wrong_kinds_of_addresses_are_named():
    with pytest.raises(pl.ArgumentError, match="port"):
        pl.SerialSink(3)
    with pytest.raises(pl.ArgumentError, match="host"):
        pl.UdpSink(None, 5)
