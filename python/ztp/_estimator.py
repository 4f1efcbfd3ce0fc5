"""The model in scikit-learn's manner."""

from __future__ import annotations

import os
from typing import Any, cast

import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array, validate_data

from . import _core
from ._arrow import from_arrow, is_arrow_file
from ._arguments import fit_arrays, read_flags, take_counts, update_arrays
from ._input import ByMode, Mode, default_names, mapping, whole_number
from ._input_types import as_array, is_frame, is_tensor
from ._keywords import keywords_of, methods_suggest, unknown_keyword
from ._parameters import DOCSTRING, Parameters, options_json, parameters_of
from ._posterior import Posterior
from ._progress import Progress, log_warnings, logger
from ._run import Diagnosis, absolute, run_info, threads
from ._temporary_run import TemporaryRun, read_files, write_files


@methods_suggest
class TensorFactorization(TransformerMixin, Parameters):
    # The docstring is set below, from the list of options of the library.
    posterior_: Posterior
    run_dir_: str

    # Fitting

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        network: ByMode | None = None,
        missing: Any = None,
        missing_slices: ByMode | None = None,
        missing_pairs: ByMode | None = None,
        labels: ByMode | str | os.PathLike[str] | None = None,
        format: str | None = None,
        header: bool | None = None,
        values: bool | None = None,
        index_base: int | None = None,
    ) -> TensorFactorization:
        """Fits the model to the ones of a tensor.

        Parameters
        ----------
        X : array, frame, sparse matrix or array, or path
            The ones. A table has one row per observed cell and one column per mode: an array of integers has ids from
            0; a frame of pandas or polars, a table of Arrow (pyarrow, DuckDB and others), or an array of text has
            labels. The column names are the names of the modes. A categorical column lists all entities of its mode, in
            order. X may also be the tensor itself (a scipy.sparse matrix, or a COO array of pydata/sparse), a text file
            that the command line can read, or a Parquet, Arrow or Feather file. What is of Arrow needs the extra arrow:
            ``pip install 'ztp[arrow]'``.
        y : array, optional
            The value of each row, 0 or more. A row with 0 is a zero, like every cell that is not given; any other value
            is a one, or with likelihood="count" the count. With likelihood="count" and without y, a column named count
            has the counts.
        network : dict, optional
            For a mode (by name or position), its network: a table with two columns of entities, an adjacency matrix of
            scipy.sparse, or a file of the same kind as X. A list gives several networks.
        missing : like X, optional
            Cells that were not observed, and so are neither ones nor zeros. Test cells, for example.
        missing_slices : dict, optional
            For a mode, the entities whose cells were not observed.
        missing_pairs : dict, optional
            For a mode, the pairs of its network that were not observed.
        labels : dict, optional
            For a mode, all its entities, if some have no ones: labels, or for ids their number. If X is a text file,
            these are files, too, or all of them are one directory.
        format, header, values, index_base : optional
            How to read X if it is a text file, as on the command line.

        Returns
        -------
        self
        """
        reading = {"format": format, "header": header, "values": values, "index_base": index_base}
        is_text = isinstance(X, (str, os.PathLike)) and not is_arrow_file(X)
        options = options_json(self)
        # (whether there are networks is known only now; what has no effect is refused before anything is read)
        _core.check_options(options, len(mapping(network, "network")) > 0)
        own = TemporaryRun() if self.out is None else None
        run_dir = own.run_dir if self.out is None else absolute(self.out)  # type: ignore[union-attr]
        _core.check_run_dir(run_dir, self.force)
        if is_text:
            if y is not None:
                raise ValueError("X is a text file, so y cannot be given; its last column may have the values")
            data = _core.read_data(
                read_flags(X, network, missing, missing_slices, missing_pairs, labels, reading), options
            )
        else:
            for name, value in reading.items():
                if value is not None:
                    raise ValueError(f"{name} says how to read a text file, and X is not a text file")
            X, y = take_counts(from_arrow(X, "X"), y, self._counts())
            X = self._table(X)
            data = _core.make_data(
                # (a directory of labels, which text files may have, is refused there)
                fit_arrays(X, y, network, missing, missing_slices, missing_pairs, cast(Any, labels), self._counts()),
                self._counts(),
            )
        log_warnings(data.warnings)
        for note in data.notes:
            logger.info("%s", note)
        self._set_feature_names(X, data.mode_names)
        # Here the old fit, if there was one, is given up.
        for name in ("posterior_", "update_"):
            self.__dict__.pop(name, None)
        self._own_dir, self.run_dir_ = own, run_dir
        self._sample(lambda listener: _core.fit(data, options, run_dir, listener, self.force))
        return self

    def resume(self, sweeps: int | None = None) -> TensorFactorization:
        """Continues a fit that was interrupted; the draws are the same as without the interruption. With `sweeps`,
        lengthens a fit to this total number of sweeps for each chain."""
        if not hasattr(self, "run_dir_"):
            raise NotFittedError("there is no fit to continue: call fit first")
        more = 0 if sweeps is None else whole_number(sweeps, "sweeps", 1)
        run_dir = self.run_dir_
        self.__dict__.pop("posterior_", None)
        try:
            self._sample(lambda listener: _core.resume(run_dir, listener, more, threads(self.n_jobs)))
        except BaseException:
            self._open_if_complete()  # it was, and nothing has begun
            raise
        return self

    def partial_fit(
        self,
        X: Any = None,
        y: Any = None,
        *,
        network: ByMode | None = None,
        sweeps: int = 65,
        draws: int = 1000,
        minibatch: int | None = None,
        **first: Any,
    ) -> TensorFactorization:
        """Adds new ones (and new edges of the networks) without reading the old data again, as ``ztp update`` does.

        New entities are added to the model. The first call is a fit: it also takes the other arguments of `fit`, such
        as `missing`. `sweeps` is the number of passes over the new data, `draws` the maximum number of draws to keep,
        and `minibatch` the number of ones per minibatch in the first pass (by default a tenth of them). If nothing is
        new, the model stays as it is, with a warning.
        """
        known = keywords_of(self.fit)
        for word in first.keys() - set(known):
            raise TypeError(unknown_keyword("partial_fit()", word, [*keywords_of(self.partial_fit), *known]))
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, network=network, **first)
        if first:
            raise ValueError(f"{', '.join(first)}: only the first call of partial_fit, which is a fit, takes this")
        sweeps, draws = whole_number(sweeps, "sweeps", 1), whole_number(draws, "draws", 1)
        at_first = -1 if minibatch is None else whole_number(minibatch, "minibatch", 1)
        posterior = self.posterior_
        X, y = take_counts(from_arrow(X, "X"), y, posterior.counts)
        if X is not None:
            X = self._checked(X)
        fresh = update_arrays(X, y, network, posterior.mode_names, posterior._labels, posterior.counts)
        with Progress(self.progress, "ztp.TensorFactorization.partial_fit") as listener:
            self.update_ = _core.update(self.run_dir_, fresh, listener, sweeps, draws, at_first, threads(self.n_jobs))
        log_warnings(self.update_.pop("warnings"))
        self._open()
        return self

    # Answers

    def predict_proba(self, X: Any, *, raw: bool = False, listed: float = 1) -> np.ndarray:
        """Probabilities of a zero and of a one, cells x 2: see `Posterior.predict_proba`."""
        one = self._fitted().predict_proba(self._checked(X), raw=raw, listed=listed)
        return np.column_stack([1 - one, one])

    def predict(self, X: Any, *, intervals: bool = False) -> np.ndarray | pd.DataFrame:
        """Predicts for each cell whether it is a one (1 if its probability is above one half); for counts, the expected
        count. With `intervals`, a frame with the labels, probability, sd, q05, q95 and rate of each cell.

        An entity that the fit has not seen is taken for an average one, with a warning: see
        `Posterior.predict_proba`.
        """
        posterior = self._fitted()
        X = self._checked(X)
        if intervals:
            return posterior.predict(X)
        if posterior.counts:
            return posterior.rates(X)
        return (posterior.predict_proba(X) > 0.5).astype(np.int64)

    def score(self, X: Any, y: Any = None) -> float:
        """The area under the ROC curve of the predicted probabilities. A cell is a one if its `y` is not 0. Cells may
        have entities that the fit has not seen, as in `predict`."""
        posterior, X = self._fitted(), self._checked(X)
        if y is not None and posterior._has_unseen(X):
            from sklearn.metrics import roc_auc_score

            return float(roc_auc_score(np.asarray(y) != 0, posterior.predict_proba(X)))
        return float(posterior.evaluate(X, y)["auc_roc"])

    def transform(self, X: Any) -> np.ndarray:
        """The factors of a mode, or what components contribute to cells.

        Parameters
        ----------
        X : mode, or cells as in `predict`
            For a mode (by name or position), its factors, entities x components. Each column is the distribution of a
            component over the entities: the posterior mean, and for several chains the mean after matching their
            components. If components share columns, entities x columns. For cells, how much each component contributes
            to their rates, cells x components, at these posterior means. If components share columns, use
            `Posterior.explain` instead.
        """
        posterior = self._fitted()
        if isinstance(X, (str, int, np.integer)):
            return posterior.factor(X if isinstance(X, str) else int(X))
        return posterior.parts_of_rates(self._checked(X))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The columns of `transform`: component1, component2, ..."""
        return np.array([f"component{r + 1}" for r in range(self._fitted().rank)], dtype=object)

    def evaluate(self, X: Any = None, y: Any = None, *, raw: bool = False) -> dict[str, Any]:
        """Several scores of the probabilities: see `Posterior.evaluate`."""
        return self._fitted().evaluate(X, y, raw=raw)

    def diagnose(self) -> Diagnosis:
        """Have the chains converged? See `Posterior.diagnose`."""
        return self._fitted().diagnose()

    def summary(self) -> str:
        """Can this fit be used? Answers three questions in plain words: see `Posterior.summary`."""
        return self._fitted().summary()

    def components(self, top: int = 5) -> pd.DataFrame:
        """One row per component: see `Posterior.components`."""
        return self._fitted().components(top)

    def top_entities(self, mode: Mode, top: int = 10) -> pd.DataFrame:
        """The entities with the largest share of each component: see `Posterior.top_entities`."""
        return self._fitted().top_entities(mode, top)

    def recommend(self, given: ByMode, top: int = 10, **how: Any) -> pd.DataFrame:
        """The most probable cells that are not known ones, or the entities of a mode: see `Posterior.recommend`."""
        return self._fitted().recommend(given, top, **how)

    def report(self, out: str | os.PathLike[str] = "report.html", **how: Any) -> str:
        """Writes one HTML page: see `Posterior.report`."""
        return self._fitted().report(out, **how)

    def to_arviz(self, **how: Any) -> Any:
        """The draws as arviz.InferenceData: see `Posterior.to_arviz`."""
        return self._fitted().to_arviz(**how)

    @property
    def classes_(self) -> np.ndarray:
        """The classes of predict_proba."""
        self._fitted()
        return np.array([0, 1])

    @property
    def weights_(self) -> np.ndarray:
        """The weights of the components: expected counts (posterior means)."""
        return self._fitted().weights()

    @property
    def factors_(self) -> list[np.ndarray]:
        """`transform` of each mode."""
        posterior = self._fitted()
        return [posterior.factor(k) for k in range(len(posterior.mode_names))]

    @classmethod
    def load(cls, run_dir: str | os.PathLike[str], n_jobs: int | None = -1) -> TensorFactorization:
        """The model of a run directory that the command line or `fit` with `out` has made. If that run was
        interrupted, the model is not fitted yet, and resume() continues it."""
        run_dir = absolute(run_dir)
        info = run_info(run_dir)
        model = cls(**parameters_of(info["options"], n_jobs), out=run_dir)
        model._set_feature_names(None, [mode["name"] for mode in info["modes"]])
        model.run_dir_, model._own_dir = run_dir, None
        model._open_if_complete()
        return model

    # Inside

    def _counts(self) -> bool:
        return self.likelihood == "count"

    def _table(self, X: Any) -> Any:
        """X, as an array if it is neither a frame nor a tensor."""
        if is_tensor(X) or is_frame(X):
            return X
        X = as_array(X, "X")
        return check_array(X, ensure_min_features=2, estimator=self, **_check_settings(X))

    def _set_feature_names(self, X: Any, names: list[str]) -> None:
        """What scikit-learn wants to know of the columns of a first X; None: of a run directory."""
        if X is None or is_tensor(X) or isinstance(X, (str, os.PathLike)):
            self.n_features_in_ = len(names)
            self.__dict__.pop("feature_names_in_", None)
            if names != default_names(len(names)) and not is_tensor(X):
                self.feature_names_in_ = np.array(names, dtype=object)
        else:
            validate_data(self, X, reset=True, skip_check_array=True)

    def _checked(self, X: Any) -> Any:
        """Cells, if scikit-learn finds their shape and names to be those of the fit."""
        if isinstance(X, (str, os.PathLike)) and not is_arrow_file(X):
            raise ValueError("X is a text file, and only fit reads these; use pandas.read_csv(file, sep='\\t')")
        X = from_arrow(X, "X")
        if is_tensor(X):
            return X
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        X = as_array(X, "X")
        return validate_data(self, X, reset=False, **_check_settings(X))

    def _sample(self, run: Any) -> None:
        logger.info("sampling into %s", self.run_dir_)
        with Progress(self.progress, "ztp.TensorFactorization") as listener:
            try:
                run(listener)
            except KeyboardInterrupt:
                if os.path.isfile(os.path.join(self.run_dir_, "options.json")):
                    logger.warning("interrupted; everything so far is in %s, and resume() continues", self.run_dir_)
                else:
                    logger.warning("interrupted while the rank was being chosen; nothing was written")
                raise
        ended = _core.ended_text(self.run_dir_)
        if ended:
            logger.info("%s", ended)
        self._open()

    def _open(self) -> None:
        self.posterior_ = Posterior(self.run_dir_, self.n_jobs)
        self.posterior_._keeps = self._own_dir  # it may be in use when the model has gone

    def _open_if_complete(self) -> None:
        if run_info(self.run_dir_)["status"] == "complete":
            self._open()

    def _fitted(self) -> Posterior:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet: call fit first")
        return self.posterior_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "posterior_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # (not tags.input_tags.sparse: that is for tables that may be sparse ones, and here it is the tensor itself)
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = False
        return tags

    # A pickle has the parameters and the run directory: where that is one of its own, its files, each under its
    # name; where it was named by `out`, its path.

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "run_dir_" in state:
            own = state.pop("_own_dir")
            run_dir = state.pop("run_dir_")
            fitted = state.pop("posterior_", None) is not None
            state["run"] = {"fitted": fitted, "at": run_dir if own is None else read_files(run_dir)}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        run = state.pop("run", None)
        super().__setstate__(state)
        if run is None:
            return
        if isinstance(run["at"], str):
            self._own_dir, self.run_dir_ = None, run["at"]
            if not os.path.isdir(self.run_dir_):
                raise FileNotFoundError(f"the pickled model's run directory {self.run_dir_} does not exist any more")
        else:
            self._own_dir = TemporaryRun()
            self.run_dir_ = self._own_dir.run_dir
            write_files(self.run_dir_, run["at"])
        if run["fitted"]:
            self._open()


def _check_settings(X: np.ndarray) -> dict[str, Any]:
    """Checks that scikit-learn leaves out, since the library makes them later with better messages."""
    return {"dtype": None, "allow_nd": True, "ensure_all_finite": X.dtype.kind != "O"}


TensorFactorization.__doc__ = DOCSTRING
