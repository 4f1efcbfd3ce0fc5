"""The parameters of the estimator: the options of the library, with the conventions of scikit-learn."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from . import _core
from ._arrow import is_arrow_file
from ._keywords import keywords_of, near
from ._run import threads

# scikit-learn's names for two of the options. All others are called as on the command line.
SKLEARN_NAMES = {"seed": "random_state", "threads": "n_jobs"}

# Options with a value for each mode: one for all of them, or a dict.
BY_MODE = ("columns", "tie", "dirichlet")


class Parameters(BaseEstimator):
    """The constructor of the estimator. A test compares it with the library's list of options."""

    def __init__(
        self,
        rank: int | str | None = "auto",
        *,
        method: str = "batch",
        model: str = "ztp",
        likelihood: str = "binary",
        columns: int | str | Mapping[str, int | str] | None = None,
        tie: Mapping[str, str] | None = None,
        self_cells: str = "auto",
        sweeps: int = 500,
        burn_in: int | None = None,
        keep_every: int | None = None,
        draws: int | None = None,
        until: str = "sweeps",
        at_most: str = "1h",
        chains: int | None = None,
        sampler: str = "auto",
        start: str = "allocation",
        learn: str | None = None,
        minibatch: int | None = None,
        kappa: float = 0.5,
        t0: float = 0,
        latent: str = "auto",
        parameters: str = "auto",
        inner_draws: int = 1,
        dirichlet: float | Mapping[str, float] | None = None,
        gamma_shape: float = 0.1,
        beta_concentration: float = 1,
        beta_mean: float | None = None,
        network_gamma_shape: float = 0.1,
        network_beta_concentration: float = 1,
        network_beta_mean: float | None = None,
        holdout: float = 0,
        zeros_per_one: int = 5,
        test: str | None = None,
        holdout_as: str = "missing",
        checkpoint: str = "10m",
        memory: str | None = None,
        kernel: str = "auto",
        zeros: str = "auto",
        ridge: float = 1,
        blocks: int = 4096,
        random_state: int | np.random.RandomState | None = 1,
        n_jobs: int | None = -1,
        out: str | os.PathLike[str] | None = None,
        force: bool = False,
        progress: bool | None = None,
    ) -> None:
        self.rank = rank
        self.method = method
        self.model = model
        self.likelihood = likelihood
        self.columns = columns
        self.tie = tie
        self.self_cells = self_cells
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.keep_every = keep_every
        self.draws = draws
        self.until = until
        self.at_most = at_most
        self.chains = chains
        self.sampler = sampler
        self.start = start
        self.learn = learn
        self.minibatch = minibatch
        self.kappa = kappa
        self.t0 = t0
        self.latent = latent
        self.parameters = parameters
        self.inner_draws = inner_draws
        self.dirichlet = dirichlet
        self.gamma_shape = gamma_shape
        self.beta_concentration = beta_concentration
        self.beta_mean = beta_mean
        self.network_gamma_shape = network_gamma_shape
        self.network_beta_concentration = network_beta_concentration
        self.network_beta_mean = network_beta_mean
        self.holdout = holdout
        self.zeros_per_one = zeros_per_one
        self.test = test
        self.holdout_as = holdout_as
        self.checkpoint = checkpoint
        self.memory = memory
        self.kernel = kernel
        self.zeros = zeros
        self.ridge = ridge
        self.blocks = blocks
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.out = out
        self.force = force
        self.progress = progress

    def set_params(self, **params: Any) -> Parameters:
        """As of all estimators of scikit-learn; a parameter that does not exist is an error with a suggestion."""
        known = keywords_of(type(self).__init__)
        for word in params.keys() - set(known):
            text = near(word, known) or f"there are {', '.join(known)}"
            raise ValueError(f"Invalid parameter {word!r} for estimator {type(self).__name__}; {text}")
        super().set_params(**params)
        return self


def _by_mode(value: Any) -> list[str] | None:
    """A value for all modes, or a dict with one for some of them."""
    if isinstance(value, Mapping):
        return [f"{mode}={of_mode}" for mode, of_mode in value.items()]
    return None if value is None else [str(value)]


def options_json(model: Any) -> str:
    """The parameters of a model, in the format of options.json. None: the default follows from the other options."""
    options: dict[str, Any] = {}
    for field in _core.option_fields():
        name = field["name"]
        value = getattr(model, SKLEARN_NAMES.get(name, name))
        if name == "seed":
            value = seed_of(value)
        elif name == "threads":
            value = 0 if value == -1 else threads(value)  # 0: the default of ztp fit
        elif name in BY_MODE:
            value = _by_mode(value)
        elif field["default_text"] == "auto" and value == "auto":
            value = None
        elif isinstance(value, np.generic):
            value = value.item()
        elif isinstance(value, os.PathLike):
            value = os.fspath(value)
        if name == "test" and is_arrow_file(value):
            raise ValueError("test is a Parquet or Arrow file, and must be a text file; or give the file to evaluate()")
        if value is not None:
            options[name] = value
        elif field["default"] not in (-1, "", []):
            raise ValueError(f"{name} is None; expected a value, such as {field['default']}")
    return json.dumps(options, default=_refuse)


def _refuse(value: Any) -> None:
    raise ValueError(f"a parameter is {value!r}: expected a number or text")


def parameters_of(options: Mapping[str, Any], n_jobs: int | None) -> dict[str, Any]:
    """From options.json of a run back to parameters."""
    parameters = {SKLEARN_NAMES.get(n, n): None if value == "" else value for n, value in options.items()}
    by_mode = {name: _from_texts(options[name]) for name in BY_MODE if name in options}
    return parameters | {"n_jobs": n_jobs} | by_mode


def seed_of(random_state: Any) -> int:
    """scikit-learn's random_state: a number, None for another one each time, or a RandomState."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _from_texts(texts: Sequence[str]) -> Any:
    """From options.json back to the parameter."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return _number_or_text(texts[0])
    return {mode: _number_or_text(value) for mode, _, value in (text.rpartition("=") for text in texts)}


def _number_or_text(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _parameter_text() -> str:
    """The parameters for the docstring, from the library's list of options."""
    lines = []
    for field in _core.option_fields():
        name = SKLEARN_NAMES.get(field["name"], field["name"])
        default = field["default_text"] or ("none" if field["default"] in ("", []) else f"{field['default']!r}")
        lines.append(f"{name} : default {default}\n" + textwrap.indent(textwrap.fill(field["help"], 110), "    "))
    return "\n".join(lines)


DOCSTRING = f"""Bayesian factorization of a sparse binary tensor.

Each cell is a thresholded Poisson count whose rate is a sum of components. Gibbs sampling (batch) or conditional
density filtering (online) infers non-negative factors, the number of components, and probabilities with uncertainty.
The cost grows with the number of ones, not with the number of cells.

Parameters
----------
{_parameter_text()}
out : path, default None
    The run directory to create, which the command line can read, too. Without it there is a temporary one, which is
    removed together with the model.
force : bool, default False
    Whether fit may replace an existing run directory.
progress : bool, default None
    Whether to show a progress bar. None: only in a terminal or a notebook.

These texts are those of the command line, where burn_in is --burn-in, and so on. Two parameters have the names that
scikit-learn gives them: random_state is --seed, and may also be None (a different seed each time) or a numpy
RandomState; n_jobs is --threads, -1 means all cores, and the draws do not depend on it. dirichlet is a number, or a
dict with one for each mode.

Attributes
----------
posterior_ : Posterior
    The draws, and all questions that they answer.
run_dir_ : str
    The run directory.
weights_ : array
    Expected counts of the components.
factors_ : list of arrays
    For each mode, entities x components.
n_features_in_ : int
    The number of modes.
feature_names_in_ : array
    The names of the modes, if X had names.
classes_ : array
    0 and 1.
update_ : dict
    What was new in the last partial_fit: ones, edges, new_entities.

Examples
--------
>>> import ztp
>>> world = ztp.simulate((30, 20, 10), 500, rank=3)
>>> model = ztp.TensorFactorization(rank=5, sweeps=100).fit(world.X)
>>> model.predict_proba(world.X[:2]).shape
(2, 2)
"""
