"""What a review has found, and stays mended."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import ztp

TINY = {"rank": 2, "sweeps": 20, "draws": 5, "chains": 2, "progress": False}


def test_numbers_of_a_frame_are_labels() -> None:
    """Also where one of them is asked for alone."""
    frame = pd.DataFrame({"user": [6, 5, 4, 6, 5, 7], "film": [1, 2, 3, 2, 1, 3]})
    model = ztp.TensorFactorization(**TINY).fit(frame)
    assert set(model.recommend({"user": 5}, 2)["user"]) == {"5"}
    with pytest.raises(ValueError, match="there is no entity '1'"):
        model.recommend({"user": 1})
    left = ztp.TensorFactorization(**TINY).fit(
        frame[frame["user"] != 7], labels={"user": [4, 5, 6, 7]}, missing_slices={"user": [7]}
    )
    assert left.posterior_.info["modes"][0]["missing_slices"] == 1


def test_numbers_of_a_file_are_labels(tmp_path: Path) -> None:
    (tmp_path / "ones.tns").write_text("1 1 1\n2 2 1\n3 1 1\n1 2 1\n")
    model = ztp.TensorFactorization(**TINY).fit(tmp_path / "ones.tns")
    assert set(model.recommend({"mode1": 3}, 1)["mode1"]) == {3}


@pytest.mark.parametrize("protocol", ["ones", "slices"])
def test_parts_of_ids_can_be_fitted(protocol: str) -> None:
    """Also where the last entity is in no training one: in 30 seeds it sometimes is."""
    X = ztp.simulate((30, 20, 10), 150, rank=2).X
    for seed in range(30):
        how = {"mode": 0, "after": 28, "zeros_per_one": 1} if protocol == "slices" else {"holdout": 0.3}
        parts = ztp.split(X, protocol=protocol, random_state=seed, **how)
        model = ztp.TensorFactorization(**(TINY | {"sweeps": 2}))
        model.fit(parts.train, missing=parts.test, labels=parts.labels)
        assert model.posterior_.shape == tuple(X.max(axis=0) + 1)


def test_stored_zeros_are_not_missing() -> None:
    X = scipy.sparse.coo_matrix(np.eye(4))
    missing = scipy.sparse.coo_matrix(([0, 1], ([0, 0], [1, 2])), shape=(4, 4))
    model = ztp.TensorFactorization(**TINY).fit(X, missing=missing)
    assert model.posterior_.info["missing_cells"] == 1


def test_names_of_modes_that_are_names_of_columns() -> None:
    frame = pd.DataFrame({"weight": list("abca"), "rate": list("xyzy"), "nnz": list("mnmn")})
    counts = ztp.TensorFactorization(**TINY, likelihood="count").fit(frame, [1, 2, 3, 4])
    assert counts.predict(frame).shape == (4,)
    with pytest.raises(ValueError, match="the mode weight has the name of another column"):
        counts.components()


def test_dates_are_written_alike() -> None:
    polars = pytest.importorskip("polars")
    days = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-01"])
    frame = pd.DataFrame({"day": days, "who": list("aba")})
    texts = [
        ztp.TensorFactorization(**TINY).fit(f).posterior_.labels("day")
        for f in (frame, polars.DataFrame({"day": days.to_list(), "who": list("aba")}))
    ]
    assert list(texts[0]) == list(texts[1]) == ["2020-01-01", "2020-01-02"]


def test_wrong_kinds_are_told() -> None:
    X = ztp.simulate((10, 8, 6), 100, rank=2).X
    model = ztp.TensorFactorization(**TINY)
    with pytest.raises(ValueError, match="network is a ndarray; expected a dict"):
        model.fit(X, network=np.array([[0, 1]]))
    model.fit(X)
    for wrong in (2.5, 0, "x"):
        with pytest.raises(ValueError, match="sweeps is .*; expected an integer"):
            model.partial_fit(X, sweeps=wrong)
        with pytest.raises(ValueError, match="sweeps is .*; expected an integer"):
            model.resume(wrong)
    with pytest.raises(ValueError, match="holdout is None"):
        ztp.split(X, holdout=None)


def test_a_copy_keeps_the_directory() -> None:
    model = ztp.TensorFactorization(**(TINY | {"chains": 1})).fit(ztp.simulate((10, 8, 6), 100, rank=2).X)
    posterior = copy.copy(model.posterior_)
    del model
    assert len(posterior.trace()) == 20


def test_other_threads_print_nothing() -> None:
    """HDF5 tells every thread what it has tried, unless it is asked not to; and netCDF is for one thread at a time."""
    program = """
import threading, ztp
X = ztp.simulate((10, 8, 6), 100, rank=2).X
def work():
    for _ in range(5):
        model = ztp.TensorFactorization(rank=2, sweeps=10, draws=5, progress=False).fit(X)
        assert len(model.predict_proba(X)) == 100 and len(model.components()) == 2
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print("done")
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")
