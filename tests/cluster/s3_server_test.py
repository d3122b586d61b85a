#!/usr/bin/env python3
"""The S3 server of the tests does what they rely on: it verifies signatures, puts once, keeps what it acknowledged.

usage: s3_server_test.py --tools FOLDER    FOLDER: where the server is, compiled if missing

The client is curl, so that the server is not tested with the client it is a test of.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import s3_server

parser = argparse.ArgumentParser()
parser.add_argument("--tools", type=pathlib.Path, required=True)
options, rest = parser.parse_known_args()


class S3ServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        certificate = s3_server.make_certificate(cls.folder)
        cls.plain = s3_server.S3Server(s3_server.install(options.tools), cls.folder / "plain")
        cls.secure = s3_server.S3Server(s3_server.install(options.tools), cls.folder / "secure",
                                        certificate=certificate)
        for server in (cls.plain, cls.secure):
            cls.addClassCleanup(server.stop)
            server.start()
        cls.content = cls.folder / "content"
        cls.content.write_bytes(os.urandom(200_000))

    def curl(self, path: str, *arguments: object, server: s3_server.S3Server | None = None, secret: str = "",
             signed: bool = True, seconds: int = 20) -> tuple[int, bytes, str]:
        """Status, body and headers; status 0 if there is no answer."""
        server = server or self.plain
        reply, headers = self.folder / "reply", self.folder / "headers"
        reply.write_bytes(b"")
        headers.write_bytes(b"")
        command = ["curl", "--silent", "--max-time", str(seconds), "--output", reply, "--dump-header", headers,
                   "--write-out", "%{http_code}", "--cacert", self.folder / "s3.pem"]
        if signed:
            command += ["--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
                        f"{server.access_key}:{secret or server.secret_key}", "--header",
                        "x-amz-content-sha256: UNSIGNED-PAYLOAD"]
        done = subprocess.run([*map(str, command), *map(str, arguments), f"{server.endpoint}/{server.bucket}{path}"],
                              capture_output=True, text=True, check=False)
        return int(done.stdout), reply.read_bytes(), headers.read_text(encoding="utf-8")

    def put(self, name: str, *arguments: object, **how: object) -> int:
        return self.curl(f"/{name}", "--upload-file", self.content, *arguments, **how)[0]

    def test_verifies_signatures(self) -> None:
        for server in (self.plain, self.secure):
            with self.subTest(server.endpoint):
                self.assertEqual(self.put("mine", server=server), 200)
                status, body, _ = self.curl("/mine", server=server)
                self.assertEqual((status, body), (200, self.content.read_bytes()))
                self.assertEqual(self.put("wrong", server=server, secret="another"), 403)
                self.assertEqual(self.put("unsigned", server=server, signed=False), 403)
                self.assertEqual(self.curl("/mine", server=server, signed=False)[0], 403)
                self.assertEqual(self.curl("/mine", server=server, secret="another")[0], 403)

    def test_client_that_does_not_know_the_authority_gets_no_answer(self) -> None:
        self.assertEqual(self.curl("/mine", "--cacert", "/etc/ssl/certs/ca-certificates.crt", server=self.secure)[0], 0)

    def test_conditional_put_keeps_the_first(self) -> None:
        condition = ("--header", "If-None-Match: *")
        self.assertEqual(self.put("once", *condition), 200)
        self.assertEqual(self.put("once", *condition), 412)

    def test_lists_deletes_and_gives_ranges(self) -> None:
        for name in ("list/a", "list/b", "other"):
            self.assertEqual(self.put(name), 200)
        status, body, _ = self.curl("?list-type=2&prefix=list%2F")
        self.assertEqual(status, 200)
        self.assertEqual(re.findall(r"<Key>(.*?)</Key>", body.decode()), ["list/a", "list/b"])
        status, body, _ = self.curl("/list/a", "--range", "10-19")
        self.assertEqual((status, body), (206, self.content.read_bytes()[10:20]))
        self.assertEqual(self.curl("/list/a", "--request", "DELETE")[0], 204)
        self.assertEqual(self.curl("/list/a")[0], 404)

    def test_multipart_upload(self) -> None:
        parts = [self.folder / "part1", self.folder / "part2"]
        parts[0].write_bytes(os.urandom(5 << 20))  # the smallest that a part may be, unless it is the last
        parts[1].write_bytes(os.urandom(1000))
        _, body, _ = self.curl("/parts?uploads=", "--request", "POST")
        upload = re.search(r"<UploadId>(.*?)</UploadId>", body.decode()).group(1)
        lines = ""
        for number, part in enumerate(parts, 1):
            status, _, headers = self.curl(f"/parts?partNumber={number}&uploadId={upload}", "--upload-file", part)
            self.assertEqual(status, 200)
            tag = re.search(r"(?im)^etag: *(\S+)", headers).group(1)
            lines += f"<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>"
        whole = f"<CompleteMultipartUpload>{lines}</CompleteMultipartUpload>"
        self.assertEqual(self.curl(f"/parts?uploadId={upload}", "--request", "POST", "--data", whole)[0], 200)
        self.assertEqual(self.curl("/parts")[1], b"".join(part.read_bytes() for part in parts))

    def test_faults_keep_address_and_data(self) -> None:
        self.assertEqual(self.put("kept"), 200)
        for name, down, up in (("kill", self.plain.kill, self.plain.start), ("stop", self.plain.stop, self.plain.start),
                               ("pause", self.plain.pause, self.plain.resume)):
            with self.subTest(name):
                down()
                self.assertEqual(self.curl("/kept", seconds=1)[0], 0)
                up()
                self.assertEqual(self.curl("/kept")[0], 200)


if __name__ == "__main__":
    for program in ("curl", "openssl"):
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed")
            sys.exit(s3_server.SKIP)
    s3_server.install(options.tools)
    unittest.main(argv=[__file__, *rest])
