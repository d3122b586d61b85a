"""sinew.view: its link, errors, and shutdown with its object or process. Uses a stub page."""

import argparse
import gc
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request


def get(link: str, path: str) -> bytes:
    base, token = link.split("#token=")
    request = urllib.request.Request(base + path, headers={"Authorization": "Bearer " + token})
    with urllib.request.urlopen(request, timeout=20) as reply:
        return reply.read()


def ended(link: str) -> bool:
    """Whether the port of a link stops answering within some seconds."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            get(link, "view.json")
        except OSError:
            return True
        time.sleep(0.05)
    return False


class Viewer(unittest.TestCase):
    def test_shows_poses_of_a_rig_until_closed(self) -> None:
        hand = sinew.load("model:hand")
        poses = hand.clips["fist"].poses(fps=12)
        with sinew.view(hand, poses, "dqs") as viewer:
            self.assertIn(viewer.link, viewer._repr_html_())
            shown = json.loads(get(viewer.link, "view.json"))
            self.assertEqual(shown["recipes"], ["dqs"])
            self.assertEqual(get(viewer.link, "clips/0"), poses.matrices.astype("<f4").tobytes())
        self.assertTrue(ended(viewer.link))
        viewer.close()  # nothing more to do

    def test_ends_with_the_last_reference(self) -> None:
        viewer = sinew.view("model:hand")
        link = viewer.link
        get(link, "view.json")
        del viewer
        gc.collect()
        self.assertTrue(ended(link))

    def test_ends_with_a_killed_process(self) -> None:
        code = "import sinew, time; v = sinew.view('model:hand'); print(v.link, flush=True); time.sleep(600)"
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": str(PACKAGES)}) as process:
            link = process.stdout.readline().strip()
            get(link, "view.json")
            process.send_signal(signal.SIGKILL)
        self.assertTrue(ended(link))

    def test_says_what_is_wrong(self) -> None:
        with self.assertRaisesRegex(sinew.Error, "/none.glb: no such file"):
            sinew.view("/none.glb")
        with self.assertRaisesRegex(TypeError, "^poses: got list, need a sinew.Poses$"):
            sinew.view("model:hand", [])
        with self.assertRaisesRegex(TypeError, "^character: got int"):
            sinew.view(3)
        with self.assertRaisesRegex(ValueError, "^deformers: got none"):
            sinew.view("model:hand", deformers=[])
        with self.assertRaisesRegex(sinew.Error, "need one or two"):
            sinew.view("model:hand", deformers=["lbs", "dqs", "ddm"])
        with self.assertRaisesRegex(sinew.Error, "--port"):
            sinew.view("model:hand", port=70000)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        # The package with a page, of links to the built one.
        PACKAGES = pathlib.Path(name)
        (PACKAGES / "sinew").mkdir()
        for each in (arguments.package / "sinew").iterdir():
            if each.name != "web":
                (PACKAGES / "sinew" / each.name).symlink_to(each)
        (PACKAGES / "sinew" / "web").mkdir()
        (PACKAGES / "sinew" / "web" / "index.html").write_text("<p>page</p>")
        sys.path.insert(0, name)
        import sinew
        unittest.main(argv=["viewer_test", *rest])
