"""Every block of code in the docs runs, or says why not. The C++ of README.md runs in tests/cli/install.sh."""

from __future__ import annotations

import doctest
import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import small_data
from blocks import PAGES, ROOT, BadBlockError, blocks_of, read

import ztp

# What a page takes for granted, in the shell or in Python, besides the files of small_data.
BEFORE_SH = {
    "docs/cluster.md": "ztp convert ones.tsv big.ztpt",
    "docs/report.md": "for run in run run-a run-b; do ztp fit ones.tsv --holdout 0.1 --out $run; done",
}
FRAMES = """
columns = ["user", "item", "week"]
frame, more, cells = (
    pd.read_csv(f"{name}.tsv", sep="\\t", names=columns, comment="#") for name in ("ones", "today", "cells")
)
facts = pd.read_csv("facts.tsv", sep="\\t", names=["subject", "relation", "object"])
friends = pd.read_csv("friends.tsv", sep="\\t", header=None)
model = ztp.TensorFactorization()
"""
BEFORE_PYTHON = {"docs/python.md": FRAMES, "docs/python-api.md": FRAMES}
# Fits that say nothing else do so many sweeps, and not 500.
SWEEPS = 20

RUNNING = [page for page in PAGES if any(block.runs and block.language != "cpp" for block in read(page))]


def environment(folder: Path, command: str) -> dict[str, str]:
    """ztp is the program of this build, and python is this interpreter."""
    places = folder / "bin"
    places.mkdir()
    (places / "ztp").write_text(f"""#!/bin/sh
case " $* " in
  *" --sweeps "* | *" --until "*) ;;
  " fit "*) set -- "$@" --sweeps {SWEEPS} ;;
esac
exec "{command}" "$@"
""")
    (places / "ztp").chmod(0o755)
    (places / "python").symlink_to(sys.executable)
    # Processes that mpirun starts: more than cores, and as root, too.
    mpi = ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM", "MCA_rmaps_base_oversubscribe", "MCA_mpi_yield_when_idle")
    return {
        **os.environ,
        **{f"OMPI_{name}": "1" for name in mpi},
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PATH": f"{places}:{os.environ['PATH']}",
    }


def run_sh(script: str, where: str, folder: Path, variables: dict[str, str]) -> None:
    ran = subprocess.run(
        ["sh", "-eu"], input=script, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{where}:\n{script}\n{ran.stdout}{ran.stderr}"


@pytest.mark.parametrize("page", RUNNING)
def test_runs(page: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page, one after the other in one folder."""
    blocks = [block for block in read(page) if block.runs and block.language != "cpp"]
    several = any("mpirun" in block.text for block in blocks)
    if several and not (shutil.which("mpirun") and Path(program).with_name("libztp_mpi.so").exists()):
        pytest.skip("there is no mpirun, or no libztp_mpi.so beside the program")
    small_data.write(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ztp, "TensorFactorization", functools.partial(ztp.TensorFactorization, sweeps=SWEEPS))
    variables = environment(tmp_path, program)
    names: dict[str, Any] = {"ztp": ztp, "pd": pd}
    run_sh(BEFORE_SH.get(page, ""), page, tmp_path, variables)
    exec(BEFORE_PYTHON.get(page, ""), names)
    for block in blocks:
        if block.language == "sh":
            run_sh(block.text, f"{page}:{block.line}", tmp_path, variables)
        elif block.text.startswith(">>> "):
            test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line - 1)
            doctest.DebugRunner(optionflags=doctest.ELLIPSIS).run(test)
        else:  # with the lines of the page, for tracebacks
            exec(compile("\n" * (block.line - 1) + block.text, str(ROOT / page), "exec"), names)


def test_cpp_runs_elsewhere() -> None:
    pages = {page for page in PAGES for block in read(page) if block.runs and block.language == "cpp"}
    assert pages == {"README.md"}, "tests/cli/install.sh runs the C++ of README.md alone"


def test_reasons() -> None:
    found = blocks_of("x.md", "<!-- not run: needs a GPU -->\n```sh\nmake cuda\n```\n\n```python\nf(x)\n```\n")
    assert [(block.line, block.reason, block.runs) for block in found] == [(3, "needs a GPU", False), (7, None, True)]
    signature = blocks_of("x.md", "```python\nfit(X: Any, *, y: Any = None) -> Model\n```\n")
    assert not signature[0].runs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Like this:\n\n    ztp check ones.tsv\n", "x.md:3: an indented block"),
        ("```\nztp check ones.tsv\n```\n", "x.md:1: ``` is not one of"),
        ("```bash\nztp check ones.tsv\n```\n", "x.md:1: ```bash is not one of"),
        ("```sh\nztp check ones.tsv\n", "x.md:1: a block has no end"),
        ("<!-- not run: -->\n```text\n1\n```\n<!-- not run: old -->\n", "a comment 'not run' without a block"),
        ("<!-- not run: output -->\n```text\n1\n```\n", "x.md:2: text is never run"),
    ],
)
def test_bad_blocks(text: str, message: str) -> None:
    with pytest.raises(BadBlockError, match=re.escape(message)):
        blocks_of("x.md", text)


def test_a_block_that_fails(tmp_path: Path, program: str) -> None:
    variables = environment(tmp_path, program)
    with pytest.raises(AssertionError, match="nothing.tsv"):
        run_sh("ztp check nothing.tsv\nztp --version\n", "x.md:1", tmp_path, variables)
