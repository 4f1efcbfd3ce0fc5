"""What a run directory knows."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import _core
from ._components import _Components
from ._input import ByMode, Mode, by_mode, cell_values, known_cells, known_entities, mode_number, whole_number
from ._input_types import coordinates_and_values, is_numeric, is_polars, is_tensor
from ._run import Diagnosis, absolute, names_of_modes, read_table, report_path, threads

_PREDICTION = ["probability", "sd", "q05", "q95", "rate"]


class Posterior(_Components):
    """The draws of a run directory, and the questions that they answer.

    Cells are given as ids (an array of whole numbers, cells x modes, counted from 0 in the order of `entities`) or as
    labels (a pandas or polars frame, or an array of text).

    Parameters
    ----------
    run_dir : str or path
        Made by `TensorFactorization.fit` or by ``ztp fit``.
    n_jobs : int, default=-1
        Threads; -1 is all cores. No number depends on it.
    kernel : {"auto", "cpu", "cuda"}, default="auto"
        Where probabilities are computed: "cuda" is a GPU, and "auto" takes one where there is one and a question is
        worth it. Numbers differ by roundings.

    Attributes
    ----------
    run_dir : str
        Where it is.
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
        return f"<ztp.Posterior of {self.run_dir}: {sizes}, {self.n_draws} draws of {self.rank} components>"

    @property
    def shape(self) -> tuple[int, ...]:
        """Entities of each mode."""
        return tuple(len(table) for table in self._labels)

    @property
    def n_draws(self) -> int:
        """Kept draws, all chains together."""
        return self._core.draws

    @property
    def n_chains(self) -> int:
        """Independent chains."""
        return int(self.info["options"]["chains"])

    @property
    def rank(self) -> int:
        """Components, those included that are empty."""
        return int(self.info["options"]["rank"])

    @property
    def counts(self) -> bool:
        """Whether the data are counts, not ones."""
        return bool(self.info["options"]["likelihood"] == "count")

    def entities(self, mode: Mode) -> np.ndarray:
        """The labels of a mode (by name or position), by id: numbers where the data had ids, else text, also where a
        frame had numbers."""
        table = self._labels[mode_number(mode, self.mode_names)]
        if table.is_numbered:
            return np.arange(table.first_number, table.first_number + len(table))
        return np.array(table.names(), dtype=object)

    def _ids(self, X: Any, what: str = "X") -> _core.Ids:
        return known_cells(X, self.mode_names, self._labels, what)

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

        Where the fit held out cells (``holdout``), probabilities are calibrated with them; `raw` gives the posterior's
        own, the means over the draws. `listed` is the share of the true ones that the data list, as 0.9: it gives the
        probability that a cell which is not listed is a one.
        """
        return self._asked(raw, listed).predict(self._ids(X))[:, 0]

    def rates(self, X: Any) -> np.ndarray:
        """The mean rate of each cell over the draws: of counts, the expected count."""
        return self._core.predict(self._ids(X))[:, 4]

    def predict(self, X: Any, *, raw: bool = False, listed: float = 1) -> pd.DataFrame:
        """A row for each cell: its labels, the probability that it is a one, the posterior sd of that probability, its
        5 % and 95 % quantiles, and the mean rate (for counts: the expected count). `raw` and `listed` as of
        `predict_proba`."""
        numbers = self._asked(raw, listed).predict(self._ids(X))
        self._warn_of_predictions()
        return self._with_predictions(self._labelled(X), numbers)

    def _with_predictions(self, labels: pd.DataFrame, numbers: np.ndarray) -> pd.DataFrame:
        for k, name in enumerate(_PREDICTION):
            if name in labels:
                raise ValueError(f"the mode {name} has the name of a column of predictions; predict_proba has none")
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
            return pd.DataFrame(
                {name: self.entities(k)[array[:, k].astype(np.int64)] for k, name in enumerate(self.mode_names)}
            )
        return pd.DataFrame(array, columns=self.mode_names)

    def evaluate(self, X: Any = None, y: Any = None, *, raw: bool = False) -> dict[str, Any]:
        """How good the probabilities are, as ``ztp evaluate`` tells.

        Areas under the ROC and precision-recall curves of the test cells. Of the whole tensor, where each zero counts
        for as many as it stands for: log-loss, Brier score, skill (0: as good as a constant, 1: perfect), calibration
        slope and intercept (1 and 0 are right), and the share of ones that are misplaced. ``test_log_loss`` and its
        like count each test cell once. Of counts also their ``deviance`` and ``log_score``. ``popularity`` has the
        same scores of what the number of ones of each entity predicts alone.

        Of cells and their outcomes (0: no one; everything else: a one; of counts, the count), of a file of both, or,
        without any, of the cells that the fit held out. `raw` as of `predict_proba`.
        """
        core = self._asked(raw, 1)
        if X is None or isinstance(X, (str, os.PathLike)):
            return core.evaluate_file("" if X is None else os.fspath(X))
        ids = self._ids(X)
        if y is None:
            raise ValueError(f"expected y, an outcome (0 or 1) for each of the {ids.rows} cells")
        values = cell_values(y, ids.rows, counts=self.counts)
        return core.evaluate(ids, (values != 0).astype(np.uint8), values.tolist() if self.counts else [])

    def head(
        self, sizes: Sequence[int] = (10, 100, 1000), test: str | os.PathLike[str] | None = None, *, raw: bool = False
    ) -> pd.DataFrame:
        """The most probable cells that are not training ones, where people act: how many held-out ones (or ones of the
        file `test`) were ``expected`` and ``found`` among the first of them. `raw` as of `predict_proba`."""
        numbers = [whole_number(size, "sizes", 1) for size in sizes]
        found = self._asked(raw, 1).head(numbers, "" if test is None else os.fspath(test))
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
        """How high ones stand among all entities that could take their place: filtered MRR, Hits@k, recall@k, NDCG@k.

        A row for each mode whose entity is replaced, one for all of them, and one of what popularity would give: how
        many ones an entity has together with those that are given. Of cells, a file of them, or the ones
        that the fit held out. `filter` names files of further ones that are known and not to be counted as rivals;
        `draws` limits how many are used.
        """
        numbers = [mode_number(mode, self.mode_names) for mode in modes]
        files = [os.fspath(file) for file in filter]
        at, draws = [whole_number(k, "at", 1) for k in at], whole_number(draws, "draws", 0)
        if X is None or isinstance(X, (str, os.PathLike)):
            found = self._core.rank_file("" if X is None else os.fspath(X), numbers, at, files, draws)
        else:
            ids = self._ids(X)
            found = self._core.rank(ids, np.ones(ids.rows, np.uint8), numbers, at, files, draws)
        rows = [*found["by_mode"], found["all"], found["popularity"]]
        index = [self.mode_names[k] for k in found["modes"]] + ["all", "popularity"]
        return pd.DataFrame([_flat(row, found["at"]) for row in rows], index=pd.Index(index, name="mode"))

    def recommend(self, given: ByMode, top: int = 10, *, raw: bool = False, listed: float = 1) -> pd.DataFrame:
        """The most probable cells that are not ones of the data, best first, with what speaks for them.

        `given` fixes the entity of some modes, by label (where X had ids, these), as ``{"user": "alice"}``. The
        column ``because`` has what makes at least a hundredth of the cell's rate, as `explain` says it. `raw` and
        `listed` as of `predict_proba`.
        """
        fixed: list[int | None] = [None] * len(self.mode_names)
        for k, (mode, entity) in by_mode(given, self.mode_names, "given").items():
            fixed[k] = known_entities([entity], self._labels[k], f"given[{mode!r}]")[0]
        found = self._asked(raw, listed).recommend(fixed, whole_number(top, "top", 1))
        self._warn_of_predictions()
        cells = np.array([cell for cell, _, _ in found], dtype=np.int64).reshape(len(found), len(self.mode_names))
        frame = pd.DataFrame({name: self.entities(k)[cells[:, k]] for k, name in enumerate(self.mode_names)})
        numbers = np.array([prediction for _, prediction, _ in found]).reshape(len(found), len(_PREDICTION))
        frame = self._with_predictions(frame, numbers)
        self._refuse_names("because")
        frame["because"] = [self._shares(parts) for _, _, parts in found]
        return frame

    def report(
        self,
        file: str | os.PathLike[str] = "report.html",
        *,
        test: str | os.PathLike[str] | None = None,
        ordered: Sequence[str] = (),
        unordered: Sequence[str] = (),
        entities: int = 100_000,
    ) -> str:
        """Writes all of it as one page to look at, which opens in any browser without a network, as ``ztp report``.

        Judged are the cells that the fit held out, or those of the file `test` (labels and a last column 0 or 1).
        Modes that look like days or years are drawn as lines: `ordered` and `unordered` name those that do not look
        like what they are. Of more than so many `entities` the page has those with most ones. What it leaves out is
        a warning. An earlier report is replaced, any other file is a FileExistsError. Returns the path.
        """
        path = report_path(file)
        notes = _core.write_report(
            self.run_dir,
            path,
            "" if test is None else os.fspath(test),
            names_of_modes(ordered, "ordered"),
            names_of_modes(unordered, "unordered"),
            whole_number(entities, "entities", 1),
            threads(self._n_jobs),
        )
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return path

    def compare(
        self,
        other: Posterior,
        file: str | os.PathLike[str] = "comparison.html",
        *,
        test: str | os.PathLike[str] | None = None,
    ) -> str:
        """Writes this run and another side by side, components matched, as one page: what is the same, and what
        differs. As ``ztp report --compare``.

        Both are judged with the cells of the file `test`, or each with those that its fit held out. Returns the path.
        """
        if not isinstance(other, Posterior):
            raise TypeError(f"other is a {type(other).__name__}; expected a Posterior, such as ztp.Posterior(run_dir)")
        path = report_path(file)
        test_file = "" if test is None else os.fspath(test)
        for note in _core.write_comparison(self.run_dir, other.run_dir, path, test_file, threads(self._n_jobs)):
            warnings.warn(note, stacklevel=2)
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
        """Can this run be used? What it is, and three questions with answers in plain words, as ``ztp fit`` ends with:
        have the chains converged, are the probabilities calibrated, is the bound on the rank large enough?"""
        sizes = " x ".join(f"{len(table)} {name}" for name, table in zip(self.mode_names, self._labels, strict=True))
        chains = len(self.info["chains"])
        first = f"{sizes}: {self.n_draws} draws of {self.rank} components, {chains} chain{'s' if chains > 1 else ''}"
        return "\n".join([first, *self._core.verdicts()])

    def _warn_of_predictions(self) -> None:
        """Once: warnings, if predictions should not be used yet or their intervals are too narrow."""
        if self._warned:
            return
        self._warned = True
        convergence, intervals = _core.cautions(self.run_dir)
        if convergence:
            warnings.warn(f"{convergence}: see diagnose()", stacklevel=3)
        if intervals:
            warnings.warn(intervals, stacklevel=3)

    def trace(self) -> pd.DataFrame:
        """What was recorded of each sweep: log-likelihood, occupied components, held-out AUC, ..."""
        return read_table(os.path.join(self.run_dir, "trace.tsv"))

    def to_arviz(self, *, every_sweep: bool = False) -> Any:
        """The draws as arviz.InferenceData: draws.nc of the run directory, opened and not yet loaded.

        With `every_sweep`, instead what is recorded of every sweep after burn-in: log-likelihood, occupied components,
        total weight, learned hyperparameters, and the probabilities of the watched cells where those are recorded.
        These are the numbers that `diagnose` judges: R-hat and effective sizes of ArviZ are the same as its.
        """
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
