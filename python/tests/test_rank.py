"""The rank that is chosen where none is given, and a bound that is full."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ztp

OPTIONS: dict[str, Any] = {"sweeps": 40, "draws": 20, "chains": 2, "n_jobs": 1}


@pytest.mark.parametrize("rank", ["auto", None])
def test_auto(planted: ztp.Simulation, caplog: pytest.LogCaptureFixture, rank: str | None) -> None:
    with caplog.at_level(logging.INFO, logger="ztp"):
        model = ztp.TensorFactorization(rank, **OPTIONS).fit(planted.X)
    assert "rank auto: 25 (99 % of the counts are in " in caplog.text
    assert "bound is full" not in caplog.text
    assert model.rank == rank  # parameters stay as they were given
    assert model.posterior_.rank == 25
    choice = model.posterior_.info["rank_choice"]
    assert choice["stop"] == "enough" and choice["trials"][-1]["rank"] == 25
    given = ztp.TensorFactorization(25, **OPTIONS).fit(planted.X)
    assert model.weights_.tolist() == given.weights_.tolist()
    assert given.posterior_.info["rank_choice"] is None


def test_as_on_the_command_line(planted: ztp.Simulation, command: Callable[..., str], tmp_path: Path) -> None:
    np.savetxt(tmp_path / "ones.tsv", planted.X, fmt="%d", delimiter="\t")
    flags = ["--sweeps", 40, "--draws", 20, "--chains", 2, "--threads", 1]
    command("fit", tmp_path / "ones.tsv", *flags, "--out", tmp_path / "run")
    model = ztp.TensorFactorization(**OPTIONS, out=tmp_path / "mine").fit(tmp_path / "ones.tsv")
    assert (tmp_path / "run/draws.nc").read_bytes() == (tmp_path / "mine/draws.nc").read_bytes()
    assert ztp.TensorFactorization.load(tmp_path / "run").rank == model.posterior_.rank


def test_a_full_bound_is_told_of(planted: ztp.Simulation) -> None:
    summary = ztp.TensorFactorization(2, **OPTIONS).fit(planted.X).summary()
    assert "Is the bound on the rank large enough? No: 2 of 2 components are in use" in summary


@pytest.mark.parametrize("wrong", [0, 100001, "many", 1.5])
def test_wrong_ranks(planted: ztp.Simulation, wrong: Any) -> None:
    with pytest.raises(ValueError, match="rank"):
        ztp.TensorFactorization(wrong, **OPTIONS).fit(planted.X)
