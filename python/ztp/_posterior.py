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
from ._input import ByMode, Mode, by_mode, cell_values, known_cells, known_entities, mode_number, whole_number
from ._input_types import coordinates_and_values, is_numeric, is_polars, is_tensor
from ._run import Diagnosis, absolute, names_of_modes, read_table, report_path, threads

_PREDICTION = ["probability", "sd", "q05", "q95", "rate"]


class Posterior:
    """The draws of a run directory, and the questions that they answer.

    Cells are given as ids (an array of whole numbers, cells x modes, counted from 0 in the order of `entities`) or as
    labels (a pandas or polars frame, or an array of text).

    Parameters
    ----------
    run_dir : str or path
        Made by `TensorFactorization.fit` or by ``ztp fit``.
    n_jobs : int, default=-1
        Threads; -1 is all cores. No number depends on it.

    Attributes
    ----------
    run_dir : str
        Where it is.
    mode_names : list of str
        The modes, in order.
    info : dict
        What was run: options, data, version, status.
    """

    def __init__(self, run_dir: str | os.PathLike[str], n_jobs: int | None = -1) -> None:
        self._n_jobs = n_jobs
        self._keeps: Any = None  # what the run directory goes with
        self.run_dir = absolute(run_dir)
        self._core = _core.Posterior(self.run_dir, threads(n_jobs))
        self.info: dict[str, Any] = json.loads(self._core.info_json)
        self.mode_names: list[str] = self._core.mode_names
        self._labels = [self._core.labels(k) for k in range(len(self.mode_names))]

    def __reduce__(self) -> tuple[Any, ...]:
        return Posterior, (self.run_dir, self._n_jobs)

    def __copy__(self) -> Posterior:
        other = Posterior(self.run_dir, self._n_jobs)
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

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability that each cell is a one: the mean over the draws."""
        return self._core.predict(self._ids(X))[:, 0]

    def rates(self, X: Any) -> np.ndarray:
        """The mean rate of each cell over the draws: of counts, the expected count."""
        return self._core.predict(self._ids(X))[:, 4]

    def predict(self, X: Any) -> pd.DataFrame:
        """A row for each cell: its labels, the probability that it is a one (posterior mean), the posterior sd of that
        probability, its 5 % and 95 % quantiles, and the mean rate (for counts: the expected count)."""
        numbers = self._core.predict(self._ids(X))
        return self._with_predictions(self._labelled(X), numbers)

    def _with_predictions(self, labels: pd.DataFrame, numbers: np.ndarray) -> pd.DataFrame:
        for k, name in enumerate(_PREDICTION):
            if name in labels:
                raise ValueError(f"the mode {name} has the name of a column of predictions; predict_proba has none")
            labels[name] = numbers[:, k]
        return labels

    def _refuse_names(self, *columns: str) -> None:
        """Frames have a column for each mode beside these."""
        for name in columns:
            if name in self.mode_names:
                raise ValueError(f"the mode {name} has the name of another column; fit with another name for it")

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

    def evaluate(self, X: Any = None, y: Any = None) -> dict[str, float]:
        """How good the probabilities are: areas under the ROC and precision-recall curves, log-loss, Brier score,
        calibration error.

        Of cells and their outcomes (0: no one; everything else: a one), of a file of both, or, without any, of the
        cells that the fit held out.
        """
        if X is None or isinstance(X, (str, os.PathLike)):
            return self._core.evaluate_file("" if X is None else os.fspath(X))
        ids = self._ids(X)
        if y is None:
            raise ValueError(f"expected y, an outcome (0 or 1) for each of the {ids.rows} cells")
        return self._core.evaluate(ids, cell_values(y, ids.rows, counts=False).astype(np.uint8))

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

        A row for each mode whose entity is replaced, and one for all of them. Of cells, a file of them, or the ones
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
        rows = [*found["by_mode"], found["all"]]
        index = [self.mode_names[k] for k in found["modes"]] + ["all"]
        return pd.DataFrame([_flat(row, found["at"]) for row in rows], index=pd.Index(index, name="mode"))

    def recommend(self, given: ByMode, top: int = 10) -> pd.DataFrame:
        """The most probable cells that are not ones of the data, best first, with what speaks for them.

        `given` fixes the entity of some modes, by label (where X had ids, these), as ``{"user": "alice"}``. The
        column ``because`` has the components that make at least a hundredth of the cell's rate: number and share.
        """
        fixed: list[int | None] = [None] * len(self.mode_names)
        for k, (mode, entity) in by_mode(given, self.mode_names, "given").items():
            fixed[k] = known_entities([entity], self._labels[k], f"given[{mode!r}]")[0]
        found = self._core.recommend(fixed, whole_number(top, "top", 1))
        cells = np.array([cell for cell, _, _ in found], dtype=np.int64).reshape(len(found), len(self.mode_names))
        frame = pd.DataFrame({name: self.entities(k)[cells[:, k]] for k, name in enumerate(self.mode_names)})
        numbers = np.array([prediction for _, prediction, _ in found]).reshape(len(found), len(_PREDICTION))
        frame = self._with_predictions(frame, numbers)
        self._refuse_names("because")
        frame["because"] = [{int(r): share for r, share in parts} for _, _, parts in found]
        return frame

    def factor(self, mode: Mode, chain: int | None = None) -> np.ndarray:
        """The factors of a mode, entities x components: posterior means, columns that add up to one.

        Of one chain (from 0), or of all of them after matching their components with those of the first.
        """
        k = mode_number(mode, self.mode_names)
        return self._core.mean_factor(k, self._chain(chain) if chain is not None or self.n_chains == 1 else None)

    def factor_frame(self, mode: Mode, chain: int | None = None) -> pd.DataFrame:
        """`factor` as a frame: a row for each entity, by its label, and a column for each component, by its number
        (from 1)."""
        k = mode_number(mode, self.mode_names)
        index = pd.Index(self.entities(k), name=self.mode_names[k])
        factor = self.factor(k, chain)
        return pd.DataFrame(factor, index, pd.RangeIndex(1, factor.shape[1] + 1, name="component"))

    def weights(self, chain: int | None = None) -> np.ndarray:
        """The components' weights, in the order of `factor`: expected counts, posterior means; of one chain (from 0),
        or means over all of them after matching."""
        if chain is not None or self.n_chains == 1:
            return self._core.mean_weights(self._chain(chain))
        return np.array([mean for _, mean, _ in self._core.match_chains(0)["components"]])

    def parts_of_rates(self, X: Any) -> np.ndarray:
        """The part that each component has in the rate of each cell, cells x components, at the posterior means of
        factors and weights."""
        return self._core.parts_of_rates(self._ids(X))

    def _chain(self, chain: int | None) -> int:
        if chain is None:
            return 0
        if isinstance(chain, bool) or not isinstance(chain, (int, np.integer)) or not 0 <= chain < self.n_chains:
            raise ValueError(f"chain is {chain!r}; expected 0 to {self.n_chains - 1}")
        return int(chain)

    def components(self, top: int = 5, chain: int = 0) -> pd.DataFrame:
        """A row for each component of a chain (from 0), largest weight first.

        The number of the component (from 1, as the command line shows it), its weight (expected count) with 5 % and 95
        % posterior quantiles, the share of the ones that it explains, its stability (how well it agrees with its match
        in the other chains: 1 if they all have it just so; NaN with one chain), and for each mode its `top` entities.
        """
        self._refuse_names("component", "weight", "weight_q05", "weight_q95", "share", "stability")
        rows = []
        for component in self._core.components(whole_number(top, "top", 0), self._chain(chain)):
            entities = component.pop("top")
            for k, name in enumerate(self.mode_names):
                component[name] = "; ".join(str(self._label(k, i)) for i, _ in entities[k])
            rows.append(component)
        return pd.DataFrame(rows).set_index("component")

    def columns(self, mode: Mode, top: int = 5, chain: int = 0) -> pd.DataFrame:
        """Where components share columns, a row for each column of a mode, largest weight first: its number (from 1), the
        weight of the components of a chain (from 0) that use it, with 5 % and 95 % posterior quantiles, and its `top`
        entities. Tied modes have the same columns."""
        k = mode_number(mode, self.mode_names)
        self._refuse_names("column", "weight", "weight_q05", "weight_q95")
        rows = []
        for column in self._core.columns(k, whole_number(top, "top", 0), self._chain(chain)):
            entities = "; ".join(str(self._label(k, i)) for i, _ in column.pop("top"))
            rows.append(column | {self.mode_names[k]: entities})
        return pd.DataFrame(rows).set_index("column")

    def core(self, chain: int = 0) -> pd.DataFrame:
        """A row for each entry of the core, where components share columns, largest weight first: the column of each
        mode (from 1; of a mode with own columns, the entity), and the weight of the components of a chain (from 0) that
        have these columns, with 5 % and 95 % posterior quantiles. Entries of less than half a count are left out."""
        self._refuse_names("weight", "weight_q05", "weight_q95")
        own = [str(item).endswith("=own") for item in self.info["options"]["columns"]]
        rows = []
        for entry in self._core.core(self._chain(chain)):
            columns = enumerate(entry.pop("columns"))
            shown = [self._label(k, column - 1) if own[k] else column for k, column in columns]
            rows.append(dict(zip(self.mode_names, shown)) | entry)
        return pd.DataFrame(rows, columns=[*self.mode_names, "weight", "weight_q05", "weight_q95"])

    def top_entities(self, mode: Mode, top: int = 10, chain: int = 0) -> pd.DataFrame:
        """The entities with the largest part of each component: component, place (from 1), entity and value (its part
        of the component, posterior mean)."""
        k = mode_number(mode, self.mode_names)
        self._refuse_names("component", "place", "value")
        rows = [
            (component["component"], place, self._label(k, i), value)
            for component in self._core.components(whole_number(top, "top", 0), self._chain(chain))
            for place, (i, value) in enumerate(component["top"][k], start=1)
        ]
        return pd.DataFrame(rows, columns=["component", "place", self.mode_names[k], "value"])

    def _label(self, k: int, i: int) -> Any:
        table = self._labels[k]
        return table.first_number + i if table.is_numbered else table.name(i)

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

    def match_chains(self, reference: int = 0) -> pd.DataFrame:
        """Which component of each other chain is which of the reference: the one-to-one matching of largest overlap.

        A row for each component of the reference and other chain: its partner there, the overlap of the two as
        distributions over cells, their agreement (the overlap, less where the weights differ), and both shares of all
        weight. Components are numbered from 1.
        """
        found = self._core.match_chains(self._chain(reference))
        frames = [pd.DataFrame(matches).assign(chain=chain) for chain, matches in found["chains"]]
        columns = ["component", "chain", "partner", "overlap", "agreement", "weight_share", "partner_weight_share"]
        return pd.concat(frames)[columns].reset_index(drop=True) if frames else pd.DataFrame(columns=columns)

    def match(self, other: Posterior, chain: int = 0, other_chain: int = 0) -> pd.DataFrame:
        """The same for the components of another run, whose modes must have the same names."""
        return pd.DataFrame(self._core.match_components(self._chain(chain), other._core, other._chain(other_chain)))

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
