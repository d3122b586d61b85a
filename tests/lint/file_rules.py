#!/usr/bin/env python3
"""What every file keeps to: its place, name, length, first lines and whitespace."""

import re
import sys

import sources

TOP_LEVEL = {
    "proto", "core", "server", "client", "tests", "deploy", "CMakeLists.txt", "Dockerfile", "README.md",
    "CMakePresets.json", ".clang-format", ".editorconfig", ".ci", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", ".gitignore",
    ".dockerignore",
}
# Names that say nothing: a thing is called by what it does.
BANNED = re.compile(r"(^|[_.-])(utils?|helpers?|commons?|managers?|misc)([_.-]|$)")
# One algorithm may fill a source; a header states a contract.
MAX_LINES = {".h": 200, "-inl.h": 800, ".cc": 800, ".py": 800, ".sh": 200, ".proto": 300}
MIN_LINES = 30  # a shorter source is a warning: it may belong to another file
TEXT = (".h", ".cc", ".py", ".sh", ".proto", ".txt", ".cmake", ".json", ".md", ".yaml", ".yml", ".in")
UNFINISHED = re.compile(r"\b(" + "TO" + "DO|FIX" + "ME|X" + r"XX)\b")


def place(path):
    """Findings about the path alone."""
    findings = []
    parts = path.split("/")
    if parts[0] not in TOP_LEVEL:
        findings.append(f"{path}:1: top-level entry {parts[0]} is not one of the fixed ones")
    findings += [f"{path}:1: the name '{part}' says nothing, call it by what it does"
                 for part in parts if BANNED.search(part)]
    if parts[:2] == ["tests", "unit"] and path.endswith(".cc"):
        tested = "/".join(parts[2:-1])
        if not (tested and (sources.ROOT / tested).is_dir()):
            findings.append(f"{path}:1: tests/unit mirrors the code, but there is no folder '{tested}'")
    return findings


def check(path, text):
    """Findings about a file and its text, as 'path:line: what'."""
    findings = place(path)
    suffix = "." + path.rsplit(".", 1)[-1] if "." in path.rsplit("/", 1)[-1] else ""
    lines = text.splitlines()
    # A -inl.h holds bodies that Highway compiles once per instruction set: a source by another name.
    limit = MAX_LINES.get("-inl.h" if path.endswith("-inl.h") else suffix)
    if limit and len(lines) > limit:
        findings.append(f"{path}:{limit + 1}: {len(lines)} lines, at most {limit}: which part is a thing of its own?")
    if suffix in (".h", ".cc", ".proto"):
        findings += [f"{path}:{number}: unfinished work is not committed"
                     for number, line in enumerate(lines, 1) if UNFINISHED.search(line)]
    if suffix == ".h":
        findings += header(path, lines)
    if suffix == ".md":
        findings += links(path, text)
    if suffix in TEXT or not suffix:
        findings += whitespace(path, text, lines)
    return findings


def header(path, lines):
    """The header template: `// name.h - what`, a comment, then the guard."""
    findings = []
    name = path.rsplit("/", 1)[-1]
    if not lines or not re.fullmatch(rf"// {re.escape(name)} - \S.*", lines[0]):
        findings.append(f"{path}:1: the first line is not '// {name} - what it is'")
    # Highway's per-target headers are meant to be included many times and have a toggle of their own.
    if not name.endswith("-inl.h") and "#pragma once" not in lines:
        findings.append(f"{path}:1: no #pragma once")
    return findings


def links(path, text):
    """Links of a page to files and headings that are not there."""
    findings = []
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            name, _, heading = target.partition("#")
            page = (sources.ROOT / path).parent / name if name else sources.ROOT / path
            if "://" in target:
                continue
            if not page.exists():
                findings.append(f"{path}:{number}: a link to {name}, which is not there")
            elif heading and page.is_file() and heading not in headings(page.read_text(encoding="utf-8") if name else text):
                findings.append(f"{path}:{number}: a link to #{heading}, a heading that is not there")
    return findings


def headings(text):
    """The anchors that GitHub gives to the headings of a page."""
    return {re.sub(r"[^\w -]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            for line in text.splitlines() if line.startswith("#")}


def whitespace(path, text, lines):
    findings = []
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            findings.append(f"{path}:{number}: a tab")
        if line != line.rstrip():
            findings.append(f"{path}:{number}: spaces at the end of the line")
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        findings.append(f"{path}:{len(lines)}: the file does not end with exactly one line end")
    return findings


def main():
    findings = []
    for path in sources.files():
        data = (sources.ROOT / path).read_bytes()
        if b"\0" in data:  # a picture or another binary: only its place counts
            findings += place(path)
        else:
            findings += check(path, data.decode("utf-8"))
            lines = data.count(b"\n")
            if path.endswith(".cc") and not path.startswith("tests/") and lines < MIN_LINES:
                print(f"{path}:1: warning: {lines} lines: does it belong to another file?")
    return sources.report(findings, "file rules")


if __name__ == "__main__":
    sys.exit(main())
