"""Answers from a run directory."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import _core
from ._arrow import from_arrow, is_arrow_file, text_files
from ._components import _Components
from ._input import ByMode, Mode, Unseen, cell_values, known_cells, mode_number, whole_number
from ._input_types import coordinates_and_values, is_numeric, is_polars, is_tensor
from ._extras import need
from ._keywords import methods_suggest
from ._progress import warn
from ._recommend import recommend
from ._run import Diagnosis, absolute, names_of_modes, read_table, report_path, threads

_PREDICTION = ["probability", "sd", "q05", "q95", "rate"]


@methods_suggest
class Posterior(_Components):
    """The draws of a run directory, and the questions that they answer.

    Cells are given as ids (an array of integers, cells x modes, from 0 in the order of `labels`) or as labels (a frame
    of pandas or polars, a table of Arrow, a Parquet file, or an array of text).

    Parameters
    ----------
    run_dir : str or path
        Made by `TensorFactorization.fit` or by ``ztp fit``.
    n_jobs : int, default=-1
        Threads; -1 means all cores. The results do not depend on it.
    kernel : {"auto", "cpu", "cuda"}, default="auto"
        Implementation: "cuda" is a GPU. "auto" uses a GPU if there is one and the question is large enough. The results
        are the same up to rounding.

    Attributes
    ----------
    run_dir : str
        The path of the run directory.
    mode_names : list of str
        The modes, in order.
    info : dict
        What was run: options, data, version, status.
    """

    def __init__(self, run_dir: str | os.PathLike[str], n_jobs: int | None = -1, kernel: str = "auto") -> None:
        self._n_jobs = n_jobs
        self._kernel = kernel
        self._keeps: Any = None  # what the run directory goes with
        self._warned = False
        self.run_dir = absolute(run_dir)
        self._core = _core.Posterior(self.run_dir, threads(n_jobs), False, 1.0, kernel)
        self._others: dict[tuple[bool, float], _core.Posterior] = {}  # with other options of predictions
        self.info: dict[str, Any] = json.loads(self._core.info_json)
        self.mode_names: list[str] = self._core.mode_names
        self._labels = [self._core.labels(k) for k in range(len(self.mode_names))]

    def __reduce__(self) -> tuple[Any, ...]:
        return Posterior, (self.run_dir, self._n_jobs, self._kernel)

    def __copy__(self) -> Posterior:
        other = Posterior(self.run_dir, self._n_jobs, self._kernel)
        other._keeps = self._keeps
        return other

    def __repr__(self) -> str:
        sizes = " x ".join(f"{len(table)} {name}" for name, table in zip(self.mode_names, self._labels, strict=True))
        return f"<ztp.Posterior of {self.run_dir}: {sizes}, {self.draws} draws of {self.rank} components>"

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of entities of each mode."""
        return tuple(len(table) for table in self._labels)

    @property
    def draws(self) -> int:
        """Number of kept draws, over all chains."""
        return self._core.draws

    @property
    def chains(self) -> int:
        """Number of independent chains."""
        return int(self.info["options"]["chains"])

    @property
    def rank(self) -> int:
        """Number of components, empty ones included."""
        return int(self.info["options"]["rank"])

    @property
    def counts(self) -> bool:
        """Whether the data are counts, not ones."""
        return bool(self.info["options"]["likelihood"] == "count")

    def labels(self, mode: Mode) -> np.ndarray:
        """The labels of a mode (by name or position), in the order of ids. They are numbers if the data had ids, and
        otherwise text, even if a frame had numbers."""
        table = self._labels[mode_number(mode, self.mode_names)]
        if table.is_numbered:
            return np.arange(table.first_number, table.first_number + len(table))
        return np.array(table.names(), dtype=object)

    def _ids(self, X: Any, what: str = "X") -> _core.Ids:
        return known_cells(X, self.mode_names, self._labels, what)

    def _ids_and_unseen(self, X: Any) -> tuple[_core.Ids, Unseen]:
        """Cells that may have entities which the fit has not seen, but not of a mode whose entities have columns of
        their own, and not of a rival."""
        options = self.info["options"]
        own = [str(item).endswith("=own") for item in options["columns"] or [""] * len(self.mode_names)]
        unseen = Unseen([options["model"] == "ztp" and not each for each in own])
        return known_cells(X, self.mode_names, self._labels, "X", unseen), unseen

    def _has_unseen(self, X: Any) -> bool:
        return self._ids_and_unseen(X)[1].cells is not None

    def _predictions(self, X: Any, raw: bool, listed: float) -> np.ndarray:
        """Numbers for each cell: _PREDICTION. With a warning, if there are entities that the fit has not seen."""
        ids, unseen = self._ids_and_unseen(X)
        if unseen.cells is not None:
            warn(
                f"{int(unseen.cells.sum())} of {ids.rows} cells have entities that the fit has not seen, such as "
                f"{unseen.example}; they are predicted as average entities"
            )
        return self._asked(raw, listed).predict(ids, unseen.cells is not None)

    def _asked(self, raw: bool, listed: float) -> _core.Posterior:
        """The engine that gives these probabilities."""
        key = (bool(raw), float(listed))
        if key == (False, 1.0):
            return self._core
        if key not in self._others:
            self._others[key] = _core.Posterior(self.run_dir, threads(self._n_jobs), *key, self._kernel)
        return self._others[key]

    def predict_proba(self, X: Any, *, raw: bool = False, listed: float = 1) -> np.ndarray:
        """The probability that each cell is a one.

        If the fit held out cells (``holdout``), probabilities are calibrated with them; `raw` gives those of the
        posterior itself, the means over the draws. `listed` is the share of the true ones that the data list, such as
        0.9. It gives the probability that a cell is a one although it is not listed.

        An entity that the fit has not seen is taken for an average one, with a warning. It has the mean of the factors
        of all entities of its mode, which is also the mean of the prior, so the other modes of the cell decide. A rival
        refuses such an entity, and so does a mode with columns of its own.
        """
        return self._predictions(X, raw, listed)[:, 0]

    def rates(self, X: Any) -> np.ndarray:
        """The mean rate of each cell over the draws; for counts, the expected count."""
        return self._predictions(X, False, 1)[:, 4]

    def predict(self, X: Any, *, raw: bool = False, listed: float = 1) -> pd.DataFrame:
        """One row per cell: its labels, the probability that it is a one, the posterior sd of that probability, its 5 %
        and 95 % quantiles, and the mean rate (for counts, the expected count). `raw` and `listed` are as in
        `predict_proba`."""
        X = from_arrow(X, "X")
        numbers = self._predictions(X, raw, listed)
        self._warn_of_predictions()
        return self._with_predictions(self._labelled(X), numbers)

    def _with_predictions(self, labels: pd.DataFrame, numbers: np.ndarray) -> pd.DataFrame:
        for k, name in enumerate(_PREDICTION):
            if name in labels:
                raise ValueError(f"the mode {name} has the same name as a column of the predictions; use predict_proba")
            labels[name] = numbers[:, k]
        return labels

    def _labelled(self, X: Any) -> pd.DataFrame:
        """The labels of cells, a column for each mode."""
        if isinstance(X, pd.DataFrame):
            return X[[c for c in X.columns if str(c) in self.mode_names]].copy()
        if is_polars(X):
            return pd.DataFrame({name: X[name].to_list() for name in self.mode_names})
        array = np.stack(coordinates_and_values(X, "X")[0], axis=1) if is_tensor(X) else np.asarray(X)
        if is_numeric(array):
            return pd.DataFrame({name: self._labels_of(k, array[:, k]) for k, name in enumerate(self.mode_names)})
        return pd.DataFrame(array, columns=self.mode_names)

    def _labels_of(self, k: int, ids: np.ndarray) -> np.ndarray:
        """Of entities by their ids; an id itself, if there is no such entity."""
        labels, ids = self.labels(k), ids.astype(np.int64)
        seen = ids < len(labels)
        named: np.ndarray = labels[np.where(seen, ids, 0)]
        return named if seen.all() else np.where(seen, named, ids)

    def evaluate(self, X: Any = None, y: Any = None, *, raw: bool = False) -> dict[str, Any]:
        """Scores of the probabilities, as ``ztp evaluate`` prints them.

        Areas under the ROC and precision-recall curves are those of the test cells. The following describe the whole
        tensor, where each test zero has a weight, the number of zeros that it stands for: log-loss, Brier score, skill
        (0: as good as a constant, 1: perfect), calibration slope and intercept (1 and 0 are right), and the share of
        misplaced ones. ``test_log_loss`` and similar scores count each test cell once. Counts also have ``deviance``
        and ``log_score``. ``popularity`` has the same scores for predictions from the number of ones of each entity
        alone.

        X may be cells with outcomes y (0: not a one; anything else: a one; for counts, the count) or a file with both,
        the outcomes in its last column. Without X, the cells are those that the fit held out. `raw` is as in
        `predict_proba`.
        """
        core = self._asked(raw, 1)
        if is_arrow_file(X) and y is None:
            X = from_arrow(X, "X")
            X, y = X.iloc[:, :-1], X.iloc[:, -1]
        if X is None or (isinstance(X, (str, os.PathLike)) and not is_arrow_file(X)):
            return core.evaluate_file("" if X is None else os.fspath(X))
        ids = self._ids(X)
        if y is None:
            raise ValueError(f"expected y, an outcome (0 or 1) for each of the {ids.rows} cells")
        values = cell_values(y, ids.rows, counts=self.counts)
        return core.evaluate(ids, (values != 0).astype(np.uint8), values.tolist() if self.counts else [])

    def head(
        self, sizes: Sequence[int] = (10, 100, 1000), test: str | os.PathLike[str] | None = None, *, raw: bool = False
    ) -> pd.DataFrame:
        """Counts the held-out ones (or the ones of the file `test`) among the most probable cells that are not training
        ones: how many are ``expected`` and how many ``found`` among the first of them. `raw` is as in `predict_proba`.
        """
        numbers = [whole_number(size, "sizes", 1) for size in sizes]
        with text_files(test) as (file,):
            found = self._asked(raw, 1).head(numbers, file)
        frame = pd.DataFrame(found, columns=["cells", "expected", "found"])
        return frame.astype({"cells": np.int64, "found": np.int64})

    def ranking(
        self,
        X: Any = None,
        *,
        modes: Sequence[Mode] = (),
        at: Sequence[int] = (1, 3, 10),
        filter: Sequence[str | os.PathLike[str]] = (),
        draws: int = 0,
    ) -> pd.DataFrame:
        """Ranks test ones among all entities that could take their place: filtered MRR, Hits@k, recall@k, NDCG@k.

        There is one row for each mode whose entity is replaced, one for all modes, and one for popularity, which orders
        entities by the number of ones that they have together with the given entities. X may be cells or a file of
        them. Without X, the cells are those that the fit held out. `filter` names files with more known ones, which do
        not compete. `draws` limits the number of draws to use.
        """
        numbers = [mode_number(mode, self.mode_names) for mode in modes]
        at, draws = [whole_number(k, "at", 1) for k in at], whole_number(draws, "draws", 0)
        with text_files(*filter) as files:
            if X is None or (isinstance(X, (str, os.PathLike)) and not is_arrow_file(X)):
                found = self._core.rank_file("" if X is None else os.fspath(X), numbers, at, files, draws)
            else:
                ids = self._ids(X)
                found = self._core.rank(ids, np.ones(ids.rows, np.uint8), numbers, at, files, draws)
        rows = [*found["by_mode"], found["all"], found["popularity"]]
        index = [self.mode_names[k] for k in found["modes"]] + ["all", "popularity"]
        return pd.DataFrame([_flat(row, found["at"]) for row in rows], index=pd.Index(index, name="mode"))

    def recommend(
        self,
        given: ByMode,
        top: int = 10,
        *,
        mode: Mode | None = None,
        distinct: Mode | None = None,
        only_new: Mode | None = None,
        exclude: Any = None,
        raw: bool = False,
        listed: float = 1,
    ) -> pd.DataFrame:
        """The most probable cells that are not ones of the data, best first, and why.

        `given` fixes the entity of some modes, such as ``{"user": "alice"}``: by label, or by id if X had ids. The
        column ``why`` has the components that make up at least a hundredth of the cell's rate, as in `explain`.
        ``missing`` tells which cells were declared missing in the fit.

        With `mode`, the entities of that mode are ranked instead. An entity stands for all cells that have it and what
        is given, except ones of the data and excluded cells. ``probability`` is the probability that at least one of
        these cells is a one. It is not calibrated, unless each entity has one cell only. ``rate`` is the sum of their
        rates, ``cells`` their number, and ``ones`` the number of ones that the entity has with what is given.

        `distinct` names a mode: at most one cell, the most probable one, is listed for each of its entities.
        `only_new` names a mode: its entities that have a one with what is given are left out. `exclude` leaves out
        entities, such as ``{"item": ["kettle", "teapot"]}``, or cells, given as in `predict`.

        `raw` and `listed` are as in `predict_proba`; `listed` is for single cells.
        """
        frame = recommend(self, given, top, mode, distinct, only_new, exclude, raw, listed)
        self._warn_of_predictions()
        return frame

    def report(
        self,
        out: str | os.PathLike[str] = "report.html",
        *,
        test: str | os.PathLike[str] | None = None,
        ordered: Sequence[str] = (),
        unordered: Sequence[str] = (),
        entities: int = 100_000,
    ) -> str:
        """Writes the report of the run: one HTML page, which opens in any browser without a network, as ``ztp report``.

        Predictions are judged with the cells that the fit held out, or with those of the file `test` (labels and a last
        column 0 or 1). Modes that look like days or years are drawn as lines; `ordered` and `unordered` correct this.
        If there are more than `entities` entities, the page has those with the most ones. What is left out is reported
        as a warning. An earlier report is replaced; any other existing file raises a FileExistsError. Returns the path.
        """
        path = report_path(out)
        with text_files(test) as (test_file,):
            notes = _core.write_report(
                self.run_dir,
                path,
                test_file,
                names_of_modes(ordered, "ordered"),
                names_of_modes(unordered, "unordered"),
                whole_number(entities, "entities", 1),
                threads(self._n_jobs),
            )
        for note in notes:
            warn(note)
        return path

    def compare(
        self,
        other: Posterior,
        out: str | os.PathLike[str] = "comparison.html",
        *,
        test: str | os.PathLike[str] | None = None,
    ) -> str:
        """Writes a comparison of this run with another one: one HTML page with matched components side by side, and
        what differs. As ``ztp report --compare``.

        Both are judged with the cells of the file `test`, or each with the cells that its fit held out. Returns the
        path.
        """
        if not isinstance(other, Posterior):
            raise TypeError(f"other is a {type(other).__name__}; expected a Posterior, such as ztp.Posterior(run_dir)")
        path = report_path(out)
        with text_files(test) as (test_file,):
            notes = _core.write_comparison(self.run_dir, other.run_dir, path, test_file, threads(self._n_jobs))
        for note in notes:
            warn(note)
        return path

    def diagnose(self) -> Diagnosis:
        """Have the chains converged, how precise are the numbers, and what would help?"""
        found = _core.diagnose(self.run_dir)
        cells = pd.DataFrame(found["cells"])
        if len(cells):
            labels = pd.DataFrame(list(cells.pop("labels")), columns=self.mode_names)
            cells = pd.concat([labels, cells.drop(columns="name")], axis=1)
        return Diagnosis(
            found["verdict"],
            found["predictions"],
            found["rank"],
            found["sentences"],
            pd.DataFrame(found["quantities"]).set_index("name"),
            cells,
        )

    def summary(self) -> str:
        """Can this run be used? Describes the run, and answers the three questions that ``ztp fit`` ends with: have the
        chains converged, are the probabilities calibrated, is the bound on the rank large enough?"""
        sizes = " x ".join(f"{len(table)} {name}" for name, table in zip(self.mode_names, self._labels, strict=True))
        chains = len(self.info["chains"])
        first = f"{sizes}: {self.draws} draws of {self.rank} components, {chains} chain{'s' if chains > 1 else ''}"
        return "\n".join([first, *self._core.verdicts()])

    def _warn_of_predictions(self) -> None:
        """Once: warnings, if predictions should not be used yet or their intervals are too narrow."""
        if self._warned:
            return
        self._warned = True
        convergence, intervals = _core.cautions(self.run_dir)
        if convergence:
            warn(f"{convergence}; see diagnose()")
        if intervals:
            warn(intervals)

    def trace(self) -> pd.DataFrame:
        """What was recorded in each sweep: log-likelihood, occupied components, held-out AUC, ..."""
        return read_table(os.path.join(self.run_dir, "trace.tsv"))

    def to_arviz(self, *, every_sweep: bool = False) -> Any:
        """The draws as arviz.InferenceData: draws.nc of the run directory, opened but not yet loaded.

        With `every_sweep`, it has what is recorded in every sweep after burn-in instead: log-likelihood, occupied
        components, total weight, learned hyperparameters, and the probabilities of the watched cells if they are
        recorded. `diagnose` judges these numbers, and ArviZ computes the same R-hat and effective sample sizes from
        them.
        """
        need("arviz", "arviz", "to_arviz")
        need("netCDF4", "arviz", "to_arviz")
        from ._arviz import every_sweep_of, kept_draws_of

        return every_sweep_of(self) if every_sweep else kept_draws_of(self.run_dir)


def _flat(metrics: dict[str, Any], at: Sequence[int]) -> dict[str, Any]:
    """One number a column: hits@1, hits@3, ..."""
    row: dict[str, Any] = {}
    for key, value in metrics.items():
        if isinstance(value, list):
            row.update({f"{key}@{k}": number for k, number in zip(at, value, strict=True)})
        else:
            row[key] = value
    return row
