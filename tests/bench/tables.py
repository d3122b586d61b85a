#!/usr/bin/env python3
"""Turns the output of a benchmark program, read from standard input, into Markdown.

PROGRAM | tables.py

JSON of Google Benchmark: a table for each group of the names "GROUP/CASE"; figures are medians if there were
repetitions, and "of first" is the time relative to the group's first row. Rows of one iteration are no timings: only
their counters are shown. Text: each table aligned by columns becomes a Markdown table, any other line a paragraph; if
there is no table, the text is kept in a code fence.
"""

import json
import re
import sys
import textwrap

import usage  # noqa: F401; answers --help

# Members of a benchmark in the JSON; every other one is a counter.
KNOWN = {"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
         "repetition_index", "threads", "aggregate_name", "aggregate_unit", "iterations", "real_time", "cpu_time",
         "time_unit", "label", "error_occurred", "error_message"}
SUFFIX = re.compile(r"/(iterations:1|repeats:\d+|process_time|real_time)\b")
NUMBER = re.compile(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", re.IGNORECASE)


def number(value):
    if value == "":
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(rows):
    """Markdown of rows of cells, the first row being the header; numbers are aligned to the right."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [lines[0], "|---|" + "---:|" * (len(rows[0]) - 1), *lines[1:]]


def columns(row):
    """The figures of a benchmark by column."""
    suffixes = SUFFIX.findall(row["run_name"])
    unit, figures = row["time_unit"], {}
    if "iterations:1" not in suffixes:
        time = row["real_time" if "real_time" in suffixes else "cpu_time"]
        figures[f"time {unit}"] = time
        if "process_time" in suffixes:
            figures[f"CPU {unit}"] = row["cpu_time"]
        figures["of first"] = time
    return figures | {key: value for key, value in row.items() if key not in KNOWN}


def benchmark_tables(report):
    """Markdown lines of Google Benchmark's report."""
    groups = {}
    # Turns in random order end in random order.
    for row in sorted(report["benchmarks"], key=lambda row: row["family_index"]):
        if row.get("error_occurred"):
            sys.exit(f"tables.py: {row['name']}: {row['error_message']}")
        if row["run_type"] == "iteration" or row["aggregate_name"] == "median":
            group, case = SUFFIX.sub("", row["run_name"]).rsplit("/", 1)
            groups.setdefault(group, []).append((case, columns(row)))
    lines = []
    for group, rows in groups.items():
        names = list(dict.fromkeys(name for _, figures in rows for name in figures))
        first = rows[0][1].get("of first")
        if len(rows) == 1 and first:
            names.remove("of first")
        for _, figures in rows:
            if first:
                figures["of first"] /= first
        cells = [[case, *(number(figures.get(name, "")) for name in names)] for case, figures in rows]
        lines += ["", *table([[group, *names], *cells])]
    return lines[1:]


def text_table(rows):
    """Markdown lines of rows of cells whose leading rows without numbers are the header; None if there is no header."""
    head = 0
    while head < len(rows) and not any(NUMBER.fullmatch(cell) for cell in rows[head][1:]):
        head += 1
    if head == 0 or head == len(rows):
        return None
    header = [" ".join(cell for cell in column if cell) for column in zip(*rows[:head])]
    return table([header, *rows[head:]])


def text_tables(text):
    """Markdown lines of a program's text: a run of lines with equally many cells, three or more, is a table."""
    lines, found, run = [], False, []

    def flush():
        nonlocal found
        rows = [re.split(r" {2,}", line.rstrip()) for line in textwrap.dedent("\n".join(run)).split("\n")]
        made = text_table(rows) if run and len(set(map(len, rows))) == 1 else None
        found = found or made is not None
        lines.extend(["", *made, ""] if made else run and [*run])
        run.clear()

    for line in text.splitlines():
        if len(re.split(r" {2,}", line.strip())) >= 3:
            run.append(line)
        else:
            flush()
            lines += ["", line.strip()]
    flush()
    if not found:
        return ["```", text.rstrip("\n"), "```"]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n").split("\n")


def main():
    text = sys.stdin.read()
    lines = benchmark_tables(json.loads(text)) if text.startswith("{") else text_tables(text)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
