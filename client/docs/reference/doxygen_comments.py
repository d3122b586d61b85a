"""Prints a header as doxygen wants it: it reads only comments that begin with ///, and ours begin with //.

usage: doxygen_comments.py HEADER
"""

import re
import sys


def markdown(text):
    """The text of a comment: lines of code are code, and lists of errors are lists."""
    if re.match(r"   .*[;{}]$", text):
        return "  " + text
    return re.sub(r"^   (?=k[A-Z]\w+: )", " - ", re.sub(r"[<>#@\\]", r"\\\g<0>", text))


def main():
    column = None  # of the comment behind a declaration, which the next lines may continue
    with open(sys.argv[1], encoding="utf-8") as header:
        print("/// \\file\n///" + next(header).split(" -", 1)[1], end="")
        for line in header:
            code, slashes, text = line.rstrip("\n").partition("//")
            if re.match(r"(class|struct) \w+;", code):  # a comment here would go to the next class
                slashes = text = ""
            if not slashes:
                column = None
            elif code.strip():
                column = len(code)
            elif len(code) != column:
                column = None
            print(code + (slashes and ("///" if column is None else "///<") + markdown(text)))


if __name__ == "__main__":
    main()
