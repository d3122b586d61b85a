"""Baked, distilled and decomposed .glb files in Khronos' glTF validator: no errors, no warnings.

usage: validator_test.py --sinew FILE --tools FOLDER     FOLDER: where npm installs the validator, made if missing
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

_SKIP = 77  # what ctest takes as skipped
_PACKAGE = "gltf-validator@2.0.0-dev.3.10"
_VALIDATE = """
const fs = require('fs');
require('gltf-validator').validateBytes(new Uint8Array(fs.readFileSync(process.argv[1])), {maxIssues: 20})
  .then(report => console.log(JSON.stringify(report)));
"""

parser = argparse.ArgumentParser()
parser.add_argument("--sinew", type=pathlib.Path, required=True)
parser.add_argument("--tools", type=pathlib.Path, required=True)
options, rest = parser.parse_known_args()


def _install():
    """Whether the validator is there."""
    if not (shutil.which("node") and shutil.which("npm")):
        return False
    return subprocess.run(["npm", "--silent", "--prefix", options.tools, "install", _PACKAGE], check=False,
                          stdout=subprocess.DEVNULL).returncode == 0


class ValidatorTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinew-gltf-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sinew(self, *arguments):
        subprocess.run([options.sinew, *arguments, "--quiet"], check=True, capture_output=True)

    def validate(self, *more, character="model:hand", deformer="ddm", command="bake"):
        """The report of the validator for what a command writes."""
        path = self.folder / "out.glb"
        self.sinew(command, character, "--deformer", deformer, "--out", path, "--local", *more)
        return self.report(path)

    def decompose(self, *more, character="model:hand"):
        """The same for the decomposed cache of a bake."""
        cache, path = self.folder / "out.pc2", self.folder / "out.glb"
        self.sinew("bake", character, "--deformer", "ddm", "--out", cache, "--local")
        self.sinew("decompose", cache, "--rest", character, "--iterations", "3", "--out", path, *more)
        return self.report(path)

    def report(self, path):
        done = subprocess.run(["node", "-e", _VALIDATE, path], check=True, capture_output=True, text=True,
                              env=dict(os.environ, NODE_PATH=str(options.tools.resolve() / "node_modules")))
        report = json.loads(done.stdout)
        self.assertEqual((report["issues"]["numErrors"], report["issues"]["numWarnings"]), (0, 0),
                         report["issues"]["messages"])
        return report["info"]

    def test_clips_are_valid(self):
        info = self.validate()
        self.assertEqual((info["animationCount"], info["hasMorphTargets"], info["maxAttributes"]), (1, True, 1))
        self.assertEqual(info["totalVertexCount"], 9140)

    def test_normals_and_axes_are_valid(self):
        self.validate("--normals", "--axes", "blender", "--frames", "0-9")

    def test_samples_between_frames_are_valid(self):
        self.validate("--shutter", "-0.25..0.25", "--frames", "0-9")

    def test_one_frame_is_valid(self):
        info = self.validate("--frames", "7")
        self.assertEqual((info["animationCount"], info["hasMorphTargets"]), (0, False))

    def test_distilled_shapes_are_valid(self):
        info = self.validate("--to", "shapes", command="distil")
        self.assertEqual((info["animationCount"], info["hasMorphTargets"]), (1, True))
        self.assertEqual(info["maxInfluences"], 4)

    def test_animation_space_is_valid(self):
        info = self.validate("--to", "animation_space", command="distil")
        self.assertEqual(info["maxInfluences"], 8)
        self.assertEqual(info["maxAttributes"], 2 + 4 + 8)  # position and normal, influences, coefficients

    def test_decomposed_caches_are_valid(self):
        info = self.decompose()
        self.assertEqual((info["animationCount"], info["hasMorphTargets"], info["maxInfluences"]), (1, False, 4))
        self.assertEqual(self.decompose("--connected", "--influences", "8")["maxInfluences"], 8)

    def test_real_characters_are_valid(self):
        folder = os.environ.get("SINEW_SHARED_DATA")
        if not folder:
            self.skipTest("needs SINEW_SHARED_DATA")
        for name in ("CesiumMan.glb", "mannequiny.glb", "maya_kenney_character_7700_binary.fbx"):
            with self.subTest(name):
                self.validate("--normals", "--frames", "0-4", character=f"{folder}/models/{name}", deformer="lbs")
                self.validate("--to", "shapes", "--influences", "8", character=f"{folder}/models/{name}",
                              command="distil")
                self.validate("--to", "animation_space", character=f"{folder}/models/{name}", command="distil")
                self.decompose(character=f"{folder}/models/{name}")


if __name__ == "__main__":
    if not _install():
        print("skipped: needs node, npm and its registry")
        sys.exit(_SKIP)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
