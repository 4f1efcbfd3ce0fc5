"""scikit-learn's conventions."""

from __future__ import annotations

import copy
import gc
import inspect
import os
import pickle
import shutil
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import ztp
from ztp import _core

TINY = {"rank": 2, "sweeps": 10, "draws": 5, "chains": 2, "n_jobs": 1}

# Checks that make no sense for index data, each with its reason. There is none: scikit-learn makes whole numbers of its
# data where an estimator says that its columns are categories.
LEFT_OUT: dict[str, str] = {}


def tiny(**more: Any) -> ztp.TensorFactorization:
    return ztp.TensorFactorization(**(TINY | more))


@parametrize_with_checks([tiny()], expected_failed_checks=lambda _: LEFT_OUT)
def test_checks(estimator: ztp.TensorFactorization, check: Any) -> None:
    check(estimator)


def test_what_is_left_out_is_in_the_docs() -> None:
    docs = (Path(__file__).parents[2] / "docs/python.md").read_text()
    assert all(name in docs and reason in docs for name, reason in LEFT_OUT.items())
    assert ("Nothing: all checks of" in docs) == (not LEFT_OUT)


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_n_features_in,
        estimator_checks.check_set_output_transform,
        estimator_checks.check_get_feature_names_out_error,
    ],
)
def test_further_checks(check: Any) -> None:
    """Those that scikit-learn has for its own estimators. (Not check_set_output_transform_pandas, which fits an array
    and then gives a frame: ids and labels here.)"""
    check("TensorFactorization", tiny())


def test_parameters_are_the_options() -> None:
    signature = inspect.signature(ztp.TensorFactorization.__init__).parameters
    names = {"seed": "random_state", "threads": "n_jobs"}
    fields = {names.get(field["name"], field["name"]): field for field in _core.option_fields()}
    assert set(signature) - {"self"} == set(fields) | {"out", "force", "progress"}
    for name, field in fields.items():
        default = signature[name].default
        if name == "n_jobs":
            assert default == -1  # all cores, as 0 is for the library
        elif field["default_text"] == "auto":
            assert default == "auto", name
        elif field["default"] in (-1, "", []):
            assert default is None, name
        else:
            assert default == field["default"], name
    assert list(signature)[1] == "rank"
    assert all(p.kind is p.KEYWORD_ONLY for n, p in signature.items() if n not in ("self", "rank"))


def test_get_params_set_params_clone(planted: ztp.Simulation) -> None:
    model = tiny(dirichlet={"mode1": np.float64(0.2)}, out=None).fit(planted.X)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "posterior_") and not hasattr(copied, "run_dir_")
    assert model.set_params(rank=3, random_state=5) is model
    assert model.get_params()["rank"] == 3
    assert model.weights_.shape == (2,)  # of the fit that was
    assert model.fit(planted.X).weights_.shape == (3,)
    with pytest.raises(ValueError, match="Invalid parameter 'ranks'"):
        model.set_params(ranks=3)
    assert "rank=3" in repr(model)


def test_load_has_the_parameters(planted: ztp.Simulation, tmp_path: Path) -> None:
    model = tiny(dirichlet={"mode1": 0.2}, random_state=3, out=tmp_path / "run").fit(planted.X)
    loaded = ztp.TensorFactorization.load(tmp_path / "run", n_jobs=1)
    assert loaded.predict_proba(planted.X).tolist() == model.predict_proba(planted.X).tolist()
    assert loaded.dirichlet["mode1"] == 0.2 and loaded.rank == 2 and loaded.random_state == 3
    assert loaded.n_features_in_ == 3 and not hasattr(loaded, "feature_names_in_")
    again = clone(loaded).set_params(out=None).fit(planted.X)
    assert again.predict_proba(planted.X).tolist() == model.predict_proba(planted.X).tolist()
    frame = pd.DataFrame(planted.X, columns=["a", "b", "c"])
    tiny(out=tmp_path / "named").fit(frame)
    assert list(ztp.TensorFactorization.load(tmp_path / "named").feature_names_in_) == ["a", "b", "c"]


@pytest.fixture(scope="module")
def cells(planted: ztp.Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Ones and as many zeros."""
    rng = np.random.default_rng(2)
    X = np.unique(np.concatenate([planted.X[:300], rng.integers(0, (30, 25, 20), (300, 3))]), axis=0)
    ones = {tuple(row) for row in planted.X.tolist()}
    order = rng.permutation(len(X))
    return X[order], np.array([tuple(row) in ones for row in X[order].tolist()], dtype=int)


def test_grid_search_and_cross_validation(cells: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = cells
    # (each part has all entities of the modes: labels= would say so otherwise)
    folds = PredefinedSplit(np.arange(len(X)) % 2)
    grid = {"rank": [1, 4]}
    entities = {0: 30, 1: 25, 2: 20}
    search = GridSearchCV(tiny(sweeps=40), grid, cv=folds).fit(X, y, labels=entities)
    assert set(search.cv_results_["param_rank"]) == {1, 4}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.score(X, y) > 0.7
    scores = cross_val_score(tiny(), X, y, cv=folds, params={"labels": entities})
    assert scores.shape == (2,) and ((scores >= 0) & (scores <= 1)).all()

    def area(model: ztp.TensorFactorization, X: np.ndarray, y: np.ndarray) -> float:
        return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))

    assert cross_val_score(tiny(), X, y, cv=folds, params={"labels": entities}, scoring=area) == pytest.approx(scores)


def labelled(X: np.ndarray) -> pd.DataFrame:
    """Columns of text, with one entity that is in one row alone."""
    frame = pd.DataFrame({f"m{k}": [f"{k}-{i}" for i in X[:, k]] for k in range(3)})
    frame.loc[0, "m0"] = "the only one"
    return frame


def test_grid_search_and_cross_validation_of_text(cells: tuple[np.ndarray, np.ndarray]) -> None:
    """Plain columns of text: a fold has entities that the fit of the others has not seen."""
    X, y = labelled(cells[0]), cells[1]
    folds = PredefinedSplit(np.arange(len(X)) % 4)
    for form in (X, pa.Table.from_pandas(X, preserve_index=False), pl.DataFrame(X.to_dict("list"))):
        with pytest.warns(UserWarning, match="have entities that the fit has not seen, such as 'the only one' of m0"):
            search = GridSearchCV(tiny(sweeps=40), {"rank": [1, 4]}, cv=folds, error_score="raise").fit(form, y)
        scores = search.cv_results_["mean_test_score"]
        assert np.isfinite(scores).all() and scores[1] > 0.6
        assert search.predict_proba(X).shape == (len(X), 2)

    def area(model: ztp.TensorFactorization, X: pd.DataFrame, y: np.ndarray) -> float:
        return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))

    with pytest.warns(UserWarning, match="the only one"):
        scores = cross_val_score(tiny(), X, y, cv=folds, error_score="raise")
        assert cross_val_score(tiny(), X, y, cv=folds, scoring=area) == pytest.approx(scores)
    # Ids, too, of which a fit without labels= knows those up to its largest.
    ids = cells[0].copy()
    ids[0, 0] = 40
    with pytest.warns(UserWarning, match="have entities that the fit has not seen, such as 40 of mode1"):
        assert np.isfinite(cross_val_score(tiny(), ids, y, cv=folds, error_score="raise")).all()


def test_an_entity_that_was_not_seen_is_an_average_one(planted: ztp.Simulation) -> None:
    frame = pd.DataFrame(planted.X.astype(str), columns=["a", "b", "c"])
    model = tiny(rank=3, sweeps=40, holdout=0.1).fit(frame)
    a, b, c = (model.posterior_.labels(k) for k in range(3))
    all_of_a = pd.DataFrame({"a": a, "b": b[3], "c": c[4]})
    one = pd.DataFrame({"a": ["nobody", a[0]], "b": b[3], "c": c[4]})
    with pytest.warns(UserWarning, match="^1 of 2 cells have entities that the fit has not seen, such as 'nobody'"):
        found = model.predict(one, intervals=True)
    assert found["rate"][0] == pytest.approx(model.posterior_.rates(all_of_a).mean(), rel=1e-5)
    assert found["a"].tolist() == ["nobody", a[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known = model.predict(one.iloc[1:], intervals=True)
    assert known.iloc[0].tolist() == found.iloc[1].tolist()  # the other cells are as they were
    assert (found["q05"] <= found["q95"]).all() and (found["probability"] > 0).all()
    with pytest.warns(UserWarning, match="such as 99 of a"):
        ids = model.posterior_.predict(np.array([[99, 3, 4]]))
    assert ids["rate"][0] == found["rate"][0] and ids["a"][0] == 99
    for refuses in (model.transform, model.posterior_.explain, lambda X: model.evaluate(X, [0, 1])):
        with pytest.raises(ValueError, match="row 0, column a: 'nobody' is not an entity of the mode a"):
            refuses(one)


def test_rivals_and_own_columns_know_no_average_entity(planted: ztp.Simulation) -> None:
    frame = pd.DataFrame(planted.X.astype(str), columns=["a", "b", "c"])
    rival = tiny(model="logistic").fit(frame)
    own = tiny(rank=20, columns={"a": 3, "b": 3, "c": "own"}).fit(frame)
    cell = frame.iloc[:1]
    for model, mode in ((rival, "a"), (own, "c")):
        with pytest.raises(ValueError, match=f"row 0, column {mode}: 'nobody' is not an entity"):
            model.predict_proba(cell.assign(**{mode: "nobody"}))
        with pytest.raises(ValueError, match=f"of mode {mode}, which has"):
            model.posterior_.predict([[99 if name == mode else 0 for name in "abc"]])
    with pytest.warns(UserWarning, match="such as 'nobody' of a"):
        own.predict_proba(cell.assign(a="nobody"))


def test_pipeline(cells: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = cells
    pipeline = make_pipeline(tiny(rank=4, sweeps=40), LogisticRegression(C=1e6)).fit(X, y)
    assert pipeline.score(X, y) > 0.6
    model = tiny(rank=4).set_output(transform="pandas").fit(X, y)
    assert list(model.transform(X).columns) == ["component1", "component2", "component3", "component4"]


def test_transform_of_cells_and_modes(planted: ztp.Simulation) -> None:
    model = tiny(rank=3, sweeps=20).fit(planted.X)
    assert model.transform("mode2").shape == (25, 3) and model.transform(np.int64(2)).shape == (20, 3)
    assert model.transform(0).sum(axis=0) == pytest.approx(1, abs=1e-5)
    parts = model.transform(planted.X[:7])
    row = planted.X[5]
    expected = model.weights_ * np.prod([model.factors_[k][row[k]] for k in range(3)], axis=0)
    assert parts[5] == pytest.approx(expected)
    with pytest.raises(ValueError, match="no mode 'user'"):
        model.transform("user")


def test_not_fitted(planted: ztp.Simulation) -> None:
    model, X = tiny(), planted.X
    calls = [
        lambda: model.predict(X),
        lambda: model.predict_proba(X),
        lambda: model.score(X, np.ones(len(X))),
        lambda: model.transform(X),
        lambda: model.transform(0),
        lambda: model.get_feature_names_out(),
        lambda: model.components(),
        lambda: model.top_entities(0),
        lambda: model.recommend({0: 0}),
        lambda: model.to_arviz(),
        lambda: model.resume(),
        lambda: model.weights_,
        lambda: model.factors_,
        lambda: model.classes_,
    ]
    for call in calls:
        with pytest.raises(NotFittedError):
            call()


def test_random_state(planted: ztp.Simulation) -> None:
    def numbers(seed: Any) -> list[float]:
        return tiny(random_state=seed).fit(planted.X).weights_.tolist()

    assert numbers(4) == numbers(np.int32(4)) != numbers(5)
    assert numbers(np.random.RandomState(3)) == numbers(np.random.RandomState(3))
    assert numbers(None) != numbers(None)  # equal with probability 2^-31
    for wrong in (-1, 1.5, "seven", np.random.default_rng(1)):
        with pytest.raises(ValueError):
            numbers(wrong)


def test_n_jobs(planted: ztp.Simulation) -> None:
    one, two, all_but_one, none = (tiny(n_jobs=n).fit(planted.X).weights_.tolist() for n in (1, 2, -2, None))
    assert one == two == all_but_one == none
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(ValueError, match="n_jobs is"):
            tiny(n_jobs=wrong).fit(planted.X)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rank": 0},
        {"rank": 2.5},
        {"rank": "two"},
        {"sweeps": None},
        {"sweeps": -1},
        {"chains": 0},
        {"rank": float("nan")},
        {"rank": [2]},
        {"rank": len},
        {"method": "fast"},
        {"kappa": 7.0},
        {"dirichlet": "much"},
        {"dirichlet": {"mode9": 0.1}},
        {"dirichlet": {"mode1": -1}},
        {"checkpoint": "soon"},
        {"burn_in": 10},
    ],
    ids=str,
)
def test_wrong_options(wrong: dict[str, Any], planted: ztp.Simulation) -> None:
    with pytest.raises(ValueError) as caught:
        tiny(**wrong).fit(planted.X)
    assert "--" not in str(caught.value)


# Copies


def copies_of(model: ztp.TensorFactorization, folder: Path) -> list[ztp.TensorFactorization]:
    joblib.dump(model, folder / "model.joblib")
    loaded = joblib.load(folder / "model.joblib")
    return [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model), loaded]


@pytest.mark.parametrize("named", [False, True])
def test_pickle(named: bool, planted: ztp.Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = tiny(out="run" if named else None).fit(planted.X)
    numbers = model.predict_proba(planted.X).tolist()
    (tmp_path / "elsewhere").mkdir()
    copies = copies_of(model, tmp_path)
    monkeypatch.chdir(tmp_path / "elsewhere")  # a path that is not absolute stays what it was
    del model
    gc.collect()
    for copied in copies:
        assert copied.predict_proba(planted.X).tolist() == numbers
        assert copied.posterior_.diagnose().verdict
        copied.partial_fit(np.array([[0, 0, 25]]))
        assert copied.posterior_.shape == (30, 25, 26)
        if named:
            break


def test_a_pickle_is_no_larger_than_what_answers_need() -> None:
    """Although it also has the checkpoints of chains, for partial_fit."""
    X = ztp.simulate((500, 400, 50), 10_000, rank=10).X
    model = tiny(rank=50, draws=20, holdout=0.1).fit(X)
    sizes = {name: os.path.getsize(os.path.join(model.run_dir_, name)) for name in os.listdir(model.run_dir_)}
    needed = sum(size for name, size in sizes.items() if not name.startswith("chain-"))
    assert sizes["chain-1.bin"] > 1e5
    assert len(pickle.dumps(model)) <= needed < sum(sizes.values())


def test_pickle_of_a_run_that_is_gone(planted: ztp.Simulation, tmp_path: Path) -> None:
    text = pickle.dumps(tiny(out=tmp_path / "run").fit(planted.X))
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(FileNotFoundError, match="does not exist any more"):
        pickle.loads(text)


def test_pickle_before_fit() -> None:
    assert pickle.loads(pickle.dumps(tiny(rank=7))).rank == 7


@pytest.mark.parametrize("named", [False, True])
def test_processes(named: bool, planted: ztp.Simulation, tmp_path: Path) -> None:
    model = tiny(out=tmp_path / "run" if named else None).fit(planted.X)
    halves = np.array_split(planted.X, 2)
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(model.predict_proba)(half) for half in halves)
    assert np.concatenate(parts).tolist() == model.predict_proba(planted.X).tolist()


# Directories and refits


def test_temporary_directory_goes(planted: ztp.Simulation) -> None:
    model = tiny().fit(planted.X)
    first = model.run_dir_
    model.fit(planted.X)
    second = model.run_dir_
    assert first != second and not os.path.exists(os.path.dirname(first))
    posterior = model.posterior_
    del model
    assert os.path.exists(second)  # there is one who still needs it
    assert posterior.diagnose().verdict and len(posterior.trace())
    del posterior
    assert not os.path.exists(os.path.dirname(second))


def test_named_directory_stays(planted: ztp.Simulation, tmp_path: Path) -> None:
    model = tiny(out=tmp_path / "run").fit(planted.X)
    with pytest.raises((ValueError, OSError), match="run"):
        model.fit(planted.X)
    assert model.predict(planted.X).shape == (len(planted.X),)  # the fit that was
    model.set_params(force=True, rank=3).fit(planted.X)
    assert model.weights_.shape == (3,)
    del model
    assert ztp.Posterior(tmp_path / "run").rank == 3


def test_fit_that_fails_leaves_the_model(planted: ztp.Simulation) -> None:
    frame = pd.DataFrame({"user": ["a", "b"], "film": ["x", "y"]})
    model = tiny().fit(frame)
    before = model.predict_proba(frame).tolist()
    for wrong in (np.array([[-1, 0, 0]]), planted.X[:0], pd.DataFrame({"x": ["a", None], "y": ["b", "c"]})):
        with pytest.raises(ValueError):
            model.fit(wrong)
        assert model.predict_proba(frame).tolist() == before
        assert list(model.feature_names_in_) == ["user", "film"] and model.n_features_in_ == 2
    model.fit(planted.X)
    assert model.n_features_in_ == 3 and not hasattr(model, "feature_names_in_")
