"""Makes the zip that Blender installs: an add-on for Blender before 4.2, an extension for later versions.

usage: make_zip.py --package FOLDER --out FILE    add-on; FOLDER: the built Python package, .../python
       make_zip.py --wheels FOLDER --out FILE     extension; FOLDER: holds one wheel, of make_wheel.sh
"""

import argparse
import pathlib
import string
import zipfile

_DATE = (1980, 1, 1, 0, 0, 0)  # equal files make equal zips
_HERE = pathlib.Path(__file__).parent
_PLATFORMS = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}  # as a wheel and as Blender name them


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.external_attr = 0o644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


def _add_sources(archive: zipfile.ZipFile, folder: str) -> None:
    for file in sorted((_HERE / "sinew_blender").glob("*.py")):
        _add(archive, folder + file.name, file.read_bytes())


def _add_on(archive: zipfile.ZipFile, package: pathlib.Path) -> None:
    _add_sources(archive, "sinew_blender/")
    for file in sorted((package / "sinew").iterdir()):
        if file.is_file():
            _add(archive, f"sinew_blender/lib/sinew/{file.name}", file.read_bytes())


def _manifest(wheel: str) -> str:
    """wheel: a file name such as sinew-0.1.0-cp311-cp311-manylinux_2_36_x86_64.whl."""
    _, version, _, _, tag = wheel.removesuffix(".whl").split("-")
    platform = next(name for machine, name in _PLATFORMS.items() if tag.endswith("_" + machine))
    template = string.Template((_HERE / "blender_manifest.toml.in").read_text(encoding="utf-8"))
    return template.substitute(version=version, platform=platform, wheel=wheel)


def _extension(archive: zipfile.ZipFile, wheels: pathlib.Path) -> None:
    [wheel] = wheels.glob("*.whl")
    _add(archive, "blender_manifest.toml", _manifest(wheel.name).encode())
    _add_sources(archive, "")
    _add(archive, f"wheels/{wheel.name}", wheel.read_bytes())


def main() -> None:
    options = argparse.ArgumentParser(description="Makes the zip of the add-on or of the extension.")
    content = options.add_mutually_exclusive_group(required=True)
    content.add_argument("--package", type=pathlib.Path, help="folder with the built package sinew")
    content.add_argument("--wheels", type=pathlib.Path, help="folder with the wheel of the package")
    options.add_argument("--out", type=pathlib.Path, required=True)
    arguments = options.parse_args()
    with zipfile.ZipFile(arguments.out, "w") as archive:
        if arguments.package:
            _add_on(archive, arguments.package)
        else:
            _extension(archive, arguments.wheels)


if __name__ == "__main__":
    main()
