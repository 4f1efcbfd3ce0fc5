"""What is installed by an optional extra: without it, an error says which extra has it."""

from __future__ import annotations

import subprocess
import sys

import pytest

PREPARE = """
import sys

sys.modules.update(dict.fromkeys(sys.argv[1:]))  # as if they were not installed

import numpy as np
import pandas as pd
import ztp

frame = pd.DataFrame({"user": list("abc"), "film": list("xyx")})
model = ztp.TensorFactorization(rank=2, sweeps=10, draws=5, chains=2, n_jobs=1)

class Table:
    def __arrow_c_stream__(self, requested_schema=None):
        raise AssertionError("asked for before pyarrow was")
"""


@pytest.mark.parametrize(
    ("module", "call", "what", "extra"),
    [
        ("arviz", "model.fit(frame).to_arviz()", "to_arviz", "arviz"),
        ("arviz", "model.fit(frame).posterior_.to_arviz(every_sweep=True)", "to_arviz", "arviz"),
        ("netCDF4", "model.fit(frame).to_arviz()", "to_arviz", "arviz"),
        ("pyarrow", "model.fit('ones.parquet')", "X is ones.parquet, which", "arrow"),
        ("pyarrow", "model.fit(Table())", "X is a table of Arrow, which", "arrow"),
        ("pyarrow", "model.fit(frame).predict('cells.feather')", "X is cells.feather, which", "arrow"),
        (
            "pyarrow",
            "model.fit(frame, network={'user': Table()})",
            "network['user'] is a table of Arrow, which",
            "arrow",
        ),
        ("pooch", "import ztp.datasets; ztp.datasets.fetch_umls(data_home='.')", "downloading a data set", "datasets"),
    ],
)
def test_a_missing_extra_is_named(module: str, call: str, what: str, extra: str, tmp_path: object) -> None:
    script = f"{PREPARE}\ntry:\n    exec({call!r})\nexcept ImportError as error:\n    print(error)\n"
    ran = subprocess.run([sys.executable, "-c", script, module], capture_output=True, text=True, cwd=str(tmp_path))
    begin = f"{what} needs the package {module}, which cannot be imported ("
    assert ran.stdout.startswith(begin), ran.stdout + ran.stderr
    assert ran.stdout.endswith(f"): pip install 'ztp[{extra}]'\n")


def test_frames_need_no_extra(tmp_path: object) -> None:
    script = f"{PREPARE}\nprint(model.fit(frame).predict_proba(frame).shape)\n"
    modules = ["pyarrow", "arviz", "netCDF4", "pooch", "polars", "duckdb"]
    ran = subprocess.run([sys.executable, "-c", script, *modules], capture_output=True, text=True, cwd=str(tmp_path))
    assert ran.stdout == "(3, 2)\n", ran.stderr
