"""The examples of deploy/farm for Kubernetes and OpenCue: their specifications are valid, and their commands bake.

usage: specifications_test.py --sinew FILE --tools FOLDER     FOLDER: a virtual environment, made if missing

The manifest is read with the models of Kubernetes' Python client, the job of OpenCue is made by pyoutline. Neither needs a
server.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import virtual_environment  # noqa: E402  pylint: disable=wrong-import-position

_PACKAGES = ["kubernetes==37.0.2", "opencue-pyoutline==1.37.0", "opencue-pycue==1.37.0", "packaging==24.2"]
_FARM = pathlib.Path(__file__).resolve().parents[2] / "deploy/farm"

parser = argparse.ArgumentParser()
parser.add_argument("--sinew", type=pathlib.Path, required=True)
parser.add_argument("--tools", type=pathlib.Path, required=True)
options, rest = parser.parse_known_args()


try:
    import kubernetes.client
    import outline  # pylint: disable=unused-import
    import yaml
except ImportError:
    virtual_environment.enter(options.tools, _PACKAGES, system=False)


def _check(value, kind, where):
    """Raises ValueError where `value` is not of the model or type that Kubernetes' client calls `kind`."""
    if kind.startswith("list["):
        if not isinstance(value, list):
            raise ValueError(f"{where}: need a list")
        for k, element in enumerate(value):
            _check(element, kind[5:-1], f"{where}[{k}]")
    elif kind.startswith("dict("):
        for name, element in value.items():
            _check(element, kind[5:-1].split(", ")[1], f"{where}.{name}")
    elif hasattr(kubernetes.client, kind):
        model = getattr(kubernetes.client, kind)
        names = {field: attribute for attribute, field in model.attribute_map.items()}
        if unknown := sorted(set(value) - set(names)):
            raise ValueError(f"{where}: unknown {unknown}, need some of {sorted(names)}")
        for field, element in value.items():
            _check(element, model.openapi_types[names[field]], f"{where}.{field}")
        # The constructor refuses what is missing.
        model(**{names[field]: element for field, element in value.items()})
    elif kind in ("str", "int", "bool") and type(value).__name__ != kind:
        raise ValueError(f"{where}: got {value!r}, need {kind}")


class SpecificationsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinew-farm-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, PATH=f"{options.sinew.resolve().parent}:{os.environ['PATH']}")
        self.bake = ["model:hand", "--deformer", "ddm", "--clip", "fist", "--fps", "24", "--local"]

    def run_shell(self, command, code=0, **environment):
        done = subprocess.run(["sh", "-c", command], env=dict(self.environment, **environment), capture_output=True,
                              text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, f"{command}: {done.stderr}")

    def expect_whole(self, out):
        whole = self.folder / f"whole{out.suffix}"
        subprocess.run([options.sinew, "bake", *self.bake, "--out", whole, "--quiet"], check=True, capture_output=True)
        self.assertEqual(out.read_bytes(), whole.read_bytes())
        self.assertEqual(pathlib.Path(f"{out}.json").read_bytes(), pathlib.Path(f"{whole}.json").read_bytes())
        self.assertFalse(pathlib.Path(f"{out}.parts").exists())

    def test_kubernetes_manifest_is_valid_and_its_commands_bake(self):
        bake, join = list(yaml.safe_load_all((_FARM / "kubernetes-job.yaml").read_text()))
        for job in (bake, join):
            self.assertEqual((job["apiVersion"], job["kind"]), ("batch/v1", "Job"))
            _check(job, "V1Job", job["metadata"]["name"])
            pod = job["spec"]["template"]["spec"]
            self.assertEqual(pod["restartPolicy"], "Never")
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            self.assertTrue(pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"])
        with self.assertRaisesRegex(ValueError, "unknown"):
            _check({"spec": {"completionsMode": "Indexed"}}, "V1Job", "job")
        rules = bake["spec"]["podFailurePolicy"]["rules"]
        codes = {code: rule["action"] for rule in rules if "onExitCodes" in rule for code in rule["onExitCodes"]["values"]}
        self.assertEqual((codes[65], codes[75], codes[69]), ("FailJob", "Ignore", "Ignore"))

        def command(job):
            pod = job["spec"]["template"]["spec"]["containers"][0]
            self.assertEqual(pod["command"], ["sh", "-c"])
            text = pod["args"][0]
            for old, new in (("/share/hero.glb", "model:hand"), ("Walk", "fist"), ("* 50", "* 24"), ("+ 49", "+ 23"),
                             ("0-999", "0-47"), ("/share", str(self.folder)), ("sleep 30", "exit 9")):
                text = text.replace(old, new)
            return text

        self.assertEqual(bake["spec"]["completions"] * 50, 1000)
        self.run_shell(command(join), code=9)  # parts are missing
        for index in ("1", "0"):
            self.run_shell(command(bake), JOB_COMPLETION_INDEX=index)
        self.run_shell(command(join))
        self.expect_whole(self.folder / "walk.pc2")

    def test_opencue_job_is_made_and_its_commands_bake(self):
        out = self.folder / "a walk.pc2"
        done = subprocess.run([sys.executable, _FARM / "opencue_outline.py", "--print", "0-47", "24", out, *self.bake],
                              env=dict(self.environment, HOME=str(self.folder)), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        spec = xml.etree.ElementTree.fromstring(done.stdout.strip())
        layers = {layer.get("name"): layer for layer in spec.iter("layer")}
        bake, join = layers["bake"], layers["join"]
        self.assertEqual((bake.findtext("range"), bake.findtext("chunk")), ("0-47", "24"))
        depend = spec.find("depends/depend")
        self.assertEqual((depend.get("type"), depend.findtext("deplayer"), depend.findtext("onlayer")),
                         ("LAYER_ON_LAYER", "join", "bake"))
        for chunk in ("24-47", "0-23"):
            self.run_shell(bake.findtext("cmd").replace("#FRAMESPEC#", chunk))
        self.run_shell(join.findtext("cmd"))
        self.expect_whole(out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
