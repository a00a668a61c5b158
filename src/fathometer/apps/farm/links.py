"""Connections between the masters of nodes and the application master.

Sockets rather than MPI: who waits in a receive of MPI turns round and round on a cpu, which here is a worker's; who
waits for a socket sleeps. On one host a socket without a name in the file system, else TCP; either way both sides must
know a key (HMAC), which the ranks tell each other by MPI.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge

from fathometer.base.errors import FathometerError

PATIENCE_SECONDS = 10.0  # with an address, and with somebody who is to prove that he knows the key
BACKLOG = 4096
_SIOCGIFADDR = 0x8915

Address = str | tuple[str, int]


def listener(one_host: bool) -> tuple[socket.socket, list[Address]]:
    """A socket that others can connect to, and its addresses."""
    if one_host:
        own = socket.socket(socket.AF_UNIX)
        name = f"\0fathometer-farm-{secrets.token_hex(16)}"
        own.bind(name)
        own.listen(BACKLOG)
        return own, [name]
    own = socket.create_server(("", 0), backlog=BACKLOG)
    port = own.getsockname()[1]
    return own, [(host, port) for host in addresses()]


def addresses() -> list[str]:
    """This host's IPv4 addresses, those of loopback last, and its name."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # it has none
                asked = struct.pack("256s", name.encode()[:15])
                found.append(socket.inet_ntoa(fcntl.ioctl(any_socket.fileno(), _SIOCGIFADDR, asked)[20:24]))
    outside = [address for address in found if not address.startswith("127.")]
    return [*outside, socket.gethostname(), *(address for address in found if address not in outside)]


def network() -> tuple[str, int]:
    """By which ranks know that they reach each other without a network: host, and namespace of its network."""
    space = 0
    with suppress(OSError):
        space = os.stat("/proc/self/ns/net").st_ino
    return socket.gethostname(), space


def accepted(own: socket.socket, key: bytes) -> Connection | None:
    """Who connects to a listener; None where he does not know the key."""
    other, _ = own.accept()
    try:
        return _proven(other, key, first=True)
    except (OSError, EOFError, AuthenticationError):
        return None


def connected(places: Sequence[Address], key: bytes) -> Connection:
    """A connection to the first of some addresses that answers and knows the key. Raises FathometerError."""
    reasons = []
    for place in places:
        own = socket.socket(socket.AF_UNIX if isinstance(place, str) else socket.AF_INET)
        own.settimeout(PATIENCE_SECONDS)
        try:
            own.connect(place)
            return _proven(own, key, first=False)
        except (OSError, EOFError, AuthenticationError) as error:
            own.close()
            shown = "its socket" if isinstance(place, str) else f"{place[0]}:{place[1]}"
            reasons.append(f"{shown} ({getattr(error, 'strerror', None) or error or 'closed'})")
    raise FathometerError(f"{socket.gethostname()}: cannot reach the application master at {', '.join(reasons)}")


def _proven(other: socket.socket, key: bytes, first: bool) -> Connection:
    """Both prove that they know the key, within a time. first: which of them asks first."""
    other.setblocking(True)
    if other.family != socket.AF_UNIX:
        other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        other.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    _limit(other, PATIENCE_SECONDS)
    connection = Connection(os.dup(other.fileno()))
    try:
        for asks in (first, not first):
            (deliver_challenge if asks else answer_challenge)(connection, key)
    except BaseException:
        connection.close()
        raise
    finally:
        _limit(other, 0.0)
        other.close()
    return connection


def _limit(other: socket.socket, seconds: float) -> None:
    value = struct.pack("ll", int(seconds), 0)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        other.setsockopt(socket.SOL_SOCKET, option, value)
