"""sinew view: its link, the documents it serves, opening the browser, and shutdown. Uses a stub page."""

import argparse
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

PROGRAM = pathlib.Path()


class View(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "bin").mkdir()
        self.sinew = self.folder / "bin" / "sinew"
        try:
            os.link(PROGRAM, self.sinew)
        except OSError:  # another file system
            shutil.copy(PROGRAM, self.sinew)

    def install_page(self) -> None:
        page = self.folder / "share" / "sinew" / "web"
        page.mkdir(parents=True)
        (page / "index.html").write_text("<p>page</p>")

    def start(self, *options: str, **more: object) -> "subprocess.Popen[str]":
        process = subprocess.Popen([self.sinew, "view", "--quiet", *options], stdout=subprocess.PIPE, text=True, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def get(self, link: str, path: str) -> bytes:
        base, token = link.split("#token=")
        request = urllib.request.Request(base + path.lstrip("/"), headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.read()

    def test_tells_the_page_what_to_show(self) -> None:
        self.install_page()
        process = self.start("model:hand", "--deformer", "dqs", "dqs | implicit", "--fps", "12")
        link = process.stdout.readline().strip()
        self.assertRegex(link, r"^http://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}$")
        self.assertEqual(self.get(link, "/"), b"<p>page</p>")
        shown = json.loads(self.get(link, "/view.json"))
        self.assertEqual(shown["label"], "model:hand")
        self.assertEqual(shown["recipes"], ["dqs", "dqs | implicit"])
        self.assertRegex(shown["rig"], "^rigs/sha256-[0-9a-f]{64}$")
        [clip] = shown["clips"]
        poses = self.folder / "poses.npy"
        subprocess.run([PROGRAM, "export", "model:hand", "--poses", poses, "--fps", "12"], check=True,
                       stdout=subprocess.DEVNULL)
        exported = poses.read_bytes()
        shape = [int(n) for n in re.search(rb"'shape': \((.*?)\)", exported).group(1).split(b",")]
        self.assertEqual((clip["frames"], clip["fps"]), (shape[0], 12))
        bytes_of_clip = self.get(link, "/clips/0")
        self.assertEqual(len(bytes_of_clip), shape[0] * shape[1] * 48)
        self.assertTrue(exported.endswith(bytes_of_clip))
        for path in ("/clips/1", "/clips/x", "/clips/", "/view.html"):
            with self.assertRaises(urllib.error.HTTPError) as raised:
                self.get(link, path)
            self.assertEqual(raised.exception.code, 404)
            raised.exception.close()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 0)

    def test_shows_poses_of_a_file_and_prints_json(self) -> None:
        self.install_page()
        poses = self.folder / "poses.npy"
        subprocess.run([PROGRAM, "export", "model:hand", "--poses", poses], check=True, stdout=subprocess.DEVNULL)
        process = self.start("model:hand", "--poses", str(poses), "--json")
        link = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")["link"]
        self.assertEqual([clip["name"] for clip in json.loads(self.get(link, "/view.json"))["clips"]], ["poses.npy"])
        self.assertTrue(poses.read_bytes().endswith(self.get(link, "/clips/0")))

    def post(self, link: str, path: str, name: str, data: bytes) -> "tuple[int, str]":
        base, token = link.split("#token=")
        request = urllib.request.Request(f"{base}{path}?{urllib.parse.urlencode({'name': name})}", data=data,
                                         headers={"Authorization": "Bearer " + token})
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def test_shows_a_file_that_the_page_sends(self) -> None:
        self.install_page()
        files = self.folder / "tmp"
        files.mkdir()
        rig, poses = self.folder / "arm.sinewrig", self.folder / "hand.npy"
        for model, option, file in (("arm", "--rig", rig), ("hand", "--poses", poses)):
            subprocess.run([PROGRAM, "export", f"model:{model}", option, file], check=True, stdout=subprocess.DEVNULL)
        link = self.start("model:hand", env={**os.environ, "TMPDIR": str(files)}).stdout.readline().strip()
        hand = json.loads(self.get(link, "/view.json"))
        self.assertEqual(self.post(link, "motion", "<b>.npy", poses.read_bytes()), (204, ""))
        played = json.loads(self.get(link, "/view.json"))
        self.assertEqual([clip["name"] for clip in played["clips"]], [hand["clips"][0]["name"], "<b>.npy"])
        self.assertEqual(played["clip"], 1)
        self.assertTrue(poses.read_bytes().endswith(self.get(link, played["clips"][1]["path"])))
        for name, data, said in (("x.glb", b"no glb", "x.glb"), ("x.txt", b"x", "x.txt"), ("../x.sinewrig", b"x", "name: need"),
                                 ("", b"x", "name: need"), ("..", b"x", "name: need"), ("x" * 201, b"x", "name: need")):
            code, text = self.post(link, "character", name, data)
            self.assertEqual(code, 400, text)
            self.assertIn(said, text)
            self.assertNotIn(str(files), text)
        self.assertEqual(json.loads(self.get(link, "/view.json")), played)
        self.assertEqual(self.post(link, "character", "arm.sinewrig", rig.read_bytes()), (204, ""))
        arm = json.loads(self.get(link, "/view.json"))
        self.assertEqual((arm["label"], arm["clips"]), ("arm.sinewrig", []))
        self.assertNotEqual(arm["rig"], hand["rig"])
        code, text = self.post(link, "motion", "hand.npy", poses.read_bytes())
        self.assertEqual(code, 400)
        self.assertIn("need the 3 of arm.sinewrig", text)
        with self.assertRaises(urllib.error.HTTPError) as raised:  # the hand's clip, of a page that was not loaded again
            self.get(link, "/clips/0")
        raised.exception.close()
        self.assertEqual(list(files.iterdir()), [])

    def test_reads_one_file_of_bounded_size_at_a_time(self) -> None:
        self.install_page()
        files = self.folder / "tmp"
        files.mkdir()
        process = self.start("model:arm", env={**os.environ, "TMPDIR": str(files)})
        link = process.stdout.readline().strip()
        base, token = link.split("#token=")
        host = urllib.parse.urlparse(base).netloc

        def begin(length: int) -> socket.socket:
            port = socket.create_connection(host.split(":"), timeout=20)
            self.addCleanup(port.close)
            port.sendall(f"POST /character?name=a.glb HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
                         f"Content-Length: {length}\r\n\r\nbegin".encode())
            return port

        self.assertIn(b" 413 ", begin((1 << 30) + 1).recv(1000))
        slow = begin(1000)
        while not list(files.iterdir()):
            time.sleep(0.01)
        code, text = self.post(link, "character", "b.glb", bytes(3 << 20))
        self.assertEqual((code, text), (409, "another file is being read; try again when it is shown\n"))
        slow.close()
        while list(files.iterdir()):
            time.sleep(0.01)
        self.assertEqual(self.post(link, "character", "b.glb", b"b")[0], 400)  # read, and no glb
        slow = begin(1000)
        while not list(files.iterdir()):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 0)
        self.assertEqual(list(files.iterdir()), [])

    def test_opens_the_browser_without_showing_the_token(self) -> None:
        self.install_page()
        opener = self.folder / "xdg-open"
        opener.write_text(f'#!/bin/sh\necho "$1" >{self.folder}/argument.part\ncp "$1" {self.folder}/page\n'
                          f'mv {self.folder}/argument.part {self.folder}/argument\n')
        opener.chmod(0o755)
        controller, terminal = pty.openpty()
        process = subprocess.Popen([self.sinew, "view", "model:hand"], stdout=terminal, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "DISPLAY": ":9", "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.close(terminal)
        self.addCleanup(os.close, controller)
        link = os.read(controller, 1000).decode().strip()
        deadline = time.monotonic() + 20
        while not (self.folder / "argument").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        opened = pathlib.Path((self.folder / "argument").read_text().strip())
        self.assertNotIn(link.split("=")[1], str(opened))
        self.assertIn(f"url={link}", (self.folder / "page").read_text())
        self.assertEqual(stat.S_IMODE(opened.parent.stat().st_mode), 0o700)
        process.terminate()
        self.assertEqual(process.wait(20), 0)
        self.assertFalse(opened.parent.exists())

    def test_says_what_is_wrong(self) -> None:
        def error(*options: str) -> "tuple[int, str]":
            done = subprocess.run([self.sinew, "view", *options], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout, "")
            return done.returncode, done.stderr

        code, text = error("model:hand")
        self.assertEqual(code, 65)
        self.assertIn("the page is not installed", text)
        self.assertIn("--target web_page", text)
        self.install_page()
        self.assertEqual(error("/none.glb")[0], 65)
        self.assertEqual(error("model:hand", "--port", "65536")[0], 64)
        code, text = error("model:hand", "--clip", "none")
        self.assertEqual(code, 65)
        self.assertIn("--clip", text)
        code, text = error("model:hand", "--deformer", "lbs", "dqs", "ddm")
        self.assertEqual(code, 64)
        self.assertIn("need one or two", text)
        first = self.start("model:hand")
        port = re.search(r":(\d+)/", first.stdout.readline()).group(1)
        code, text = error("model:hand", "--port", port)
        self.assertEqual(code, 64)
        self.assertIn(port, text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sinew", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    PROGRAM = arguments.sinew
    unittest.main(argv=["view_test", *rest])
