#!/usr/bin/env python3
"""Checks that a page works where it is installed: index.html, the files that it loads, and a gRPC-Web call.

usage: answers.py ADDRESS | answers.py --start PROGRAM [OPTION...]
  ADDRESS  127.0.0.1:PORT of a server that runs with --web, without tokens
  PROGRAM  sinewd, which is started with the options and ended
"""

import json
import re
import subprocess
import sys
import urllib.request


def check(address: str) -> None:
    def get(path: str, data: bytes | None = None) -> bytes:
        with urllib.request.urlopen(urllib.request.Request(f"http://{address}{path}", data=data), timeout=20) as reply:
            return reply.read()

    files = re.findall(r'(?:src|href)="(/[^"]+)"', get("/").decode())
    assert any(file.endswith(".js") for file in files), files
    for file in files:
        assert get(file), file
    answer = get("/sinew.v1.InfoService/GetServerInfo", bytes(5))  # an empty message
    assert answer[0] == 0 and b"grpc-status: 0\r\n" in answer, answer
    print(f"page: {len(files)} files and a call, from {address}")


def main() -> int:
    if sys.argv[1] != "--start":
        check(sys.argv[1])
        return 0
    command = [*sys.argv[2:], "--listen", "127.0.0.1:0", "--http", "off", "--web", "0", "--log-format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            check(json.loads(process.stdout.readline())["web"])
        finally:
            process.terminate()
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
