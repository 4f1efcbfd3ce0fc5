"""Runs the corpus of bad inputs: every *.txt of tests/bad_inputs, whose README.md says what a case looks like.

usage: bad_inputs.py PROGRAM SOURCE_DIR [--accept]
Each case runs in a fresh folder. Its exit code and all that it prints must be what the case says, to the byte, and it
must leave the folder as it was. --accept writes what the program says now into the cases instead; read the diff.
"""

import concurrent.futures
import difflib
import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

fewest_cases = 150
seconds = 60  # a case that takes longer hangs; one takes milliseconds

# For `do` lines and prepare.sh: change one bit of the byte at an offset, and write over bytes.
helpers = r"""
set -eu
patch() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
flip() { patch "$1" "$2" "\\$(printf %o $(($(od -An -tu1 -j "$2" -N1 "$1") ^ 1)))"; }
"""


class Case:
    def __init__(self, path, line, name, every):
        self.path, self.line, self.name = path, line, name
        self.text = [f"== {name}"]  # its lines, without its answer
        self.steps = []  # (word, rest) of with, file, do
        self.input = b""
        self.command = shlex.split(every["run"]) if "run" in every else None
        self.not_root = False
        self.leaves = []  # names that the command may leave behind
        self.usual_exit = self.exit = int(every["exit"]) if "exit" in every else None
        self.out, self.err = "", ""


def unescaped(text):
    """The bytes of a text with \\n, \\t, \\r, \\0, \\\\ and \\xHH; everything else is UTF-8."""
    short = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\"}
    result = b""
    for part in re.split(r"(\\x[0-9a-f]{2}|\\.)", text):
        if part.startswith("\\x"):
            result += bytes.fromhex(part[2:])
        elif part.startswith("\\"):
            result += short[part[1]]
        else:
            result += part.encode()
    return result


def read_cases(path):
    """The cases of a file; and its lines before them and between them, each with the number of cases before it."""
    cases, others, every = [], [], {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        word, _, rest = line.partition(" ")
        if word == "==":
            cases.append(Case(path, number, rest, every))
        elif not line or word in ("#", "every"):
            others.append((len(cases), line))
            if word == "every":
                what, _, value = rest.partition(" ")
                every[what] = value
        elif word == "|":
            cases[-1].err += rest + "\n"
        elif word == ">":
            cases[-1].out += rest + "\n"
        elif word == "exit":
            cases[-1].exit = int(rest)
        else:
            cases[-1].text.append(line)
            if word in ("with", "file", "do"):
                cases[-1].steps.append((word, rest))
            elif word == "input":
                cases[-1].input = unescaped(rest)
            elif word == "run":
                cases[-1].command = shlex.split(rest)
            elif word == "leaves":
                cases[-1].leaves = rest.split()
            elif word == "not-root":
                cases[-1].not_root = True
            else:
                sys.exit(f"{path}:{number}: what is \"{word}\"?")
    return cases, others


def shell(script, folder, program):
    tools = str(pathlib.Path(program).resolve().parent / "tests")  # mend_manifest
    environment = dict(os.environ, LC_ALL="C", ztp=program, PATH=tools + ":" + os.environ["PATH"])
    result = subprocess.run(["sh", "-c", helpers + script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"\"{script}\" failed:\n{result.stdout.decode(errors='replace')}")


@functools.cache
def version(program):
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]


def contents(folder):
    """Everything in a folder: the bytes of files, None for folders."""
    found = {}
    for path in sorted(folder.rglob("*")):
        readable = path.is_file() and os.access(path, os.R_OK)
        found[str(path.relative_to(folder))] = path.read_bytes() if readable else None
    return found


def prepare(case, folder, prepared, program):
    folder.mkdir()
    for word, rest in case.steps:
        if word == "with":
            for name in rest.split():
                source = prepared / name
                (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
        elif word == "file":
            name, _, text = rest.partition(" ")
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(unescaped(text))
        else:
            shell(rest, folder, program)


def run(case, folder, prepared, program):
    """What the case gives: exit code, standard output, standard error, and what it left behind."""
    prepare(case, folder, prepared, program)
    before = contents(folder)
    words = [program if word == "ztp" else word for word in case.command[:1]] + case.command[1:]
    # The width of a terminal and the language of the system's messages must not matter.
    environment = dict(os.environ, LC_ALL="C", COLUMNS="80", ztp=program)
    result = subprocess.run(words, cwd=folder, env=environment, input=case.input, capture_output=True, timeout=seconds,
                            check=False)
    after = contents(folder)
    changed = [name for name in sorted(before.keys() | after.keys())
               if before.get(name, 0) != after.get(name, 0) and name.split("/")[0] not in case.leaves]
    here = str(folder.resolve())
    text = [stream.decode("utf-8", "backslashreplace").replace(here, "FOLDER").replace(version(program), "VERSION")
            for stream in (result.stdout, result.stderr)]
    shutil.rmtree(folder, ignore_errors=True)  # what cannot be removed yet goes with the whole
    return result.returncode, text[0], text[1], changed


def difference(name, expected, got):
    if expected == got:
        return ""
    lines = difflib.unified_diff(expected.splitlines(True), got.splitlines(True), f"{name} expected", f"{name} now")
    return "".join(line if line.endswith("\n") else line + "\n(no newline at the end)\n" for line in lines)


def complaint(case, folder, prepared, program):
    try:
        code, out, err, changed = run(case, folder, prepared, program)
    except (RuntimeError, subprocess.TimeoutExpired, OSError, KeyError) as failure:
        return f"{failure}\n"
    text = "" if code == case.exit else f"exit code {code} instead of {case.exit}\n"
    text += difference("stdout", case.out, out) + difference("stderr", case.err, err)
    if changed:
        text += f"left behind or changed: {', '.join(changed)}\n"
    return text


def accept(path, cases, others, results):
    """Writes the file of cases again, with what the program says now."""
    lines = []
    for number, case in enumerate([*cases, None]):
        lines += [line for before, line in others if before == number]
        if case is None:
            break
        code, out, err, _ = results.get(case, (case.exit, case.out, case.err, []))
        lines += case.text + ([] if code == case.usual_exit else [f"exit {code}"])
        lines += [f"> {line}" for line in out.splitlines()] + [f"| {line}" for line in err.splitlines()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    program, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = sorted((source / "tests" / "bad_inputs").glob("*.txt"))
    read = {path: read_cases(path) for path in files}
    every = [case for path in files for case in read[path][0]]
    names = [case.name for case in every]
    for name in {name for name in names if names.count(name) > 1}:
        sys.exit(f"two cases are called \"{name}\"")
    with tempfile.TemporaryDirectory(prefix="ztp bad ") as temporary:
        work = pathlib.Path(temporary)
        prepared = work / "prepared"
        prepared.mkdir()
        shell((source / "tests" / "bad_inputs" / "prepare.sh").read_text(), prepared, program)
        asked = [case for case in every if not (case.not_root and os.geteuid() == 0)]
        do = run if "--accept" in sys.argv else complaint
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            pending = {case: pool.submit(do, case, work / str(i), prepared, program) for i, case in enumerate(asked)}
            results = {case: future.result() for case, future in pending.items()}
    if do is run:
        for path in files:
            accept(path, *read[path], results)
        return 0
    failed = [case for case in asked if results[case]]
    for case in failed:
        print(f"FAILED: {case.name} ({case.path.name}:{case.line}): {shlex.join(case.command)}")
        print("    " + results[case].rstrip("\n").replace("\n", "\n    "))
    skipped = len(every) - len(asked)
    print(f"{len(every)} cases, {len(failed)} failed" + (f", {skipped} skipped (they need a user other than root)"
                                                         if skipped else ""))
    if len(every) < fewest_cases:
        print(f"FAILED: fewer than {fewest_cases} cases")
    return 1 if failed or len(every) < fewest_cases else 0


sys.exit(main())
