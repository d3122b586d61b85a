"""Runs s3_store_test, the server's S3 store, against a real S3 server: over HTTP, then over TLS.

usage: s3_store_test.py --tools FOLDER --program FILE    FOLDER: where the S3 server is, compiled if missing
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import s3_server


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    program = s3_server.install(options.tools)
    code = 0
    for tls in (False, True):
        with tempfile.TemporaryDirectory(prefix="sinew-s3-") as name:
            folder = pathlib.Path(name)
            certificate = s3_server.make_certificate(folder) if tls else None
            with s3_server.S3Server(program, folder / "data", certificate=certificate) as server:
                keys = folder / "keys"
                keys.write_text(f"[default]\naws_access_key_id={server.access_key}\n"
                                f"aws_secret_access_key={server.secret_key}\n", encoding="utf-8")
                environment = {"SINEW_S3_ENDPOINT": f"{'https' if tls else 'http'}://127.0.0.1:{server.port}",
                               "SINEW_S3_BUCKET": server.bucket, "SINEW_S3_KEYS": str(keys),
                               "SINEW_S3_CA": str(certificate[0]) if certificate else ""}
                code |= subprocess.run([options.program], env={**os.environ, **environment}, check=False).returncode
    return code


if __name__ == "__main__":
    sys.exit(main())
