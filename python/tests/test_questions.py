"""Questions to a model that is fitted, and data to try things on."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import ztp

RNG = np.random.default_rng(5)
X = np.unique(RNG.integers(0, (8, 6), (25, 2)), axis=0)
FRAME = pd.DataFrame({"user": [f"u{i}" for i in X[:, 0]], "film": [f"f{j}" for j in X[:, 1]]})


def tiny(**more: Any) -> ztp.TensorFactorization:
    return ztp.TensorFactorization(**({"rank": 2, "sweeps": 10, "draws": 5, "chains": 2, "n_jobs": 1} | more))


def test_cells_of_a_model() -> None:
    model = tiny().fit(FRAME)
    numbers = model.predict_proba(FRAME)[:, 1].tolist()
    polars = pl.DataFrame(FRAME.to_dict("list"))
    assert model.predict_proba(polars)[:, 1].tolist() == numbers
    assert model.posterior_.predict_proba(polars.select("film", "user")).tolist() == numbers
    assert model.posterior_.predict(FRAME[["film", "user"]].assign(more=1)).columns.tolist()[:2] == ["film", "user"]
    ids = np.column_stack([pd.factorize(FRAME[c])[0] for c in FRAME])
    with pytest.warns(UserWarning, match="feature names"):
        assert model.predict_proba(ids)[:, 1].tolist() == numbers
        table = model.predict(ids, intervals=True)
    assert table[["user", "film"]].to_numpy().tolist() == FRAME.to_numpy().tolist()
    assert table["probability"].tolist() == numbers
    assert (table["q05"] <= table["q95"]).all() and (table["sd"] > 0).all()
    kinds = FRAME.astype({"user": pd.CategoricalDtype(["nobody", *sorted(set(FRAME["user"]))])})
    assert model.predict_proba(kinds)[:, 1].tolist() == numbers  # a category that no row has may be unknown


def test_wrong_cells_of_a_model() -> None:
    model = tiny().fit(FRAME)
    with pytest.raises(ValueError, match="X: row 1, column film: 'f99' is not an entity of the mode film"):
        model.transform(pd.DataFrame({"user": ["u0", "u1"], "film": ["f0", "f99"]}))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME.rename(columns={"film": "movie"}))
    with pytest.raises(ValueError, match="its columns are user, movie; expected user, film"):
        model.posterior_.predict(FRAME.rename(columns={"film": "movie"}))
    posterior = tiny().fit(X).posterior_
    for wrong, words in [
        ([[0, -1]], "Negative"),
        ([[0, 0.5]], "integers"),
        ([[0, 1, 2]], "3 columns; expected 2"),
        ([0, 1], "1-dimensional"),
        ([[True, False]], "truth values"),
    ]:
        with pytest.raises(ValueError, match=words):
            posterior.predict(wrong)
    with pytest.raises(ValueError, match="expected y"):
        posterior.evaluate(X)
    assert posterior.predict(np.zeros((0, 2), int)).shape == (0, 7)
    assert posterior.predict_proba(scipy.sparse.eye_array(6)).shape == (6,)


def test_wrong_questions() -> None:
    posterior = tiny().set_params(chains=1).fit(X).posterior_
    for question, words in [
        (lambda: posterior.recommend({"mode1": "a"}), r"given\['mode1'\]: there is no entity 'a'"),
        (lambda: posterior.recommend({"mode1": -1}), "there is no entity '-1'"),
        (lambda: posterior.recommend({0: 1, "mode1": 1}), "given has the mode mode1 twice"),
        (lambda: posterior.recommend([1]), "given is a list; expected a dict"),
        (lambda: posterior.recommend({0: 1}, top=-1), "top is -1"),
        (lambda: posterior.recommend({}, mode=0, distinct=1), "mode ranks entities; give one of them"),
        (lambda: posterior.recommend({0: 1}, mode=0), "only a mode that is left open can be ranked"),
        (lambda: posterior.recommend({}, exclude={0: ["nobody"]}), r"exclude\[0\]: there is no entity 'nobody'"),
        (lambda: posterior.components(1.5), "top is 1.5"),
        (lambda: posterior.top_entities(0, -1), "top is -1"),
        (lambda: posterior.factor(2), "no mode 2"),
        (lambda: posterior.factor(0, chain=1), "chain is 1; expected 0 to 0"),
        (lambda: posterior.ranking(X, at=[-1]), "at is -1"),
        (lambda: posterior.ranking(X, draws=-1), "draws is -1"),
        (lambda: posterior.evaluate(), "no held-out cells"),
    ]:
        with pytest.raises(ValueError, match=words):
            question()
    with pytest.raises(OSError, match="nothing.tsv"):
        posterior.evaluate("nothing.tsv")
    with pytest.raises(ValueError, match="not a run directory"):
        ztp.Posterior("nowhere")


def test_mode_with_the_name_of_a_prediction() -> None:
    frame = FRAME.rename(columns={"film": "probability"})
    model = tiny().fit(frame)
    assert model.predict(frame).shape == (len(frame),)
    with pytest.raises(ValueError, match="the mode probability has the same name as a column of the predictions"):
        model.predict(frame, intervals=True)


def test_wrong_splits_and_simulations() -> None:
    matrix = scipy.sparse.eye_array(9)
    for call, words in [
        (lambda: ztp.split(X, ["a"] * len(X)), "Unknown label type"),
        (lambda: ztp.split(matrix, np.ones(9)), "a sparse X already contains the values"),
        (lambda: ztp.split(X, holdout=2), "holdout is 2"),
        (lambda: ztp.split(X, zeros_per_one=-1), "zeros_per_one is -1"),
        (lambda: ztp.split(X, protocol="rows"), 'protocol "rows"'),
        (lambda: ztp.simulate((3, -3), 2), "a number of dims is -3"),
        (lambda: ztp.simulate((3, 3), 100), "cannot be reached"),
        (lambda: ztp.simulate((3, 3), 5, edges={"user": 3}), "no mode 'user'"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    state = np.random.RandomState
    assert ztp.split(X, random_state=state(1)).test.tolist() == ztp.split(X, random_state=state(1)).test.tolist()
    assert ztp.simulate((5, 5), 9, rank=2, random_state=None).X.shape == (9, 2)


def test_words_of_python_in_messages(tmp_path: Path) -> None:
    tiny(out=tmp_path / "run").fit(X)
    with pytest.raises(ValueError, match="choose another out, or force=True to replace it"):
        tiny(out=tmp_path / "run").fit(X)


def test_summary_and_warning() -> None:
    model = tiny(chains=2, sweeps=120).fit(FRAME)
    lines = model.summary().splitlines()
    assert lines[0].startswith("8 user x 6 film: ") and lines[0].endswith("components, 2 chains")
    questions = [
        "Have the chains converged? ",
        "Are the probabilities calibrated? Not known: no cells were held out.",
        "Is the bound on the rank large enough? ",
    ]
    assert all(line.startswith(question) for line, question in zip(lines[1:], questions, strict=True))
    posterior = tiny(chains=1).fit(FRAME).posterior_
    with pytest.warns(UserWarning, match="should not be used yet: the chains are too short"):
        posterior.predict(FRAME)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posterior.recommend({"user": "u0"})  # once is enough
    online = tiny(method="online", minibatch=4).fit(FRAME).posterior_
    with pytest.warns(UserWarning, match="an online fit approximates the posterior, and its intervals are too narrow"):
        online.predict(FRAME)


def test_calibrated_and_raw_probabilities() -> None:
    rng = np.random.default_rng(8)
    cells = np.unique(rng.integers(0, 12, (400, 2)) + 12 * rng.integers(0, 2, (400, 1)), axis=0)
    model = tiny(rank=3, sweeps=60, chains=2, holdout=0.3, draws=40).fit(cells)
    posterior = model.posterior_
    now, raw = posterior.predict_proba(cells), posterior.predict_proba(cells, raw=True)
    assert not np.allclose(now, raw)
    assert (np.argsort(now, kind="stable") == np.argsort(now, kind="stable")).all()
    assert model.predict_proba(cells)[:, 1].tolist() == now.tolist()
    assert model.predict_proba(cells, raw=True)[:, 1].tolist() == raw.tolist()
    rest = posterior.predict_proba(cells, listed=0.9)
    assert np.allclose(rest, np.minimum(1, now * 0.1 / (0.9 * (1 - now))))
    assert model.recommend({}, top=3, listed=0.5)["probability"].is_monotonic_decreasing
    for wrong in (0, 1.5, -1, float("nan")):
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            posterior.predict_proba(cells, listed=wrong)
    scores, of_raw = model.evaluate(), model.evaluate(raw=True)
    assert abs(scores["calibration_slope"] - 1) < abs(of_raw["calibration_slope"] - 1)
    assert scores["popularity"]["auc_roc"] < scores["auc_roc"]
    head = posterior.head((5, 20))
    assert head["cells"].tolist() == [5, 20] and head["expected"].is_monotonic_increasing
    assert posterior.ranking().index.tolist() == ["mode1", "mode2", "all", "popularity"]


def test_counts_in_a_column() -> None:
    frame = FRAME.assign(count=1 + np.arange(len(FRAME)) % 4)
    model = tiny(likelihood="count").fit(frame)
    assert model.posterior_.mode_names == ["user", "film"]
    given = tiny(likelihood="count").fit(FRAME, frame["count"])
    assert model.posterior_.rates(FRAME).tolist() == given.posterior_.rates(FRAME).tolist()
    with pytest.raises(ValueError, match="a column 'count' beside y"):
        tiny(likelihood="count").fit(frame, frame["count"])
    with pytest.raises(ValueError, match="the columns 'count' and 'Counts'"):
        tiny(likelihood="count").fit(frame.assign(Counts=1))
    scores = model.evaluate(FRAME, frame["count"])
    assert scores["deviance"] > 0 and scores["log_score"] > 0
    assert tiny().fit(frame.astype({"count": str})).posterior_.mode_names == ["user", "film", "count"]
