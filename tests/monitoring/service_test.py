#!/usr/bin/env python3
"""deploy/sinewd.service: it is valid and sandboxed, sinewd makes no system call that its filter denies, and what its
limits of memory allow is less than MemoryMax."""

import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
UNIT = DEPLOY / "sinewd.service"
GIB = 1 << 30
# Kept of MemoryMax for the program, connections, sessions, copies of files and gaps in the heap.
RESERVE = 2 * GIB
# Limits of bytes in memory, and how many may be used at a time.
ADDED = {"bind": 3, "weight": 1, "bound": 1, "frame": 1, "held": 1, "compare": 1}
PARSED = 0.04  # of memory-bytes: parsed rigs that no bind uses; not a limit of clients
# From seccomp.h.
SCMP_ACT_KILL_PROCESS, SCMP_ACT_ALLOW = 0x80000000, 0x7fff0000

options = argparse.ArgumentParser()
options.add_argument("--sinewd", required=True)
options.add_argument("--sinew", required=True)
options.add_argument("--sanitized", action="store_true", help="sinewd also makes the system calls of a sanitizer")
arguments, rest = options.parse_known_args()

needs_systemd = unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")


def settings(name):
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)


def calls_of(names):
    """The system calls of a list of calls and @groups."""
    calls = set()
    for name in names:
        if name.startswith("@"):
            done = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, check=True,
                                  text=True)
            members = [line.strip() for line in done.stdout.splitlines()[1:]]
            calls |= calls_of(member for member in members if not member.startswith("#"))
        else:
            calls.add(name)
    return calls


def allowed_calls():
    """As systemd.exec(5): the first line makes an allow list; later ones add to it or, with ~, take away."""
    lines = settings("SystemCallFilter")
    assert lines and not lines[0].startswith("~"), lines
    allowed = calls_of(["@default"])
    for line in lines:
        if line.startswith("~"):
            allowed -= calls_of(line[1:].split())
        else:
            allowed |= calls_of(line.split())
    return allowed


def limits_of(memory_bytes, environment):
    """What a server that has this memory lists, by name without max-."""
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.sinewd, "--listen", "127.0.0.1:0", "--http", "off", "--memory-bytes", str(memory_bytes),
                   "--data-dir", folder, "--log-level", "off"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
        try:
            address = server.stdout.readline().split()[3].rstrip(",")
            done = subprocess.run([arguments.sinew, "stats", "--limits", "--json", "--server", address],
                                  capture_output=True, text=True, check=True)
        finally:
            server.terminate()
            server.wait(60)
            server.stdout.close()
    return {limit["name"].removeprefix("max-"): limit["value"] for limit in json.loads(done.stdout)["limits"]}


def most_memory(limits, memory_bytes):
    """What these limits allow together, as the runbook explains."""
    largest_rig = 10 * limits["rig-bytes"] + 176 * limits["rig-fields"] + 8 * limits["rig-map-values"]
    return (sum(times * limits[f"{name}-bytes"] for name, times in ADDED.items()) + PARSED * memory_bytes +
            max(limits["parsing-bytes"], largest_rig) +
            limits["message-bytes"] * (limits["streams"] + limits["arriving-messages"]))


class ServiceTest(unittest.TestCase):
    @needs_systemd
    def test_unit_is_valid_and_sandboxed(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / "sinewd.service"
            unit.write_text(UNIT.read_text(encoding="utf-8").replace("/usr/local/bin/sinewd", arguments.sinewd),
                            encoding="utf-8")
            for command in (["verify", unit], ["security", "--offline=true", "--threshold=20", unit]):
                done = subprocess.run(["systemd-analyze", *command], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_systemd
    def test_filter_allows_two_resource_calls(self):
        allowed = allowed_calls()
        self.assertEqual(allowed & calls_of(["@resources"]), {"setpriority", "sched_setaffinity"})
        self.assertEqual(allowed & calls_of(["@privileged"]), set())

    @needs_systemd
    @unittest.skipIf(arguments.sanitized, "built with a sanitizer, which makes system calls of its own")
    def test_serves_within_the_filter(self):
        try:
            seccomp = ctypes.CDLL("libseccomp.so.2")
        except OSError:
            self.skipTest("libseccomp is not installed")
        seccomp.seccomp_init.restype = ctypes.c_void_p
        # A denied call ends the server here: sinewd ignores the failure of some.
        filter_ = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(SCMP_ACT_KILL_PROCESS)))
        for name in allowed_calls():
            number = seccomp.seccomp_syscall_resolve_name(name.encode())
            if number >= 0:  # this processor has it
                self.assertEqual(seccomp.seccomp_rule_add(filter_, ctypes.c_uint32(SCMP_ACT_ALLOW), number, 0), 0, name)

        def load():
            if seccomp.seccomp_load(filter_) != 0:
                raise OSError("seccomp_load")

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            server = subprocess.Popen([arguments.sinewd, "--listen", "localhost:0", "--listen", f"unix:{folder}/socket",
                                       "--data-dir", folder / "data", "--audit-log", folder / "audit", "--ready-file",
                                       folder / "ready", "--log-level", "warning"],
                                      stdout=subprocess.PIPE, text=True, preexec_fn=load)
            try:
                line = server.stdout.readline()
                self.assertIn("listening on", line, "a denied call ends sinewd at start")
                address = line.split()[3].rstrip(",")
                for command in (["bake", "model:tube", "--deformer", "ddm", "--out", folder / "cache.pc2"],
                                ["weights", "model:tube", "--method", "heat", "--out", folder / "tube.sinewrig"]):
                    done = subprocess.run([arguments.sinew, *command, "--server", address], capture_output=True,
                                          text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                server.send_signal(signal.SIGHUP)
                subprocess.run([arguments.sinewd, "--probe", address], check=True, capture_output=True)
            finally:
                server.terminate()
                status = server.wait(60)
                server.stdout.close()
        self.assertNotEqual(status, -signal.SIGSYS, "a denied call; `strace -f` of this test names it")
        self.assertEqual(status, 0)

    def test_limits_fit_into_memory(self):
        memory, = settings("MemoryMax")
        self.assertRegex(memory, r"^\d+G$")
        most = int(memory[:-1]) * GIB
        memory_bytes = most * 60 // 100
        limits = limits_of(memory_bytes, dict(each.split("=") for each in " ".join(settings("Environment")).split()))
        self.assertLessEqual(most_memory(limits, memory_bytes) + RESERVE, most)

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_example_configuration_serves_as_its_page_says(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)

            def here(text):
                for path in ("/etc/sinew", "/var/log/sinew", "/var/lib/sinew"):
                    text = text.replace(path, name)
                # The page need not be built here.
                text = text.replace("web: 8080", "web: off")
                return text.replace("0.0.0.0:50051", "127.0.0.1:0").replace("127.0.0.1:9464", "127.0.0.1:0")

            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out",
                            folder / "cert.pem"], check=True, capture_output=True)
            page = (DEPLOY / "README.md").read_text(encoding="utf-8")
            example = (DEPLOY / "sinewd.yaml").read_text(encoding="utf-8")
            # Its comments are lines of a valid file, too.
            all_lines, count = re.subn(r"^# (?=[a-z-]+: )", "", example, flags=re.MULTILINE)
            self.assertEqual(count, 3)
            tokens = [line for line in page.splitlines() if "--make-token" in line]
            self.assertEqual(len(tokens), 2)
            path = f"{pathlib.Path(arguments.sinewd).parent}:{os.environ['PATH']}"
            for line in tokens:
                subprocess.run(["bash", "-ec", here(line)], check=True, cwd=folder, env={**os.environ, "PATH": path})
            config = folder / "sinewd.yaml"
            key = ["--config", config, "--tls-key", folder / "key.pem"]
            for text in (example, all_lines):
                config.write_text(here(text), encoding="utf-8")
                subprocess.run([arguments.sinewd, "--check", *key], check=True, capture_output=True)
            server = subprocess.Popen([arguments.sinewd, *key, "--data-dir", name], stdout=subprocess.PIPE, text=True)
            try:
                port = server.stdout.readline().rsplit(":", 1)[1].strip()
                shown = {token: subprocess.run(
                    [arguments.sinew, "stats", "--server", f"127.0.0.1:{port}", "--tls-ca", folder / "cert.pem", "--token-file",
                     folder / f"{token}.token"], check=True, capture_output=True, text=True).stdout
                         for token in ("alice", "ops")}
            finally:
                server.terminate()
                self.assertEqual(server.wait(60), 0)
                server.stdout.close()
            self.assertIn("needs a token with the scope admin", shown["alice"])
            self.assertIn("frames sent", shown["ops"])


if __name__ == "__main__":
    unittest.main(argv=[__file__, *rest])
