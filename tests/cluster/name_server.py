"""A name server for tests, which knows addresses that may change meanwhile, as that of a cluster."""

from __future__ import annotations

import socket
import struct
import threading

A, IN = 1, 1
NO_SUCH_NAME = 3


class NameServer:
    """Answers on port 53 of an address of loopback. `addresses` maps names without a final dot to IPv4 addresses."""

    def __init__(self, address: str) -> None:
        self.addresses: dict[str, str] = {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while True:
            query, client = self.socket.recvfrom(4096)
            if not query:  # closed
                return
            self.socket.sendto(self.answer(query), client)

    def answer(self, query: bytes) -> bytes:
        number, = struct.unpack_from("!H", query)
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode().lower())
            at += 1 + query[at]
        kind, = struct.unpack_from("!H", query, at + 1)
        question = query[12:at + 5]
        address = self.addresses.get(".".join(labels))
        found = address is not None and kind == A
        # QR, AA, RD, RA; a name without an address of this kind exists, but has no answer.
        flags = 0x8580 | (0 if address else NO_SUCH_NAME)
        reply = struct.pack("!6H", number, flags, 1, int(found), 0, 0) + question
        if found:
            assert address is not None
            reply += struct.pack("!3HIH", 0xC00C, A, IN, 1, 4) + socket.inet_aton(address)
        return reply

    def close(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self.socket.getsockname())
        self.thread.join(5)
        self.socket.close()
