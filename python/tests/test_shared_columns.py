"""Components that share columns: the same numbers as from the command line."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ztp

OPTIONS = {"rank": 30, "sweeps": 60, "draws": 10, "n_jobs": 1, "tie": {"subject": "object"}, "self_cells": "missing"}


@pytest.fixture(scope="module")
def ones() -> pd.DataFrame:
    """Three groups of people; relation l leads from group g to g + l."""
    rng = np.random.default_rng(1)
    cells = [(i, l, j) for i in range(15) for l in range(3) for j in range(15) if i != j]
    rows = [(f"p{i}", f"r{l}", f"p{j}") for i, l, j in cells if rng.random() < (0.8 if (i + l - j) % 3 == 0 else 0.02)]
    return pd.DataFrame(rows, columns=["subject", "relation", "object"])


def test_columns_and_core_are_those_of_the_command(ones: pd.DataFrame, tmp_path: Path) -> None:
    model = ztp.TensorFactorization(**OPTIONS, columns={"subject": 4, "relation": "own"}, run_dir=tmp_path / "run")
    posterior = model.fit(ones).posterior_
    assert posterior.info["options"]["columns"] == ["subject=4", "relation=own", "object=4"]
    command = [os.environ["ZTP_COMMAND"], "components", str(tmp_path / "run"), "--json", "--all", "--top", "2"]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    columns = posterior.columns("object", top=2)
    assert columns.index.tolist() == [item["column"] for item in printed["columns"]]
    assert columns["weight"].to_numpy() == pytest.approx([item["weight"] for item in printed["columns"]])
    assert columns["object"].tolist() == ["; ".join(e["label"] for e in item["top"]) for item in printed["columns"]]
    core = posterior.core()
    assert core["relation"].tolist() == [item["relation"] for item in printed["core"]]
    assert core["weight_q95"].to_numpy() == pytest.approx([item["weight_q95"] for item in printed["core"]])
    assert core["subject"].between(1, 4).all()
    related = model.predict_proba(pd.DataFrame([("p0", "r0", "p3"), ("p0", "r0", "p4")], columns=ones.columns))
    assert related[0, 1] > 0.5 > related[1, 1]


def test_what_shows_components_says_that_there_are_none(ones: pd.DataFrame) -> None:
    model = ztp.TensorFactorization(**OPTIONS).fit(ones)
    with pytest.raises(ValueError, match="this one was fitted with columns"):
        model.components()
    plain = ztp.TensorFactorization(rank=3, sweeps=10, draws=5, n_jobs=1).fit(ones)
    with pytest.raises(ValueError, match="core is for runs with columns"):
        plain.posterior_.core()
