"""Networks, what is missing, entities and updates."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sparse

import ztp

RNG = np.random.default_rng(5)
X = np.unique(RNG.integers(0, (8, 6), (25, 2)), axis=0)
FRAME = pd.DataFrame({"user": [f"u{i}" for i in X[:, 0]], "film": [f"f{j}" for j in X[:, 1]]})
SIZES = {0: 9, 1: 6}  # user 8 has no ones
ZEROS = np.argwhere(scipy.sparse.coo_array((np.ones(len(X)), tuple(X.T)), shape=(9, 6)).toarray() == 0)
PAIRS = np.array([[0, 1], [1, 2], [2, 0], [5, 6]])


def tiny(**more: Any) -> ztp.TensorFactorization:
    return ztp.TensorFactorization(**({"rank": 2, "sweeps": 10, "draws": 5, "chains": 2, "n_jobs": 1} | more))


def fitted(**parts: Any) -> list[float]:
    """Numbers that depend on every draw."""
    return tiny().fit(X, labels=SIZES, **parts).predict_proba(X)[:, 1].tolist()


def refused(match: str, **parts: Any) -> None:
    with pytest.raises(ValueError, match=match):
        tiny().fit(X, labels=SIZES, **parts)


def test_networks_in_every_form() -> None:
    ones = np.ones(len(PAIRS))
    upper = scipy.sparse.coo_array((ones, (PAIRS[:, 0], PAIRS[:, 1])), shape=(9, 9))
    forms: list[Any] = [
        PAIRS,
        PAIRS[:, ::-1],
        PAIRS.tolist(),
        np.concatenate([PAIRS, PAIRS[:, ::-1]]),
        [PAIRS],
        upper,
        (upper + upper.T).tocsr(),
        scipy.sparse.csc_matrix(upper),
        sparse.COO(PAIRS.T, ones, shape=(9, 9)),
    ]
    expected = fitted(network={0: PAIRS})
    assert expected != fitted()
    for form in forms:
        assert fitted(network={"mode1": form}) == expected


def test_networks_of_labels() -> None:
    named = PAIRS.astype(object)
    named[:] = [[f"u{a}", f"u{b}"] for a, b in PAIRS]
    polars = pl.DataFrame(named.tolist(), orient="row")
    forms = [pd.DataFrame(named), pd.DataFrame(named, columns=["user", "user"]), named, polars]
    numbers = [tiny().fit(FRAME, network={"user": form}).predict_proba(FRAME)[:, 1].tolist() for form in forms]
    assert all(one == numbers[0] for one in numbers)
    with pytest.raises(ValueError, match=r"network\['user'\]: row 1, column user: 'nobody' is not an entity"):
        tiny().fit(FRAME, network={"user": pd.DataFrame({"a": ["u0", "u1"], "b": ["u1", "nobody"]})})


def test_several_networks() -> None:
    model = tiny().fit(X, labels=SIZES, network={0: [PAIRS, PAIRS[:2]], 1: PAIRS[:1]})
    assert [network["edges"] for network in model.posterior_.info["networks"]] == [4, 2, 1]
    assert fitted(network={0: (PAIRS, PAIRS[:2])}) == fitted(network={0: [PAIRS, PAIRS[:2]]})


def test_wrong_networks(tmp_path: Path) -> None:
    refused("no mode 'user'", network={"user": PAIRS})
    refused("no mode 2", network={2: PAIRS})
    refused("no mode True", network={True: PAIRS})
    refused("twice", network={0: PAIRS, "mode1": PAIRS})
    refused(r"network\[0\]: 3 columns; expected 2", network={0: np.zeros((2, 3), int)})
    refused(r"network\[0\]: .*1-dimensional", network={0: [0, 1]})
    refused(r"network\[0\]: row 1.*-1", network={0: [[0, 1], [0, -1]]})
    refused(r"network\[0\]: row 1 \(from 0\) has the id 9", network={0: [[0, 1], [0, 9]]})
    refused(r"network\[0\]: the matrix is 3 x 3; mode1 has 9", network={0: scipy.sparse.eye_array(3)})
    refused("no edge between two different entities", network={0: [[1, 1]]})
    refused("no edge", network={0: np.zeros((0, 2), int)})
    refused("is a text file and X is not", network={0: tmp_path / "edges.tsv"})
    refused("network is a list; expected a dict", network=[PAIRS])


def test_missing() -> None:
    cells = ZEROS[:2]
    expected = fitted(missing=cells)
    assert expected != fitted()
    matrix = scipy.sparse.coo_array(([1, 1], tuple(cells.T)), shape=(9, 6))
    for form in (cells.tolist(), cells.astype(float), cells[::-1], matrix):
        assert fitted(missing=form) == expected
    users, films = [f"u{i}" for i in cells[:, 0]], [f"f{j}" for j in cells[:, 1]]
    frame = pd.DataFrame({"film": films, "more": [0, 0], "user": users})
    swapped = pl.DataFrame({"user": users, "film": films})
    assert (
        tiny().fit(FRAME, missing=frame).predict_proba(FRAME).tolist()
        == tiny().fit(FRAME, missing=swapped).predict_proba(FRAME).tolist()
    )
    refused("missing: 3 columns; expected 2", missing=np.zeros((1, 3), int))
    refused("missing: .* the id 9", missing=[[9, 0]])
    refused("missing is a text file and X is not", missing="cells.tsv")
    with pytest.raises(ValueError, match="missing: its columns are user; expected user, film"):
        tiny().fit(FRAME, missing=frame[["user"]])
    with pytest.raises(ValueError, match="missing: row 1, column film: 'f99' is not an entity of the mode film"):
        tiny().fit(FRAME, missing=pd.DataFrame({"user": ["u0", "u0"], "film": ["f0", "f99"]}))


def test_missing_slices_and_pairs() -> None:
    expected = fitted(missing_slices={0: [8]})
    assert expected != fitted()
    assert fitted(missing_slices={"mode1": np.array([8])}) == expected
    users = {"user": [*FRAME["user"].unique(), "eve"]}
    for eve in (["eve"], np.array(["eve"]), pd.Series(["eve"]), pl.Series(["eve"]), {"eve"}):
        named = tiny().fit(FRAME, labels=users, missing_slices={"user": eve})
        assert named.posterior_.info["modes"][0]["missing_slices"] == 1
    refused("missing entities: .* has . ones in X", missing_slices={0: [7]})
    refused(r"missing_slices\[0\]: there is no entity '9'", missing_slices={0: [9]})
    refused(r"missing_slices\[0\]: there is no entity '-1'", missing_slices={0: [-1]})
    refused(r"missing_slices\[0\]: there is no entity 'u1'", missing_slices={0: ["u1"]})
    for wrong in ("8", 8, [[8]], np.zeros((2, 2), int)):
        refused(r"missing_slices\[0\]: expected a list|there is no entity", missing_slices={0: wrong})
    pairs = np.array([[a, b] for a in (0, 1, 2) for b in (5, 6)])
    some = fitted(network={0: PAIRS}, missing_pairs={0: pairs})
    assert some != fitted(network={0: PAIRS})
    adjacency = scipy.sparse.coo_array((np.ones(6), tuple(pairs.T)), shape=(9, 9))
    assert fitted(network={0: PAIRS}, missing_pairs={0: adjacency}) == some
    refused("missing_pairs: the mode mode2 has no network", network={0: PAIRS}, missing_pairs={1: [[3, 4]]})
    refused("more lists than networks", network={0: PAIRS}, missing_pairs={0: [PAIRS, PAIRS]})


def test_labels() -> None:
    model = tiny().fit(X, labels={0: 10, "mode2": np.int64(6)})
    assert model.posterior_.shape == (10, 6)
    users = [f"u{i}" for i in range(9)]
    model = tiny().fit(FRAME, labels={"user": users})
    assert model.posterior_.labels("user").tolist() == users
    for wrong in (3, 2**40, "ten", [1, 2], True, 8.0):
        with pytest.raises(ValueError, match=r"labels\[0\]"):
            tiny().fit(X, labels={0: wrong})
    with pytest.raises(ValueError, match="X: row .*, column user: 'u.' is not in labels"):
        tiny().fit(FRAME, labels={"user": ["u0"]})
    with pytest.raises(ValueError, match="two labels are both written 'u0'"):
        tiny().fit(FRAME, labels={"user": [*users, "u0"]})
    for wrong in (9, "u0"):
        with pytest.raises(ValueError, match="expected a list of entities"):
            tiny().fit(FRAME, labels={"user": wrong})


# Updates


def test_partial_fit_is_fit_at_first() -> None:
    assert tiny().partial_fit(X).predict_proba(X).tolist() == tiny().fit(X).predict_proba(X).tolist()
    assert tiny().partial_fit(X, missing=ZEROS[:1]).posterior_.info["missing_cells"] == 1
    with pytest.raises(ValueError, match="missing: only the first call"):
        tiny().fit(X).partial_fit(X, missing=[[0, 0]])


def test_partial_fit_of_ids() -> None:
    model = tiny().fit(X, labels=SIZES, network={0: PAIRS})
    model.partial_fit(np.array([[9, 0], [0, 7]]))
    assert model.posterior_.shape == (10, 8)
    assert model.update_["ones"] == 2 and model.update_["new_entities"] == {"mode1": 1, "mode2": 2}
    model.partial_fit(network={"mode1": [[0, 11]]})
    assert model.posterior_.shape == (12, 8) and model.update_["edges"] == 1
    model.partial_fit(sparse.COO([[12], [0]], [1], shape=(20, 20)))
    assert model.posterior_.shape == (13, 8)
    before = model.predict_proba(X).tolist()
    for wrong in ([[0, -1]], [[0, 2**31]], [[0.5, 0]], [[0, np.nan]], [[0, 1, 2]], [["a", "b"]], np.zeros((0, 2))):
        with pytest.raises(ValueError):
            model.partial_fit(np.array(wrong))
    for how in ({"y": [1]}, {"network": {1: PAIRS}}, {"network": {0: [PAIRS, PAIRS]}}, {}):
        with pytest.raises(ValueError):
            model.partial_fit(**how)
    with pytest.raises(ValueError, match="there are no ones"):
        model.partial_fit([[0, 0]], [0])
    assert model.predict_proba(X).tolist() == before


def test_partial_fit_of_labels() -> None:
    model = tiny().fit(FRAME)
    new = pd.DataFrame({"user": ["u0", "eve"], "film": ["f99", "f0"]})
    model.partial_fit(new)
    assert model.update_["new_entities"] == {"user": 1, "film": 1}
    assert model.posterior_.labels("user")[-1] == "eve"
    assert model.predict(new, intervals=True)["user"].tolist() == ["u0", "eve"]
    users = len(model.posterior_.labels("user"))
    with pytest.warns(UserWarning, match="feature names"), pytest.raises(ValueError, match=f"id {users} is new, and"):
        model.partial_fit(np.array([[users, 0]]))


def test_partial_fit_of_nothing_new(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny().fit(X)
    before = model.predict_proba(X).tolist()
    model.partial_fit(X[:3])
    assert "nothing in it is new" in caplog.text
    assert model.update_["known_ones"] == 3 and model.predict_proba(X).tolist() == before


def test_partial_fit_of_counts() -> None:
    model = tiny(likelihood="count").fit(X, np.arange(len(X)) + 1)
    total = model.posterior_.info["total_count"]
    model.partial_fit([[0, 0], [7, 5]], [3, 4])
    assert model.posterior_.info["total_count"] > total


def test_warnings_do_not_speak_of_files(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="ztp")
    twice = np.concatenate([X, X[:2]])
    tiny().fit(twice, np.arange(len(twice)) > 0, network={0: np.concatenate([PAIRS, PAIRS])})
    assert "X: 1 repeated cells are merged" in caplog.text or "X: 2 repeated cells are merged" in caplog.text
    assert "ztp check" not in caplog.text and "file" not in caplog.text
    assert all(record.name == "ztp" for record in caplog.records)
