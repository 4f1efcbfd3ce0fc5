"""Parts of labelled data, and the bar that a fit shows."""

from __future__ import annotations

import io
import subprocess
import sys

import pandas as pd
import pytest

import ztp
from ztp._progress import Progress


def test_parts_of_labels_have_all_entities() -> None:
    """Every user has a single one, so that one who is held out is in no training one."""
    frame = pd.DataFrame({"user": [f"u{i}" for i in range(40)], "item": [f"i{i % 5}" for i in range(40)]})
    parts = ztp.split(frame, holdout=0.25)
    held_out = set(parts.test["user"][parts.test_y == 1])
    assert held_out and held_out.isdisjoint(parts.train["user"])
    model = ztp.TensorFactorization(rank=3, sweeps=20, chains=2).fit(parts.train, missing=parts.test)
    assert list(model.posterior_.labels("user")) == list(frame["user"])
    assert model.predict_proba(parts.test).shape == (len(parts.test), 2)


def test_bar_is_not_drawn_for_every_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """tqdm draws ten times a second at most; 20,000 sweeps in far less than a hundred seconds are not 20,000 lines."""
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    progress = Progress(True, command="test")
    with progress:
        for done in range(1, 20_001):
            progress._on_sweep(done, 20_000, -1.0, 3, float("nan"))
    assert "20000/20000" in shown.getvalue()
    assert "components=3" in shown.getvalue()
    assert shown.getvalue().count("\r") < 1_000


def test_nothing_is_left_of_the_bar() -> None:
    """What the library holds when Python ends is told on stderr."""
    fit = (
        "import ztp; "
        "ztp.TensorFactorization(rank=2, sweeps=20, chains=1, progress=True).fit(ztp.simulate((20, 20), 80, rank=2).X)"
    )
    ran = subprocess.run([sys.executable, "-c", fit], capture_output=True, text=True, check=True)
    assert "20/20" in ran.stderr
    assert "leak" not in ran.stderr
