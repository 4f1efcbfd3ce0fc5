"""Files for X."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import ztp

IDS = np.array([[0, 2, 1], [3, 0, 0], [1, 1, 1], [3, 2, 0], [2, 0, 1]])
LABELS = [["a", "x"], ["b", "y"], ["a", "y"], ["c", "x"]]


def tiny(**more: Any) -> ztp.TensorFactorization:
    return ztp.TensorFactorization(**({"rank": 2, "sweeps": 10, "draws": 5, "chains": 2, "n_jobs": 1} | more))


def refused(X: Any, match: str, **how: Any) -> None:
    with pytest.raises(ValueError, match=match):
        tiny().fit(X, **how)


def test_files(tmp_path: Path) -> None:
    text = "".join("\t".join(map(str, row)) + "\n" for row in LABELS)
    (tmp_path / "x.tsv").write_text("#user\tfilm\n" + text)
    frame = pd.DataFrame(LABELS, columns=["user", "film"])
    from_file, from_frame = tiny().fit(tmp_path / "x.tsv"), tiny().fit(frame)
    assert from_file.predict_proba(frame).tolist() == from_frame.predict_proba(frame).tolist()
    assert list(from_file.feature_names_in_) == ["user", "film"] and from_file.n_features_in_ == 2
    assert tiny().fit(str(tmp_path / "x.tsv")).n_features_in_ == 2
    (tmp_path / "y.tsv").write_text("a\tx\t1\nb\ty\t0\nb\tx\t1\n")
    assert tiny().fit(tmp_path / "y.tsv", values=True).posterior_.shape == (2, 2)
    assert tiny().fit(tmp_path / "y.tsv").posterior_.shape == (2, 2, 2)


def test_files_of_ids(tmp_path: Path) -> None:
    """Whose labels are numbers from 1: the same draws as of an array."""
    lines = "".join(" ".join(str(i + 1) for i in row) + " 1\n" for row in IDS)
    (tmp_path / "x.tns").write_text(lines)
    array = tiny().fit(IDS)
    assert tiny().fit(tmp_path / "x.tns").predict_proba(IDS).tolist() == array.predict_proba(IDS).tolist()
    pairs = np.unique(IDS[:, :2], axis=0)
    entries = "".join(f"{i + 1} {j + 1}\n" for i, j in pairs)
    (tmp_path / "x.mtx").write_text(f"%%MatrixMarket matrix coordinate pattern general\n4 3 {len(pairs)}\n{entries}")
    matrix = scipy.sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(4, 3))
    forms = (tmp_path / "x.mtx", matrix, matrix.tocsc(), pairs)
    numbers = [tiny().fit(form).predict_proba(pairs).tolist() for form in forms]
    assert numbers[0] == numbers[1] == numbers[2] == numbers[3]


def test_wrong_files(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nothing.tsv"):
        tiny().fit(tmp_path / "nothing.tsv")
    with pytest.raises(OSError, match=str(tmp_path)):
        tiny().fit(tmp_path)
    path = tmp_path / "x.tsv"
    path.write_text("a\tx\nb\n")
    refused(path, "x.tsv")
    path.write_text("a\tx\nb\ty\n")
    refused(path, "X is a text file, so y cannot be given", y=[1, 1])
    refused(path, r"labels\[0\]: X is a file, so a mode is given by its name", labels={0: ["a"]})
    refused(path, r"labels\['mode1'\] must be one, too", labels={"mode1": [1, 2]})
    refused(path, "X is a text file, so missing must be one, too", missing=np.array([[0, 0]]))
    refused(path, "must be one, too", network={"mode1": np.array([[0, 1]])})
    refused(path, "values has the wrong type", values="maybe")
    refused(path, "format csw: use tsv, tns, mtx or csv", format="csw")
    refused(IDS, "values says how to read a text file, and X is not a text file", values=True)
    refused(IDS, "index_base says how to read a text file", index_base=0)
    model = tiny().fit(IDS)
    for call in (model.predict, model.predict_proba, model.partial_fit):
        with pytest.raises(ValueError, match="only fit reads these"):
            call(str(path))
