#!/usr/bin/env python3
"""Phrases that readers stumble over, in comments, messages, test names, help texts and documentation.

Each entry of PHRASES is a pattern, matched without regard to case over the text of a file, and what to write instead.
Words in code count as well: test names are split at capitals and underscores first.
"""

import re
import sys

import sources

# (pattern, what to write instead); \W+ stands for the blank, line break and comment sign between two words.
PHRASES = (
    ("what (became|becomes) of", "status, result"),
    ("stands? twice|stood twice|(is|are) there twice", "duplicate"),
    ("(stands?|stood)(?! for| in for| out| alone| by|-)", "is, lies"),
    ("told", "is given, knows, distinguishes, is reported"),
    ("tells? (what|where|which|who|how|it|us|nothing)", "reports, requests"),
    ("nobody", "no caller, no session, none"),
    ("somebody", "a caller, a client, one"),
    ("(every|any)body", "all, each, any"),
    ("(that|which) there (is|are) (not|none)", "unknown, missing"),
    ("who (asks|calls|needs|wants|uses|reads|comes|goes|stops|gets|knows|types?)", "the caller, callers that ..."),
    ("strangers?", "another part, an unknown part"),
    ("anew", "again"),
    ("goes? as", "is treated as, stays"),
    ("goes? on (to|where|with|for|behind)", "continues"),
    ("be it", "whether"),
    ("nor (does|do|is|are|has|have) (it|they|that|this)", "and it does not"),
    ("which see", "see"),
    ("the notes", "the paper or the reason"),
    ("prototype", "what is compared"),
    ("a seat", "reserved"),
    ("(is|are|be|been|was|were) said", "is reported"),
    ("puppets?", "rigid components"),
    ("weighed", "weights are computed"),
)
TEXT = (".h", ".cc", ".md", ".proto", ".py", ".sh", ".txt", ".cmake")
# The list itself, and its test.
SKIPPED = ("tests/lint/word_rules.py", "tests/lint/lint_test.py")
# References to documents that a reader cannot open.
REFERENCES = (
    (re.compile(r"//.*\bT\d{1,2}\.(?!\d)"), "names a document that is not in the repository"),
    (re.compile(r"//.*\b\d\.\d of the (project|design|notes)"), "names a document that is not in the repository"),
)
SEPARATOR = r"(?:[\s\"*#]|//)+"  # between words: blanks, a line break, the sign of the next comment line, two strings


def pattern(phrase):
    """The regular expression of a phrase: whole words, any separator in place of a blank."""
    return re.compile(r"(?<![\w'])" + "(?:" + phrase.replace(" ", SEPARATOR) + r")(?![\w'])", re.IGNORECASE)


COMPILED = tuple((pattern(phrase), phrase, instead) for phrase, instead in PHRASES)
TEST = re.compile(r"\bTEST(?:_F|_P)?\(\s*\w+,\s*(\w+)\)")


def words(name):
    """A name of a test as words: `TellsWhat_Is` is 'Tells What Is'."""
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name))


def check(path, text):
    """The findings of one file, as 'path:line: what'."""
    findings = []
    line_of = lambda at: text.count("\n", 0, at) + 1
    for regex, _, instead in COMPILED:
        for found in regex.finditer(text):
            shown = " ".join(found.group(0).replace("//", " ").split())
            findings.append((line_of(found.start()), f"'{shown}': write {instead}"))
    for found in TEST.finditer(text):
        named = words(found.group(1))
        for regex, _, instead in COMPILED:
            if hit := regex.search(named):
                findings.append((line_of(found.start()), f"'{hit.group(0)}' in a test name: write {instead}"))
    for number, line in enumerate(text.splitlines(), 1):
        findings += [(number, what) for regex, what in REFERENCES if regex.search(line)]
    return [f"{path}:{number}: {what}" for number, what in sorted(findings)]


def main():
    findings = []
    for path in sources.files():
        if path.endswith(TEXT) and path not in SKIPPED:
            findings += check(path, (sources.ROOT / path).read_text(encoding="utf-8"))
    return sources.report(findings, "word rules")


if __name__ == "__main__":
    sys.exit(main())
