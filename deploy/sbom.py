#!/usr/bin/env python3
"""Writes a bill of materials (CycloneDX 1.5, JSON) of the Debian packages in a file system and of what sinewd compiles in.

usage: sbom.py [--root FOLDER] [--compiled-in PACKAGE...] [--crates NAME@VERSION=LICENCE...] [--page LOCK] [--version TEXT]
               [--revision TEXT] [--out FILE]

  --root         file system whose /var/lib/dpkg and /usr/share/doc are read (default: /)
  --compiled-in  packages of this machine whose headers are in the programs, such as libeigen3-dev
  --crates       sources of crates that are compiled into the programs, such as ufbx@0.11.5=MIT
  --page         package-lock.json of the page that is installed
The Dockerfile runs it; in the image the result is /usr/share/doc/sinew/sbom.cdx.json. Licences are those that the
machine-readable copyright files of Debian name, of all files of a source package; a package without such a file has
none here. The time is $SOURCE_DATE_EPOCH or now.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.parse
import uuid

FIELDS = ("binary:Package", "Version", "Architecture", "source:Package", "source:Version", "Homepage", "Maintainer",
          "db:Status-Status")

# Short names of Debian's copyright files that are not those of SPDX. A `+` or `or later` is handled below.
SPDX = {
    "expat": "MIT", "mit": "MIT", "x11": "X11", "isc": "ISC", "zlib": "Zlib", "openssl": "OpenSSL", "curl": "curl",
    "apache-2": "Apache-2.0", "apache-2.0": "Apache-2.0", "apache": "Apache-2.0", "bsl-1": "BSL-1.0",
    "boost-1.0": "BSL-1.0", "bsl-1.0": "BSL-1.0", "cc0": "CC0-1.0", "cc0-1.0": "CC0-1.0", "mpl-2.0": "MPL-2.0",
    "mpl-1.1": "MPL-1.1", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause",
    "bsd-4-clause": "BSD-4-Clause", "bsd-3-clause-clear": "BSD-3-Clause-Clear", "artistic-2.0": "Artistic-2.0",
    "artistic": "Artistic-1.0", "psf-2": "PSF-2.0", "unlicense": "Unlicense", "wtfpl-2": "WTFPL", "ofl-1.1": "OFL-1.1",
    "libpng": "Libpng", "bzip2-1.0.6": "bzip2-1.0.6", "ftl": "FTL", "unicode-dfs-2016": "Unicode-DFS-2016",
    "cc-by-4.0": "CC-BY-4.0", "cc-by-sa-4.0": "CC-BY-SA-4.0", "0bsd": "0BSD", "hpnd": "HPND", "ijg": "IJG",
}
COPYLEFT = re.compile(r"(a?gpl|lgpl|gfdl)-?v?(\d(?:\.\d)?)(?:\.0)?(\+|-or-later|-only)?$", re.IGNORECASE)
VERSIONS = {"GPL": ("1.0", "2.0", "3.0"), "LGPL": ("2.0", "2.1", "3.0"), "AGPL": ("3.0",), "GFDL": ("1.1", "1.2", "1.3")}


def licence(name: str) -> dict[str, str]:
    """A licence of CycloneDX: by its identifier in SPDX, or by the name that Debian uses."""
    family = COPYLEFT.match(name)
    if family:
        version = family.group(2) if "." in family.group(2) else family.group(2) + ".0"
        later = "or-later" if family.group(3) in ("+", "-or-later") else "only"
        if version in VERSIONS[family.group(1).upper()]:
            return {"id": f"{family.group(1).upper()}-{version}-{later}"}
    identifier = SPDX.get(name.lower())
    return {"id": identifier} if identifier else {"name": name}


def licences(copyright_file: pathlib.Path) -> list[str]:
    """The short names in the fields `License` of a machine-readable copyright file, each once."""
    try:
        text = copyright_file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    if not re.search(r"^Format: *\S+copyright-format", text, re.MULTILINE | re.IGNORECASE):
        return []
    names: dict[str, None] = {}
    for line in re.findall(r"^License:[ \t]*(\S.*)$", text, re.MULTILINE | re.IGNORECASE):
        for name in re.split(r"\s+(?:and|or|and/or)\s+|,\s*(?:and|or)?\s*", line.strip()):
            name = re.sub(r"\s+with\s.*", "", name, flags=re.IGNORECASE).strip(" ()")  # exceptions permit more
            if name:
                names[name] = None
    return list(names)


def packages(root: pathlib.Path, names: list[str]) -> list[dict[str, str]]:
    """Fields of the installed packages, or of those with these names."""
    layout = "\\t".join(f"${{{field}}}" for field in FIELDS) + "\\n"
    done = subprocess.run(["dpkg-query", f"--admindir={root / 'var/lib/dpkg'}", "-W", "-f", layout, *names], check=True,
                          capture_output=True, text=True)
    rows = [dict(zip(FIELDS, line.split("\t"))) for line in done.stdout.splitlines()]
    return [row for row in rows if row["db:Status-Status"] == "installed"]


def component(root: pathlib.Path, row: dict[str, str], distribution: str) -> dict[str, object]:
    name = row["binary:Package"].split(":")[0]
    purl = (f"pkg:deb/debian/{urllib.parse.quote(name)}@{urllib.parse.quote(row['Version'], safe='')}"
            f"?arch={row['Architecture']}&distro={distribution}")
    found: dict[str, object] = {
        "type": "library", "bom-ref": purl, "name": name, "version": row["Version"], "purl": purl,
        "publisher": row["Maintainer"],
        "properties": [{"name": "debian:source", "value": f"{row['source:Package']} {row['source:Version']}"}],
    }
    named: dict[str, dict[str, str]] = {}
    for each in map(licence, licences(root / "usr/share/doc" / name / "copyright")):
        named["".join(each.values())] = each
    if named:
        found["licenses"] = [{"license": each} for each in named.values()]
    if row["Homepage"]:
        found["externalReferences"] = [{"type": "website", "url": row["Homepage"]}]
    return found


def crate(text: str) -> dict[str, object]:
    found = re.fullmatch(r"([\w-]+)@([\w.+-]+)=([\w.+-]+)", text)
    if not found:
        raise SystemExit(f"sbom: --crates: got '{text}', need NAME@VERSION=LICENCE")
    name, version, named = found.groups()
    purl = f"pkg:cargo/{name}@{version}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "licenses": [{"license": licence(named)}], "description": "sources, compiled into the programs"}


def page_packages(lock: pathlib.Path) -> list[dict[str, object]]:
    """What the page of `sinew view` contains: the dependencies of its lock file."""
    packages_of = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    found = []
    for name in packages_of[""]["dependencies"]:
        package = packages_of[f"node_modules/{name}"]
        purl = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
        found.append({"type": "library", "bom-ref": purl, "name": name, "version": package["version"], "purl": purl,
                      "licenses": [{"expression": package["license"].strip("()")}],
                      "description": "compiled into the page of sinew view"})
    return found


def bill(root: pathlib.Path, compiled_in: list[str], crates: list[str], page: pathlib.Path | None, version: str,
         revision: str) -> dict[str, object]:
    release = root / "etc/os-release"
    known = re.search(r'^VERSION_ID="?([\d.]+)', release.read_text(encoding="utf-8") if release.exists() else "",
                      re.MULTILINE)
    distribution = f"debian-{known.group(1) if known else '12'}"
    installed = [component(root, row, distribution) for row in packages(root, [])]
    headers = [component(pathlib.Path("/"), row, distribution) for row in packages(pathlib.Path("/"), compiled_in)] \
        if compiled_in else []
    for each in headers:
        each["description"] = "headers, compiled into the programs"
    present = {each["bom-ref"] for each in installed}
    components = installed + [each for each in headers if each["bom-ref"] not in present] + list(map(crate, crates))
    components += page_packages(page) if page else []
    sinew = {"type": "application", "bom-ref": "sinew", "name": "sinew", "version": version,
             "licenses": [{"license": {"id": "Apache-2.0"}}]}
    if revision:
        sinew["properties"] = [{"name": "vcs:revision", "value": revision}]
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.datetime.fromtimestamp(int(epoch or time.time()), datetime.timezone.utc)
    body = {"metadata": {"timestamp": now.isoformat(), "component": sinew}, "components": components,
            "dependencies": [{"ref": "sinew", "dependsOn": sorted(str(each["bom-ref"]) for each in components)}]}
    serial = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(body, sort_keys=True))  # the same contents, the same number
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1, **body}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path("/"))
    parser.add_argument("--compiled-in", nargs="*", default=[])
    parser.add_argument("--crates", nargs="*", default=[])
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--version", default="unknown")
    parser.add_argument("--revision", default="")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    made = bill(options.root, options.compiled_in, options.crates, options.page, options.version, options.revision)
    text = json.dumps(made, indent=1) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
