"""Sinks: where a control loop sends its actuation, to hardware or to another process.

A sink is anything with `send(time, u, status)` and `close()`; u maps actuator names to commands in the unit of each
drive [m, m^3, N, Pa, ...]. Messages are one line of JSON, or of comma-separated values in the order of the
actuators.
"""

from __future__ import annotations

import contextlib
import json
import math
import socket
from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self

from pliant.checks import count, instance, positive
from pliant.errors import ArgumentError, ChannelError, MissingExtraError

Encoder = Callable[[float, Mapping[str, float], str], bytes]


class Sink(Protocol):
    """Where actuation goes."""

    def send(self, time: float, u: Mapping[str, float], status: str) -> None:
        """Send one command: time since the start [s], value per actuator, how it was found."""

    def close(self) -> None:
        """Give the channel back."""


def as_json(time: float, u: Mapping[str, float], status: str) -> bytes:
    """{"t": ..., "u": {name: value}, "status": ...} and a newline."""
    return (json.dumps({"t": time, "u": dict(u), "status": status}, allow_nan=False) + "\n").encode()


def as_csv(time: float, u: Mapping[str, float], status: str) -> bytes:
    """time,value,value,... and a newline, in the order of the actuators: what small controllers parse easily."""
    return (",".join([f"{time:.6f}", *(f"{v:.9g}" for v in u.values())]) + "\n").encode()


_ENCODERS: dict[str, Encoder] = {"json": as_json, "csv": as_csv}


def _encoder(form: str | Encoder) -> Encoder:
    if callable(form):
        return form
    if form not in _ENCODERS:
        raise ArgumentError("form", f"{form!r}", "'json', 'csv', or a function (time, u, status) -> bytes")
    return _ENCODERS[form]


class _Channel:
    """What all sinks share: encoding, refusal of numbers that no motor should get, failures in words, and `with`.

    Attributes:
        sent: messages given to the channel.
        lost: messages dropped because the channel was full.
    """

    def __init__(self, form: str | Encoder, name: str) -> None:
        self._encode = _encoder(form)
        self._name = name
        self._closed = False
        self.sent = 0
        self.lost = 0

    def send(self, time: float, u: Mapping[str, float], status: str) -> None:
        """Send one command; a command that is not finite is refused.

        Raises:
            ChannelError: the channel is closed or failed (a cable was pulled, a write took too long).
        """
        for name, value in u.items():
            if not math.isfinite(value):
                raise ArgumentError(f"u[{name!r}]", f"{value}", "a finite number; nothing was sent")
        message = self._encode(float(time), u, status)
        if not isinstance(message, bytes):
            raise ArgumentError("form", f"it returned {type(message).__name__}", "a function that returns bytes")
        if self._closed:
            raise ChannelError(self._name, "it was closed")
        try:
            self._write(message)
        except BlockingIOError:
            self.lost += 1
            return
        except Exception as error:  # pyserial, pyzmq and the operating system raise kinds of their own
            raise ChannelError(self._name, error) from error
        self.sent += 1

    def _write(self, message: bytes) -> None:
        raise NotImplementedError

    def _release(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Give the channel back; never raises, may be called again."""
        if not self._closed:
            self._closed = True
            with contextlib.suppress(Exception):  # what is gone already need not be given back
                self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SerialSink(_Channel):
    """A serial port (extra `serial`).

    Args:
        port: device, e.g. "/dev/ttyUSB0" or "COM3".
        baud: bits per second.
        form: "csv" (default), "json", or a function.
        timeout: longest time that one write may take [s].
    """

    def __init__(self, port: str, *, baud: int = 115200, form: str | Encoder = "csv", timeout: float = 1.0) -> None:
        super().__init__(form, f"serial port {instance('port', port, str)}")
        try:
            import serial
        except ImportError:
            raise MissingExtraError("pyserial", "serial") from None
        baud, timeout = count("baud", baud), positive("timeout", timeout)
        try:
            self._port: Any = serial.Serial(port, baud, write_timeout=timeout)
        except OSError as error:  # pyserial's own is one
            raise ChannelError(self._name, error) from None

    def _write(self, message: bytes) -> None:
        self._port.write(message)

    def _release(self) -> None:
        # What was written goes out while the port closes; a flush would wait for ever for a reader that is gone.
        self._port.close()


class UdpSink(_Channel):
    """Datagrams to a host and port: never waits, and lost messages are not repeated.

    Nobody need listen. What does not fit into the outgoing buffer is counted in `lost`.

    Args:
        host: name or address.
        port: 1 to 65535.
        form: "json" (default), "csv", or a function.
    """

    def __init__(self, host: str, port: int, *, form: str | Encoder = "json") -> None:
        super().__init__(form, f"UDP {instance('host', host, str)}:{port}")
        if not 0 < count("port", port) < 65536:
            raise ArgumentError("port", f"{port}", "1 to 65535")
        try:
            family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        except OSError as error:
            raise ChannelError(self._name, error) from None
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._address = address

    def _write(self, message: bytes) -> None:
        self._socket.sendto(message, self._address)

    def _release(self) -> None:
        self._socket.close()


class ZmqSink(_Channel):
    """A ZeroMQ publisher (extra `zmq`): any number of subscribers, slow ones miss messages.

    Args:
        address: e.g. "tcp://*:5556".
        topic: first frame of every message.
        form: "json" (default), "csv", or a function.
    """

    def __init__(self, address: str, *, topic: str = "actuation", form: str | Encoder = "json") -> None:
        super().__init__(form, f"ZeroMQ {address}")
        try:
            import zmq
        except ImportError:
            raise MissingExtraError("pyzmq", "zmq") from None
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PUB)
        self._socket.setsockopt(zmq.LINGER, 200)
        try:
            self._socket.bind(address)
        except zmq.ZMQError as error:
            self.close()
            raise ArgumentError("address", f"{address!r}: {error}", "e.g. 'tcp://*:5556'") from None
        self._topic = topic.encode()

    @property
    def address(self) -> str:
        """The address it is bound to (with the port that was chosen for '*')."""
        import zmq

        return str(self._socket.getsockopt_string(zmq.LAST_ENDPOINT)).rstrip("\0")

    def _write(self, message: bytes) -> None:
        self._socket.send_multipart([self._topic, message])

    def _release(self) -> None:
        self._socket.close()
        self._context.term()
