"""Checks the lock annotations of the server (ABSL_GUARDED_BY, ABSL_ACQUIRED_AFTER and others) with clang.

usage: thread_safety.py BUILD_FOLDER      (needs its compile_commands.json)
Exit code: 0 no violation, 1 violations, 77 clang is not installed.
"""
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-fsyntax-only", "-Wno-everything", "-Wthread-safety", "-Wthread-safety-beta", "-Werror=thread-safety",
         "-Werror=thread-safety-beta"]
PLANTED = """
#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
struct Counter {
  int Next() { return ++count; }
  absl::Mutex mutex;
  int count ABSL_GUARDED_BY(mutex) = 0;
};
class Table {
  struct Entry {
    absl::Mutex loading;
  };
  void Load(Entry& entry) {
    const absl::MutexLock lock(&mutex_);
    const absl::MutexLock loading(&entry.loading);
  }
  absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(&Entry::loading);
};
"""
FINDINGS = ("requires holding mutex", "mutex 'loading' must be acquired before 'mutex_'")


def includes(command):
    """The include paths, macros and language standard of a compile command."""
    words = shlex.split(command)
    kept = []
    for word, after in zip(words, words[1:] + [""]):
        if word in ("-isystem", "-I"):
            kept += [word, after]
        elif re.match(r"-(I|D|std=)", word):
            kept.append(word)
    return kept


def check(clang, flags, source, folder):
    done = subprocess.run([clang, *flags, *FLAGS, str(source)], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stderr


def main():
    clang = shutil.which("clang++-14") or shutil.which("clang++")
    if clang is None:
        print("skipped: clang++ is not installed (deploy/install-deps.sh test)")
        return 77
    build = pathlib.Path(sys.argv[1])
    commands = json.loads((build / "compile_commands.json").read_text())
    # A unity build names none of our files. The library that uses all others has the paths that any of them needs.
    server = [entry["command"] for entry in commands if "/sinew_server_process" in entry["command"]]
    if not server:
        print("no library of the server is in compile_commands.json")
        return 1
    flags = includes(server[0])
    sources = [source for source in sorted((ROOT / "server").rglob("*.cc")) if "utex" in source.read_text()]
    with tempfile.TemporaryDirectory() as folder:
        planted = pathlib.Path(folder) / "planted.cc"
        planted.write_text(PLANTED)
        code, errors = check(clang, flags, planted, folder)
        if code == 0 or not all(finding in errors for finding in FINDINGS):
            print("not all planted violations were found:\n" + errors)
            return 1
    # The files of a folder at once: most of the time goes into gRPC's headers.
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        together = []
        for name, files in itertools.groupby(sources, lambda source: source.parent.name):
            together.append(pathlib.Path(folder) / f"{name}.cc")
            together[-1].write_text("".join(f'#include "{source}"\n' for source in files))
        for code, errors in pool.map(lambda source: check(clang, flags, source, build), together):
            if code != 0:
                failed = 1
                print(errors)
    print(f"{len(sources)} files checked")
    return failed


sys.exit(main())
