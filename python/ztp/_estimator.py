"""The model in scikit-learn's manner."""

from __future__ import annotations

import json
import os
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from . import _core
from ._fresh import arrays_of, fresh_arrays, reading_of
from ._input import Mode, is_frame, is_tensor
from ._posterior import Posterior, threads
from ._progress import Progress, logger

# scikit-learn's names for two of the options.
_SKLEARN_NAMES = {"seed": "random_state", "threads": "n_jobs"}


def _dirichlet(value: Any) -> list[str]:
    """A number for all modes, or a dict with one for some of them."""
    if isinstance(value, Mapping):
        return [f"{mode}={number!r}" for mode, number in value.items()]
    return [str(value)]


class TensorFactorization(TransformerMixin, BaseEstimator):
    # The docstring is put together below, from the library's list of options.

    def __init__(
        self,
        rank: int = 20,
        *,
        method: str = "batch",
        model: str = "ztp",
        likelihood: str = "binary",
        sweeps: int = 1000,
        burn_in: int | None = None,
        keep_every: int | None = None,
        draws: int = 100,
        chains: int = 1,
        sampler: str = "auto",
        start: str = "allocation",
        learn: str = "",
        minibatch: int | None = None,
        kappa: float = 0.5,
        t0: float = 0,
        latent: str = "auto",
        parameters: str = "auto",
        inner_draws: int = 1,
        dirichlet: float | Mapping[str, float] = 0.1,
        gamma_shape: float = 0.1,
        beta_concentration: float = 1,
        beta_mean: float | None = None,
        network_gamma_shape: float = 0.1,
        network_beta_concentration: float = 1,
        network_beta_mean: float | None = None,
        holdout: float = 0,
        zeros_per_one: int = 5,
        test: str = "",
        holdout_as: str = "zero",
        checkpoint: str = "10m",
        memory: str = "",
        kernel: str = "cpu",
        zeros: str = "auto",
        ridge: float = 1,
        blocks: int = 4096,
        random_state: int | np.random.RandomState | None = 1,
        n_jobs: int | None = -1,
        run_dir: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        progress: bool | None = None,
    ) -> None:
        self.rank = rank
        self.method = method
        self.model = model
        self.likelihood = likelihood
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.keep_every = keep_every
        self.draws = draws
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
        self.run_dir = run_dir
        self.overwrite = overwrite
        self.progress = progress

    # Fitting

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        networks: Mapping[Mode, Any] | None = None,
        missing: Any = None,
        missing_entities: Mapping[Mode, Any] | None = None,
        missing_pairs: Mapping[Mode, Any] | None = None,
        entities: Mapping[Mode, Any] | None = None,
        reading: Mapping[str, Any] | None = None,
    ) -> TensorFactorization:
        """Fits the model to the ones of a tensor.

        Parameters
        ----------
        X : array, frame, sparse matrix or array, or path
            The ones. A table with a row for each one and a column for each mode: an array of whole numbers has ids,
            counted from 0, a pandas or polars frame (or an array of text) has labels. Or the tensor itself: a
            scipy.sparse matrix, or a COO array of pydata/sparse. Or a file that the command line reads. The columns'
            names are the modes'. A categorical column of pandas has all entities of its mode, in order.
        y : array, optional
            The value of each row: 0 is no one (as is every cell that is not given), everything else is; with
            likelihood="count", the count.
        networks : dict, optional
            For a mode (by name or position) its network: pairs of entities as a table of two columns, an adjacency
            matrix of scipy.sparse, or, where X is a file, a file. A list has several of them.
        missing : like X, optional
            Cells that were not observed: neither ones nor zeros. Test cells, for example.
        missing_entities : dict, optional
            For a mode the entities none of whose cells was observed.
        missing_pairs : dict, optional
            For a mode the pairs of its network that were not observed.
        entities : dict, optional
            For a mode all its entities, where some have no ones: labels, or of ids their number.
        reading : dict, optional
            Where X is a file, how it is read: format, values, index_base, labels, as of the command line.

        Returns
        -------
        self
        """
        options = self._options()
        # (whether there are networks is known only now; what has no effect is refused before anything is read)
        _core.check_options(options, bool(networks))
        own = None if self.run_dir is not None else tempfile.TemporaryDirectory(prefix="ztp-")
        run_dir = os.path.join(own.name, "run") if own is not None else os.fspath(self.run_dir)  # type: ignore[arg-type]
        _core.check_run_dir(run_dir, self.overwrite)
        if isinstance(X, (str, os.PathLike)):
            data = _core.read_data(reading_of(X, networks, missing, missing_entities, missing_pairs, reading), options)
        else:
            if reading:
                raise ValueError("reading says how a file is read, and X is none")
            X = self._checked(X, reset=True)
            data = _core.make_data(
                arrays_of(X, y, networks, missing, missing_entities, missing_pairs, entities, self._counts()),
                self._counts(),
            )
        for warning in data.warnings:
            logger.warning(warning)
        names = data.mode_names
        self.n_features_in_ = len(names)
        self._forget()
        self._own_dir, self.run_dir_ = own, run_dir
        self._sample(lambda listener: _core.fit(data, options, run_dir, listener, self.overwrite), self.chains, self.sweeps)
        return self

    def resume(self, sweeps: int | None = None) -> TensorFactorization:
        """Goes on with a fit that was interrupted, to the same draws as without that; or with more sweeps of each chain
        than before, if so many are asked for."""
        if not hasattr(self, "run_dir_"):
            raise NotFittedError("there is no fit to go on with: call fit first")
        run_dir, asked = self.run_dir_, json.loads(_core.run_info_json(self.run_dir_))["options"]
        self.__dict__.pop("posterior_", None)
        self._sample(
            lambda listener: _core.resume(run_dir, listener, sweeps or 0, threads(self.n_jobs)),
            asked["chains"],
            max(sweeps or 0, asked["sweeps"]),
        )
        return self

    def partial_fit(
        self,
        X: Any = None,
        y: Any = None,
        *,
        networks: Mapping[Mode, Any] | None = None,
        sweeps: int = 65,
        draws: int = 100,
        minibatch: int | None = None,
        **first: Any,
    ) -> TensorFactorization:
        """Takes in new ones (and new edges of the networks) without a look at the old data, as ``ztp update`` does.

        Entities that the model does not know yet become new ones. The first call fits: what fit takes, as `missing`, can
        be given then. `sweeps` is how often the new data are looked at, `draws` how many draws are kept, `minibatch` how
        many ones are taken in together at first (a tenth of them). Where nothing is new the model stays as it is, with a
        warning.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, networks=networks, **first)
        if first:
            raise ValueError(f"{', '.join(first)}: only a first call of partial_fit, which fits, takes this")
        posterior = self.posterior_
        if X is not None:
            X = self._checked(X, reset=False)
        counts = posterior.info["options"]["likelihood"] == "count"
        fresh = fresh_arrays(X, y, networks, posterior.mode_names, posterior._labels, counts)
        with Progress(self.progress, posterior.n_chains, sweeps, "ztp.TensorFactorization.partial_fit") as listener:
            self.update_ = _core.update(
                self.run_dir_, fresh, listener, sweeps, draws, -1 if minibatch is None else minibatch, threads(self.n_jobs)
            )
        for warning in self.update_.pop("warnings"):
            logger.warning(warning)
        self.posterior_ = Posterior(self.run_dir_, self.n_jobs)
        return self

    # Answers

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of a zero and of a one, cells x 2: the means over the posterior draws."""
        one = self._fitted().predict_proba(self._checked(X, reset=False))
        return np.column_stack([1 - one, one])

    def predict(self, X: Any, *, intervals: bool = False) -> np.ndarray | pd.DataFrame:
        """Whether each cell is a one (1, if that is more probable than not) or, of counts, the expected count. With
        `intervals`, a frame: the labels, probability, sd, q05, q95 and rate of each cell."""
        posterior = self._fitted()
        X = self._checked(X, reset=False)
        if intervals:
            return posterior.predict(X)
        if self._counts():
            return posterior.predict(X)["rate"].to_numpy()
        return (posterior.predict_proba(X) > 0.5).astype(np.int64)

    def score(self, X: Any, y: Any = None) -> float:
        """The area under the ROC curve of the probabilities of cells, given which of them are ones: where y is not 0."""
        return float(self._fitted().evaluate(self._checked(X, reset=False), y)["auc_roc"])

    def transform(self, X: Any) -> np.ndarray:
        """What the components say of entities or of cells.

        Parameters
        ----------
        X : mode, or cells as of `predict`
            Of a mode (by name or position) the factors, entities x components: each column is a component's
            distribution over the entities (posterior mean; of several chains, the mean after matching their components).
            Of cells the part that each component has in their rates, cells x components, at these posterior means.
        """
        posterior = self._fitted()
        if isinstance(X, (str, int, np.integer)):
            return posterior.factor(X)
        return posterior.parts_of_rates(self._checked(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The columns of `transform`: component1, component2, ..."""
        return np.array([f"component{r + 1}" for r in range(self._fitted().rank)], dtype=object)

    def components(self, top: int = 5) -> pd.DataFrame:
        """A row for each component: see `Posterior.components`."""
        return self._fitted().components(top)

    def top_entities(self, mode: Mode, top: int = 10) -> pd.DataFrame:
        """The entities with the largest part of each component: see `Posterior.top_entities`."""
        return self._fitted().top_entities(mode, top)

    def recommend(self, given: Mapping[Mode, Any], top: int = 10) -> pd.DataFrame:
        """The most probable cells that are not known ones: see `Posterior.recommend`."""
        return self._fitted().recommend(given, top)

    def to_arviz(self, **how: Any) -> Any:
        """The draws as arviz.InferenceData: see `Posterior.to_arviz`."""
        return self._fitted().to_arviz(**how)

    @property
    def classes_(self) -> np.ndarray:
        """What predict_proba has probabilities of."""
        self._fitted()
        return np.array([0, 1])

    @property
    def weights_(self) -> np.ndarray:
        """The components' weights: how many counts are expected of each (posterior means)."""
        return self._fitted().weights()

    @property
    def factors_(self) -> list[np.ndarray]:
        """`transform` of each mode."""
        posterior = self._fitted()
        return [posterior.factor(k) for k in range(len(posterior.mode_names))]

    @classmethod
    def load(cls, run_dir: str | os.PathLike[str], n_jobs: int | None = -1) -> TensorFactorization:
        """The model of a run directory, as the command line or `fit` with run_dir made it."""
        posterior = Posterior(run_dir, n_jobs)
        options = dict(posterior.info["options"])
        options["random_state"], options["n_jobs"] = options.pop("seed"), n_jobs
        del options["threads"]
        options["dirichlet"] = _dirichlet_of(options["dirichlet"])
        model = cls(**options, run_dir=os.fspath(run_dir))
        model.n_features_in_ = len(posterior.mode_names)
        model.run_dir_, model._own_dir, model.posterior_ = os.fspath(run_dir), None, posterior
        return model

    # Inside

    def _counts(self) -> bool:
        return self.likelihood == "count"

    def _options(self) -> str:
        """As in options.json of a run. What is None follows from the rest."""
        options: dict[str, Any] = {}
        for field in _core.option_fields():
            name = field["name"]
            value = getattr(self, _SKLEARN_NAMES.get(name, name))
            if name == "seed":
                value = _seed(value)
            elif name == "threads":
                value = threads(value)
            elif name == "dirichlet":
                value = _dirichlet(value)
            elif isinstance(value, np.generic):
                value = value.item()
            elif isinstance(value, os.PathLike):
                value = os.fspath(value)
            if value is not None:
                options[name] = value
        return json.dumps(options)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """X, if scikit-learn finds its shape and names in order."""
        if is_tensor(X):
            return X
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return validate_data(self, X, reset=reset, dtype=None, ensure_min_features=2 if reset else 1)

    def _sample(self, run: Any, chains: int, sweeps: int) -> None:
        with Progress(self.progress, chains, sweeps, "ztp.TensorFactorization") as listener:
            try:
                run(listener)
            except KeyboardInterrupt:
                logger.warning("interrupted; everything so far is in %s, and resume() goes on", self.run_dir_)
                raise
        self.posterior_ = Posterior(self.run_dir_, self.n_jobs)

    def _forget(self) -> None:
        for name in ("posterior_", "update_", "run_dir_", "_own_dir"):
            self.__dict__.pop(name, None)

    def _fitted(self) -> Posterior:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet: call fit first")
        return self.posterior_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "posterior_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # (not tags.input_tags.sparse: that says that a table may come as a sparse one, and here it is the tensor itself)
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = False
        return tags

    # A pickle has the parameters and the run directory: where that is one of its own, its files as they are, each under
    # its name; where it was named by run_dir, its path.

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("posterior_", None)
        own = state.pop("_own_dir", None)
        if own is not None:
            state["run_files"] = _files_of(state.pop("run_dir_"))
        elif "run_dir_" in state:
            state["run_dir_"] = os.path.abspath(state["run_dir_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        files = state.pop("run_files", None)
        super().__setstate__(state)
        if files is not None:
            self._own_dir = tempfile.TemporaryDirectory(prefix="ztp-")
            self.run_dir_ = os.path.join(self._own_dir.name, "run")
            _write_files(self.run_dir_, files)
        elif "run_dir_" in state:
            self._own_dir = None
        if hasattr(self, "run_dir_"):
            if not os.path.isdir(self.run_dir_):
                raise FileNotFoundError(f"the pickled model's run directory {self.run_dir_} is not there any more")
            self.posterior_ = Posterior(self.run_dir_, self.n_jobs)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _dirichlet_of(texts: Sequence[str]) -> float | dict[str, float]:
    """From options.json back to the parameter."""
    if len(texts) == 1 and "=" not in texts[0]:
        return float(texts[0])
    return {mode: float(number) for mode, _, number in (text.rpartition("=") for text in texts)}


def _files_of(directory: str) -> dict[str, bytes]:
    files = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                files[os.path.relpath(path, directory)] = file.read()
    return files


def _write_files(directory: str, files: Mapping[str, bytes]) -> None:
    for name, contents in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(contents)


def _parameter_text() -> str:
    """The parameters for the docstring, from the library's list of options."""
    lines = []
    for field in _core.option_fields():
        name = _SKLEARN_NAMES.get(field["name"], field["name"])
        default = field["default_text"] or f"{field['default']!r}"
        lines.append(f"{name} : default {default}\n" + textwrap.indent(textwrap.fill(field["help"], 110), "    "))
    return "\n".join(lines)


TensorFactorization.__doc__ = f"""Bayesian factorization of a sparse binary tensor.

Each cell is a thresholded Poisson count whose rate is a sum of components; Gibbs sampling (batch) or conditional density
filtering (online) finds non-negative factors, the number of components and calibrated probabilities with uncertainty. The
cost grows with the number of ones, not with the number of cells.

Parameters
----------
{_parameter_text()}
run_dir : path, default None
    The run directory to make, which the command line reads as well. Without it there is a temporary one, which goes when
    the model goes.
overwrite : bool, default False
    Whether fit may replace a run directory that is there.
progress : bool, default None
    Whether there is a progress bar; None: in a terminal or a notebook.

The help of the options is that of the command line: there --burn-in is burn_in, --seed is random_state, which may also be
None (another seed each time) or a numpy RandomState, and --threads is n_jobs, as scikit-learn has it: -1 is all cores. The
draws do not depend on n_jobs. dirichlet is a number, or a dict with one for each mode.

Attributes
----------
posterior_ : Posterior
    The draws, and everything that can be asked of them.
run_dir_ : str
    Where they are.
weights_ : array
    Expected counts of the components.
factors_ : list of arrays
    For each mode, entities x components.
n_features_in_ : int
    The number of modes.
feature_names_in_ : array
    The modes, where X had names for them.
classes_ : array
    0 and 1.
update_ : dict
    What was new in the last partial_fit: ones, edges, entities.

Examples
--------
>>> import ztp
>>> world = ztp.simulate((30, 20, 10), 500, rank=3)
>>> model = ztp.TensorFactorization(rank=5, sweeps=100).fit(world.X)
>>> model.predict_proba(world.X[:2]).shape
(2, 2)
"""
