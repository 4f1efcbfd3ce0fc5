"""Tables of a run directory."""

from __future__ import annotations

import pandas as pd


def read_table(path: str) -> pd.DataFrame:
    """A TSV of the run directory, its numbers to the last bit."""
    table = pd.read_csv(path, sep="\t", float_precision="round_trip")
    return table.rename(columns=lambda name: name.lstrip("#"))
