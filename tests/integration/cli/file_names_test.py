"""Characters whose names and folders are not UTF-8: they import, and are shown as UTF-8.

usage: file_names_test.py --sinew FILE
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

_CHARACTERS = pathlib.Path(__file__).resolve().parents[2] / "fuzz/corpus"
_NAME, _SHOWN = b"h\xe9ro \xfc", "h\\xe9ro \\xfc"  # of Latin-1

parser = argparse.ArgumentParser()
parser.add_argument("--sinew", required=True)
options, rest = parser.parse_known_args()


class FileNames(unittest.TestCase):

    def setUp(self) -> None:
        folder = tempfile.mkdtemp(prefix="sinew-names-").encode()
        self.addCleanup(shutil.rmtree, folder)
        self.folder = folder + b"/f\xf6lder"
        pathlib.Path(self.folder.decode(errors="surrogateescape")).mkdir()

    def sinew(self, *arguments: object) -> subprocess.CompletedProcess:
        done = subprocess.run([options.sinew, *arguments], capture_output=True, check=False)
        done.stderr.decode()
        return done

    def path(self, extension: str) -> bytes:
        return self.folder + b"/" + _NAME + extension.encode()

    def write(self, extension: str, content: bytes) -> bytes:
        with open(self.path(extension), "wb") as file:
            file.write(content)
        return self.path(extension)

    def assert_bakes(self, character: bytes) -> None:
        done = self.sinew("inspect", character)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(done.stdout.decode().startswith(f"{_SHOWN}."), done.stdout)
        self.assertEqual(self.sinew("inspect", character, "--json").returncode, 0)
        cache = self.path(".npy")
        done = self.sinew("bake", character, "--deformer", "lbs", "--frames", "0", "--local", "--json", "--out", cache)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{_SHOWN}.npy", json.dumps(json.loads(done.stdout)).replace("\\\\", "\\"))
        with open(cache + b".json", encoding="utf-8") as manifest:
            json.load(manifest)
        self.assertEqual(self.sinew("verify", cache).returncode, 0)

    def test_characters_of_every_format_bake(self) -> None:
        for name, extension in (("gltf/animated.glb", ".glb"), ("gltf/animated.glb", ".vrm"), ("fbx/binary_7400", ".fbx"),
                                ("fbx/text", ".fbx"), ("collada/together", ".dae")):
            with self.subTest(extension=extension, name=name):
                self.assert_bakes(self.write(extension, (_CHARACTERS / name).read_bytes()))

    def test_buffers_beside_a_gltf_are_found(self) -> None:
        binary = (_CHARACTERS / "gltf/animated.glb").read_bytes()
        end = 20 + int.from_bytes(binary[12:16], "little")
        document = json.loads(binary[20:end])
        self.write(".bin", binary[end + 8:])
        document["buffers"][0]["uri"] = "h%E9ro%20%FC.bin"
        self.assert_bakes(self.write(".gltf", json.dumps(document).encode()))

    def test_caches_whose_manifest_lists_names_need_utf8(self) -> None:
        for name in (b"\xe9.usda", b"\xe9.glb", b"\xe9.####.obj"):
            done = self.sinew("bake", "model:hand", "--deformer", "lbs", "--frames", "0", "--local", "--out", self.path("") + name)
            self.assertEqual(done.returncode, 64)
            self.assertIn("\\xe9", done.stderr.decode())
            self.assertIn("need a name in UTF-8", done.stderr.decode())
        # A manifest of another file.
        one, other = self.folder + b"/one.glb", self.folder + b"/other.glb"
        self.assertEqual(self.sinew("bake", "model:hand", "--deformer", "lbs", "--frames", "0", "--local", "--out", one).returncode, 0)
        pathlib.Path(os.fsdecode(other)).write_bytes(b"damaged")
        shutil.copy(one + b".json", other + b".json")
        done = self.sinew("verify", other)
        self.assertEqual(done.returncode, 65)
        self.assertIn("need the name of the cache, 'other.glb'", done.stdout.decode())

    def test_manifests_have_the_names_and_are_current(self) -> None:
        rig, poses, cache = self.path(".sinewrig"), self.path(".poses.npy"), self.path(".npy")
        done = self.sinew("export", "model:hand", "--rig", rig, "--poses", poses)
        self.assertEqual(done.returncode, 0, done.stderr)
        for current in (False, True):
            done = self.sinew("bake", rig, "--poses", poses, "--frames", "0-3", "--deformer", "lbs", "--local", "--json",
                              "--resume", "--out", cache)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["current"], current)
        with open(cache + b".json", encoding="utf-8") as manifest:
            origin = json.load(manifest)
        self.assertEqual((origin["source"]["name"], origin["clip"]["name"]), (f"{_SHOWN}.sinewrig", f"{_SHOWN}.poses.npy"))

    def test_missing_files_are_named(self) -> None:
        done = self.sinew("inspect", self.path(".glb"))
        self.assertEqual(done.returncode, 65)
        self.assertIn(f"f\\xf6lder/{_SHOWN}.glb: no such file", done.stderr.decode())


if __name__ == "__main__":
    unittest.main(argv=[__file__, *rest])
