#!/usr/bin/env python3
"""deploy/sbom.py: its result fits the published schema and lists every package, with licences.

usage: sbom_test.py --packages FOLDER [--sbom FILE]

FOLDER has the validator from PyPI, installed if missing. FILE is the result in an image; default: of this machine.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import virtual_environment  # noqa: E402  pylint: disable=wrong-import-position

AT_MOST = 200  # components that are validated, at 20 to 50 ms each: all of an image, some of a machine
VALIDATOR = "cyclonedx-python-lib[json-validation]==11.12.0"
# Prints findings about the file that it is given.
VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
found = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1], encoding="utf-8").read())
print(found or "", end="")
"""

parser = argparse.ArgumentParser()
parser.add_argument("--packages", type=pathlib.Path, required=True)
parser.add_argument("--sbom", type=pathlib.Path)
options, rest = parser.parse_known_args()


def install() -> None:
    """The validator, from PyPI."""
    if not virtual_environment.install(options.packages, [VALIDATOR], system=False):
        print(f"skipped: {VALIDATOR} is not installed and PyPI cannot be reached")
        sys.exit(virtual_environment.SKIP)


def findings(bill: Any) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(bill, file)
        file.flush()
        return subprocess.run([options.packages / "bin/python", "-c", VALIDATE, file.name], check=True,
                              capture_output=True, text=True).stdout


def make(*arguments: str) -> Any:
    done = subprocess.run([sys.executable, ROOT / "deploy/sbom.py", *arguments], capture_output=True, text=True,
                          check=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    return json.loads(done.stdout)


def licences(bill: Any, name: str) -> set[str]:
    found, = (each for each in bill["components"] if each["name"] == name)
    return {value for each in found.get("licenses", []) for value in each["license"].values()}


class SbomTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.bill = json.loads(options.sbom.read_text(encoding="utf-8")) if options.sbom else make("--version", "1.2")

    def test_fits_the_schema(self) -> None:
        components = self.bill["components"]
        some = components[::max(1, len(components) // AT_MOST)]
        self.assertEqual(findings({**self.bill, "components": some}), "")
        self.assertEqual(len({each["bom-ref"] for each in components}), len(components))
        self.assertEqual({each["bom-ref"] for each in components}, set(self.bill["dependencies"][0]["dependsOn"]))
        with_licences = sum("licenses" in each for each in self.bill["components"])
        print(f"{len(self.bill['components'])} packages, {with_licences} with licences")

    def test_schema_finds_what_is_wrong(self) -> None:
        for change in (lambda bill: bill["components"][0].update(licence="MIT"),
                       lambda bill: bill["components"][0].update(type="lib"),
                       lambda bill: bill["components"][0].update(licenses=[{"license": {"id": "GPL-2+"}}]),
                       lambda bill: bill["components"][0].pop("name"),
                       lambda bill: bill["components"].append(bill["components"][0])):
            changed = copy.deepcopy({**self.bill, "components": self.bill["components"][:5], "dependencies": []})
            self.assertEqual(findings(changed), "")
            change(changed)
            self.assertNotEqual(findings(changed), "")

    @unittest.skipIf(options.sbom, "of an image")
    def test_lists_every_package(self) -> None:
        done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${binary:Package} ${Version}\\n"],
                              capture_output=True, text=True, check=True)
        installed = sorted((words[1].split(":")[0], words[2]) for words in map(str.split, done.stdout.splitlines())
                           if words[0] == "installed")
        self.assertEqual(sorted((each["name"], each["version"]) for each in self.bill["components"]), installed)

    @unittest.skipIf(options.sbom, "of an image")
    def test_same_packages_give_the_same_bytes(self) -> None:
        self.assertEqual(make("--version", "1.2"), self.bill)
        self.assertNotEqual(make("--version", "1.3")["serialNumber"], self.bill["serialNumber"])

    def test_reads_licences_of_copyright_files(self) -> None:
        text = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Files: *
License: GPL-2+ or Expat
Files: a
License: LGPL-2.1
Files: b
License: GPL-3+ with GCC exception
Files: c
License: permissive and BSD-3-clause
 The text of it.
"""
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "var/lib/dpkg").mkdir(parents=True)
            (root / "var/lib/dpkg/status").write_text("".join(
                f"Package: {package}\nStatus: {status}\nArchitecture: all\nVersion: 1.0-1\nMaintainer: A <a@b>\n"
                f"Description: x\n\n" for package, status in (("one", "install ok installed"),
                                                             ("two", "install ok installed"),
                                                             ("old", "deinstall ok config-files"))), encoding="utf-8")
            for package, content in (("one", text), ("two", "Licence: see the file COPYING\n")):
                (root / "usr/share/doc" / package).mkdir(parents=True)
                (root / "usr/share/doc" / package / "copyright").write_text(content, encoding="utf-8")
            lock = root / "package-lock.json"
            lock.write_text(json.dumps({"packages": {
                "": {"dependencies": {"@a/four": "4.0.0"}, "devDependencies": {"tool": "1.0.0"}},
                "node_modules/@a/four": {"version": "4.0.0", "license": "(Apache-2.0 AND BSD-3-Clause)"},
                "node_modules/tool": {"version": "1.0.0", "license": "MIT"}}}), encoding="utf-8")
            bill = make("--root", name, "--crates", "three@0.1.2=MIT", "--page", str(lock))
            self.assertEqual(findings(bill), "")
            self.assertEqual([each["name"] for each in bill["components"]], ["one", "two", "three", "@a/four"])
            self.assertEqual(bill["components"][3]["purl"], "pkg:npm/%40a/four@4.0.0")
            self.assertEqual(bill["components"][3]["licenses"], [{"expression": "Apache-2.0 AND BSD-3-Clause"}])
            self.assertEqual(bill["components"][2]["purl"], "pkg:cargo/three@0.1.2")
            self.assertEqual(licences(bill, "three"), {"MIT"})
            self.assertEqual(licences(bill, "one"), {"GPL-2.0-or-later", "MIT", "LGPL-2.1-only", "GPL-3.0-or-later",
                                                     "permissive", "BSD-3-Clause"})
            self.assertEqual(licences(bill, "two"), set())


if __name__ == "__main__":
    if shutil.which("dpkg-query") is None:
        print("skipped: this is no Debian system")
        sys.exit(virtual_environment.SKIP)
    install()
    unittest.main(argv=[__file__, *rest])
