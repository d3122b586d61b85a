"""The clients in other languages that proto/README.md shows, as it shows them: the frames have the bits of the C++ client.

usage: languages_test.py --section Go|Node --tools FOLDER --sinewd FILE --sinew FILE    FOLDER: GOPATH, which later runs use again
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

_README = pathlib.Path(__file__).resolve().parents[2] / "proto/README.md"
_SKIP = 77  # what ctest takes as skipped
_FILES = {"go": "main.go", "js": "main.mjs"}
_NEEDS = {"Go": ("go", "protoc"), "Node": ("node", "npm")}
_STREAMED = 12  # frames
_FRAME_BYTES = 9140 * 12

parser = argparse.ArgumentParser()
parser.add_argument("--section", choices=_NEEDS, required=True)
parser.add_argument("--tools", type=pathlib.Path, required=True)
parser.add_argument("--sinewd", required=True)
parser.add_argument("--sinew", required=True)
options = parser.parse_args()
environment = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/local/go/bin", "GOPATH": str(options.tools.resolve()),
               "GOFLAGS": "-modcacherw"}


def _run(*command: object, cwd: str) -> str:
    return subprocess.run([str(each) for each in command], cwd=cwd, env=environment, check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def _obstacle(commands: str) -> str | None:
    """Why the commands of the section cannot run on this machine."""
    for program in _NEEDS[options.section]:
        if shutil.which(program, path=environment["PATH"]) is None:
            return f"{program} is not installed"
    if options.section == "Go":
        version = re.search(r"go(\d+)\.(\d+)", _run("go", "version", cwd="/")).groups()
        if tuple(map(int, version)) < (1, 21):
            return f"go {'.'.join(version)} is older than 1.21"
    package = re.search(r"\S+@v?\d\S+", commands).group()
    ask = ["go", "list", "-m", package] if options.section == "Go" else ["npm", "view", package, "version"]
    done = subprocess.run(ask, cwd="/", env=environment, check=False, stdout=subprocess.DEVNULL)
    return None if done.returncode == 0 else f"the registry of {package} cannot be reached"


def _printed(folder: str, commands: str, language: str, program: str) -> list[str]:
    """What the commands of the section print in its folder, with a server of their own."""
    # pylint: disable-next=consider-using-with
    server = subprocess.Popen([options.sinewd, "--listen", "127.0.0.1:0", "--http", "off", "--exit-with-parent"],
                              stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().split("listening on ")[1].strip()
        shown = program.replace("127.0.0.1:50051", address)
        assert shown != program
        (pathlib.Path(folder) / _FILES[language]).write_text(shown, encoding="utf-8")
        return _run("bash", "-e", "-c", commands, cwd=folder).splitlines()
    finally:
        server.terminate()
        assert server.wait(30) == 0


def main() -> None:
    section = re.search(rf"^## {options.section}\n(.*?)^## ", _README.read_text(encoding="utf-8"), re.M | re.S).group(1)
    (_, commands), (language, program) = re.findall(r"^```(\w+)\n(.*?)^```$", section, re.M | re.S)
    if obstacle := _obstacle(commands):
        print(f"skipped: {obstacle}")
        sys.exit(_SKIP)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "proto").symlink_to(_README.parent)
        _run(options.sinew, "export", "model:hand", "--rig", "hand.sinewrig", "--poses", "poses.npy", "--quiet", cwd=folder)
        _run(options.sinew, "bake", "model:hand", "--deformer", "ddm", "--out", "hand.npy", "--local", "--quiet", cwd=folder)
        baked = (pathlib.Path(folder) / "hand.npy").read_bytes()[128:]
        frames = [hashlib.sha256(baked[:count * _FRAME_BYTES]).hexdigest() for count in (1, _STREAMED)]
        printed = _printed(folder, commands, language, program)
    print("\n".join(printed))
    assert printed[-2:] == [f"9140 {frames[0]}", frames[1]], frames


if __name__ == "__main__":
    main()
