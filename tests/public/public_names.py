#!/usr/bin/env python3
"""What is public and stable (docs/stability.md), as lists in this folder that a change has to change, too.

    public_names.py check|write PROGRAM

headers.txt: the declarations of include/ztp, without comments. commands.txt: the commands of the program and their
flags. The public names of Python are in docs/python-api.md, which a test of its own compares.
"""

from __future__ import annotations

import difflib
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parents[1] / "include/ztp"


def declarations(text: str) -> list[str]:
    """One line for each declaration, with single spaces."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"^\s*#[^\n]*", "", text, flags=re.MULTILINE)
    parts = re.split(r"(?<=[;{}])", " ".join(text.split()))
    return [part.strip() for part in parts if part.strip() not in ("", "};", "}", ";")]


def headers() -> list[str]:
    lines = []
    for path in sorted(HEADERS.glob("*.hpp")):
        lines += [f"== {path.name}", *declarations(path.read_text())]
    return lines


def said(program: str, *words: str) -> str:
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def commands(program: str) -> list[str]:
    _, _, listed = said(program, "--help").partition("Subcommands:\n")
    names = re.findall(r"^  ([a-z]+) ", listed.partition("\n\n")[0], flags=re.MULTILINE)
    lines = []
    for name in names:
        flags = re.findall(r"^  ((?:-\w,)?--[a-z0-9-]+)", said(program, name, "--help"), flags=re.MULTILINE)
        lines += [f"== ztp {name}", *sorted(flags)]
    return lines


def main(task: str, program: str) -> None:
    changed = False
    for name, now in (("headers.txt", headers()), ("commands.txt", commands(program))):
        file = HERE / name
        if task == "write":
            file.write_text("\n".join(now) + "\n")
        elif difference := list(difflib.unified_diff(file.read_text().splitlines(), now, name, "now", n=1, lineterm="")):
            print("\n".join(difference))
            changed = True
    if changed:
        sys.exit("What is public has changed. docs/stability.md tells what may; then run tests/public/public_names.py write PROGRAM")


if __name__ == "__main__":
    main(*sys.argv[1:])
