"""Tables of a run directory."""

from __future__ import annotations

import pandas as pd


def read_table(path: str) -> pd.DataFrame:
    """A TSV of the run directory, its numbers to the last bit."""
    table = pd.read_csv(path, sep="\t", dtype=str).rename(columns=lambda name: name.lstrip("#"))
    whole = [name for name in ("chain", "sweep") if name in table]
    return table.astype(float).astype({name: "int64" for name in whole})
