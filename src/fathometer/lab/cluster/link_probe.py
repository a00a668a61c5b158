"""Both ends of the measurement of a link: run by itself in two nodes, so that it imports nothing of the program.

receive ADDRESS          prints its port; answers small messages, then counts the bytes of a stream
send ADDRESS PORT        prints what it has measured, as JSON
"""

import json
import socket
import sys
import time

MESSAGE_BYTES = 8
ROUND_TRIPS = 400  # at most
LEAST_ROUND_TRIPS = 20
ROUND_TRIP_SECONDS = 0.25  # of all of them, but for the least ones
LAST = 1  # first byte of the message after which the stream begins
BLOCK_BYTES = 1 << 20
STREAM_BYTES = 1 << 28  # at most
STREAM_SECONDS = 0.25  # at most, and at least one block
SOCKET_BYTES = 4 << 20
PATIENCE_SECONDS = 30.0


def receive(address: str) -> None:
    """The end that answers."""
    with socket.create_server((address, 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BYTES)
        server.settimeout(PATIENCE_SECONDS)
        print(server.getsockname()[1], flush=True)
        connection, _ = server.accept()
    with connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        message = b"\0"
        while message[0] != LAST:
            message = _exactly(connection, MESSAGE_BYTES)
            connection.sendall(message)
        total, buffer = 0, bytearray(BLOCK_BYTES)
        while count := connection.recv_into(buffer):
            total += count
        connection.sendall(total.to_bytes(8, "little"))


def send(address: str, port: int) -> dict[str, float]:
    """The end that measures. Raises OSError where the other one does not answer, ValueError where bytes were lost."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(PATIENCE_SECONDS)
        connection.connect((address, port))
        times = _round_trips(connection)
        block, sent = bytes(BLOCK_BYTES), 0
        begin = time.perf_counter()
        while not sent or (sent < STREAM_BYTES and time.perf_counter() - begin < STREAM_SECONDS):
            connection.sendall(block)
            sent += len(block)
        connection.shutdown(socket.SHUT_WR)
        arrived = int.from_bytes(_exactly(connection, 8), "little")
        seconds = time.perf_counter() - begin
    if arrived != sent:
        raise ValueError(f"{arrived} of {sent} bytes arrived")
    times.sort()
    return {
        "latency_seconds": times[0] / 2,
        "median_latency_seconds": times[len(times) // 2] / 2,
        "message_bytes": MESSAGE_BYTES,
        "round_trips": len(times),
        "bytes_per_second": sent / seconds,
        "stream_bytes": sent,
    }


def _round_trips(connection: socket.socket) -> list[float]:
    """Seconds of each. On a busy machine there are fewer, as long as there are enough."""
    times: list[float] = []
    until, more = time.perf_counter() + ROUND_TRIP_SECONDS, True
    while more:
        more = len(times) < LEAST_ROUND_TRIPS or (len(times) < ROUND_TRIPS and time.perf_counter() < until)
        message = bytes([0 if more else LAST]) + bytes(MESSAGE_BYTES - 1)
        begin = time.perf_counter()
        connection.sendall(message)
        _exactly(connection, MESSAGE_BYTES)
        times.append(time.perf_counter() - begin)
    return times


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise OSError("the other end has closed the connection")
        data += part
    return data


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(sys.argv[2])
    else:
        print(json.dumps(send(sys.argv[2], int(sys.argv[3]))))
