"""Keywords that do not exist: an error with the one that is probably meant."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import ztp
import ztp.datasets
from ztp import _keywords

X = np.array([[0, 2, 1], [3, 0, 0], [1, 1, 1], [3, 2, 0], [2, 0, 1]])
TINY: dict[str, Any] = {"rank": 2, "sweeps": 10, "draws": 5, "chains": 2, "n_jobs": 1}


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("n_components", "rank"),
        ("n_factors", "rank"),
        ("ranks", "rank"),
        ("n_iter", "sweeps"),
        ("max_iter", "sweeps"),
        ("num_samples", "sweeps"),
        ("epochs", "sweeps"),
        ("sweps", "sweeps"),
        ("n_chains", "chains"),
        ("num_chains", "chains"),
        ("burnin", "burn_in"),
        ("warmup", "burn_in"),
        ("thin", "keep_every"),
        ("seed", "random_state"),
        ("threads", "n_jobs"),
        ("batch_size", "minibatch"),
        ("verbose", "progress"),
        ("test_size", "holdout"),
        ("run_dir", "out"),
        ("overwrite", "force"),
    ],
)
def test_the_constructor(word: str, meant: str) -> None:
    with pytest.raises(TypeError) as caught:
        ztp.TensorFactorization(**{word: 1})
    assert str(caught.value) == f"TensorFactorization() has no keyword {word!r}; did you mean {meant!r}?"
    with pytest.raises(ValueError, match=f"Invalid parameter {word!r} .*; did you mean {meant!r}"):
        ztp.TensorFactorization().set_params(**{word: 1})


def test_keywords_of_fit() -> None:
    model = ztp.TensorFactorization(**TINY)

    def message(call: Any, **keywords: Any) -> str:
        with pytest.raises(TypeError) as caught:
            call(**keywords)
        return str(caught.value)

    assert message(model.fit, X=X, networks={}) == "fit() has no keyword 'networks'; did you mean 'network'?"
    assert message(model.fit, X=X, missing_entities={}).endswith("did you mean 'missing_slices'?")
    assert message(model.fit, X=X, entities={}).endswith("did you mean 'labels'?")
    words = message(model.fit, X=X, reading={})
    assert words.endswith("did you mean 'labels' or 'values' or 'format' or 'index_base'?")
    assert message(model.fit, X=X, rank=3) == "fit() has no keyword 'rank'; it is a keyword of TensorFactorization()"
    assert message(model.fit, X=X, n_components=3) == (
        "fit() has no keyword 'n_components'; did you mean 'rank', a keyword of TensorFactorization()?"
    )
    assert message(ztp.TensorFactorization, network={}) == (
        "TensorFactorization() has no keyword 'network'; it is a keyword of fit()"
    )
    assert message(model.fit, X=X, zzz=1).startswith("fit() has no keyword 'zzz'; it has X, y, network, missing, ")
    assert message(model.fit_transform, X=X, networks={}).endswith("did you mean 'network'?")
    for fitted in (False, True):
        assert message(model.partial_fit, X=X, networks={}).endswith("did you mean 'network'?"), fitted
        assert message(model.partial_fit, X=X, missing_entities={}).endswith("did you mean 'missing_slices'?")
        model.fit(X)
    with pytest.raises(ValueError, match="missing: only the first call of partial_fit"):
        model.partial_fit(X, missing=X[:1])


def test_keywords_of_everything_else() -> None:
    posterior = ztp.TensorFactorization(**TINY).fit(X).posterior_
    model = ztp.TensorFactorization(**TINY).fit(X)
    for call, word, meant in [
        (lambda **how: model.recommend({0: 1}, **how), "n", "top"),
        (lambda **how: posterior.recommend({0: 1}, **how), "top_k", "top"),
        (lambda **how: model.predict(X, **how), "return_std", "intervals"),
        (lambda **how: model.report(**how), "file", "out"),
        (lambda **how: posterior.components(**how), "chains", "chain"),
        (lambda **how: ztp.Posterior(posterior.run_dir, **how), "threads", "n_jobs"),
        (lambda **how: ztp.TensorFactorization.load(posterior.run_dir, **how), "threads", "n_jobs"),
        (lambda **how: ztp.split(X, **how), "test_size", "holdout"),
        (lambda **how: ztp.simulate((3, 3), 4, **how), "seed", "random_state"),
        (lambda **how: ztp.datasets.fetch_umls(**how), "data_hom", "data_home"),
    ]:
        with pytest.raises(TypeError, match=f"{word!r}; did you mean {meant!r}"):
            call(**{word: 1})


def test_every_public_function_suggests() -> None:
    """Also those that come later."""
    functions = [getattr(ztp, name) for name in ztp.__all__] + [
        getattr(ztp.datasets, name) for name in ztp.datasets.__all__
    ]
    for kind in (ztp.TensorFactorization, ztp.Posterior):
        functions += [getattr(kind, name) for name in dir(kind) if not name.startswith("_")]
    checked = 0
    for function in functions:
        if not inspect.isroutine(function) or not getattr(function, "__module__", "").startswith("ztp"):
            continue
        if any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values()):
            continue
        checked += 1
        with pytest.raises(TypeError, match="has no keyword 'no_such_keyword'"):
            function(no_such_keyword=1)
    assert checked > 40


def test_what_is_suggested_exists() -> None:
    functions = [ztp.TensorFactorization.__init__, ztp.TensorFactorization.fit, ztp.TensorFactorization.predict]
    functions += [ztp.Posterior.recommend, ztp.simulate]
    known = {name for function in functions for name in _keywords.keywords_of(function)}
    assert set(_keywords._ALSO_CALLED) <= known
    for name, words in _keywords._ALSO_CALLED.items():
        assert name not in words.split()
        assert not set(words.split()) & set(_keywords.keywords_of(ztp.TensorFactorization.__init__)), name


def test_scikit_learn_sees_the_constructor_as_it_is() -> None:
    model = ztp.TensorFactorization(**TINY)
    assert clone(model).get_params() == model.get_params() == pickle.loads(pickle.dumps(model)).get_params()
    assert list(inspect.signature(ztp.TensorFactorization).parameters)[:2] == ["rank", "method"]
    with pytest.raises(ValueError, match="Invalid parameter 'n_components' .* did you mean 'rank'"):
        GridSearchCV(model, {"n_components": [1, 2]}, cv=2, error_score="raise").fit(X, np.array([1, 0, 1, 1, 1]))
