"""Run directories: their information and tables, and checks of arguments."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from . import _core


def threads(n_jobs: int | None) -> int:
    """scikit-learn's n_jobs: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ValueError(f"n_jobs is {n_jobs!r}; expected an integer: 1 or more, or -1 for all cores")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def absolute(run_dir: str | os.PathLike[str]) -> str:
    """The same directory whatever the working directory will be."""
    return os.path.abspath(os.fspath(run_dir))


def run_info(run_dir: str) -> dict[str, Any]:
    """What was run, also if it has not ended."""
    info: dict[str, Any] = json.loads(_core.run_info_json(run_dir))
    return info


@dataclass(frozen=True)
class Diagnosis:
    """The answer to "have the chains converged?", as ``ztp diagnose`` prints it."""

    verdict: str
    """good, usable, poor, one chain or too short."""
    predictions: str
    """The verdict on the probabilities alone."""
    rank: str
    """The verdict on the number of components."""
    sentences: list[str]
    """In plain words: what agrees, what does not, and what to do."""
    quantities: pd.DataFrame
    """One row per quantity: mean, sd, mcse, r_hat, ess_bulk, ess_tail, ess_per_second."""
    cells: pd.DataFrame
    """The same for the probabilities of the watched cells."""

    def __str__(self) -> str:
        return "\n".join([f"verdict: {self.verdict}", *self.sentences])


def read_table(path: str) -> pd.DataFrame:
    """A TSV of the run directory, its numbers to the last bit."""
    table = pd.read_csv(path, sep="\t", dtype=str).rename(columns=lambda name: name.lstrip("#"))
    whole = [name for name in ("chain", "sweep") if name in table]
    return table.astype(float).astype({name: "int64" for name in whole})


def report_path(file: str | os.PathLike[str]) -> str:
    """Where a report may be written: an existing file must be a report."""
    path = os.fspath(file)
    if os.path.exists(path) and not _core.is_report(path):
        raise FileExistsError(f"{path} exists and is not a report of ztp; name another file")
    return path


def names_of_modes(names: Sequence[str], what: str) -> list[str]:
    """A list of names. A single name is refused, because Python would take it for a list of letters."""
    if isinstance(names, str):
        raise ValueError(f"{what} is {names!r}; expected a list of names, as [{names!r}]")
    return list(names)
