"""Checks of the arguments of a report."""

from __future__ import annotations

import os
from collections.abc import Sequence

from . import _core


def report_path(file: str | os.PathLike[str]) -> str:
    """Where a report may be written: what is there already must be one."""
    path = os.fspath(file)
    if os.path.exists(path) and not _core.is_report(path):
        raise FileExistsError(f"{path} is there already, and no report of ztp: name another file")
    return path


def names_of_modes(names: Sequence[str], what: str) -> list[str]:
    """A list of names: a single name is a list of letters, which nobody means."""
    if isinstance(names, str):
        raise ValueError(f"{what} is {names!r}; expected a list of names, as [{names!r}]")
    return list(names)
