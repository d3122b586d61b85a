"""Makes the zip that Blender's "Install..." button takes.

usage: make_zip.py --package FOLDER --out FILE    FOLDER: the built Python package, .../python
"""

import argparse
import pathlib
import zipfile

_DATE = (1980, 1, 1, 0, 0, 0)  # equal files make equal zips


def _add(archive: zipfile.ZipFile, file: pathlib.Path, name: str) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.external_attr = 0o644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, file.read_bytes())


def main() -> None:
    options = argparse.ArgumentParser(description="Makes the add-on's zip.")
    options.add_argument("--package", type=pathlib.Path, required=True, help="folder with the built package sinew")
    options.add_argument("--out", type=pathlib.Path, required=True)
    arguments = options.parse_args()
    source = pathlib.Path(__file__).parent / "sinew_blender"
    with zipfile.ZipFile(arguments.out, "w") as archive:
        for file in sorted(source.glob("*.py")):
            _add(archive, file, f"sinew_blender/{file.name}")
        for file in sorted((arguments.package / "sinew").iterdir()):
            if file.is_file():
                _add(archive, file, f"sinew_blender/lib/sinew/{file.name}")


if __name__ == "__main__":
    main()
