"""Answers about components, or about the columns that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ._input import Mode, mode_number, whole_number
from ._keywords import methods_suggest

if TYPE_CHECKING:
    from ._core import Ids, Labels
    from ._core import Posterior as CorePosterior
    from ._posterior import Posterior


@methods_suggest
class _Components:
    """The part of `Posterior` that is about components."""

    if TYPE_CHECKING:
        _core: CorePosterior
        _labels: list[Labels]
        info: dict[str, Any]
        mode_names: list[str]

        @property
        def chains(self) -> int: ...
        def _ids(self, X: Any, what: str = "X") -> Ids: ...
        def labels(self, mode: Mode) -> np.ndarray: ...

    @property
    def shares_columns(self) -> bool:
        """Whether components share columns. Then use `columns` and `core` instead of `components`."""
        return bool(self.info["options"]["columns"])

    def components(self, top: int = 5, chain: int = 0) -> pd.DataFrame:
        """One row per component of a chain (from 0), largest weight first.

        It has the number of the component (from 1, as on the command line), its weight (expected count) with 5 % and 95
        % posterior quantiles, the share of the ones that it explains, its stability, and its `top` entities in each
        mode. Stability tells how closely the other chains have the same component: 1 if all have exactly the same, NaN
        with one chain.
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
        """One row per column of a mode if components share columns, largest weight first: its number (from 1), the
        weight of the components of a chain (from 0) that use it, with 5 % and 95 % posterior quantiles, its stability
        (as in `components`), and its `top` entities. Tied modes have the same columns."""
        k = mode_number(mode, self.mode_names)
        self._refuse_names("column", "weight", "weight_q05", "weight_q95", "stability")
        rows = []
        for column in self._core.columns(k, whole_number(top, "top", 0), self._chain(chain)):
            entities = "; ".join(str(self._label(k, i)) for i, _ in column.pop("top"))
            rows.append(column | {self.mode_names[k]: entities})
        return pd.DataFrame(rows).set_index("column")

    def core(self, chain: int = 0) -> pd.DataFrame:
        """One row per entry of the core if components share columns, largest weight first: the column of each mode
        (from 1; for a mode with own columns, the entity), the weight of the components of a chain (from 0) that have
        these columns, with 5 % and 95 % posterior quantiles, and its stability (how closely the other chains have the
        same entry, in the matched columns). Entries of less than half a count are left out."""
        numbers = ["weight", "weight_q05", "weight_q95", "stability"]
        self._refuse_names(*numbers)
        rows = []
        for entry in self._core.core(self._chain(chain)):
            rows.append(dict(zip(self.mode_names, self._entry(entry.pop("columns")), strict=True)) | entry)
        return pd.DataFrame(rows, columns=[*self.mode_names, *numbers])

    def top_entities(self, mode: Mode, top: int = 10, chain: int = 0) -> pd.DataFrame:
        """The entities with the largest share of each component (or of each column, if components share columns):
        component, place (from 1), entity, and value (the share, posterior mean)."""
        k = mode_number(mode, self.mode_names)
        what = "column" if self.shares_columns else "component"
        self._refuse_names(what, "place", "value")
        top, chain = whole_number(top, "top", 0), self._chain(chain)
        if self.shares_columns:
            found = [(column["column"], column["top"]) for column in self._core.columns(k, top, chain)]
        else:
            found = [(c["component"], c["top"][k]) for c in self._core.components(top, chain)]
        rows = [
            (number, place, self._label(k, i), value)
            for number, entities in found
            for place, (i, value) in enumerate(entities, start=1)
        ]
        return pd.DataFrame(rows, columns=[what, "place", self.mode_names[k], "value"])

    def factor(self, mode: Mode, chain: int | None = None) -> np.ndarray:
        """The factors of a mode, entities x components: posterior means, in columns that sum to one. If components
        share columns, entities x columns.

        With `chain` (from 0), those of one chain; otherwise the means over all chains, after matching their components
        (or columns) with those of the first chain.
        """
        k = mode_number(mode, self.mode_names)
        return self._core.mean_factor(k, self._chain(chain) if chain is not None or self.chains == 1 else None)

    def factor_frame(self, mode: Mode, chain: int | None = None) -> pd.DataFrame:
        """`factor` as a frame: one row per entity, by label, and one column per component (or column), by number (from
        1)."""
        k = mode_number(mode, self.mode_names)
        index = pd.Index(self.labels(k), name=self.mode_names[k])
        factor = self.factor(k, chain)
        name = "column" if self.shares_columns else "component"
        return pd.DataFrame(factor, index, pd.RangeIndex(1, factor.shape[1] + 1, name=name))

    def weights(self, chain: int | None = None) -> np.ndarray:
        """The weights of the components, in the order of `factor`: expected counts, posterior means. With `chain` (from
        0), those of one chain; otherwise the means over all chains, after matching."""
        if chain is not None or self.chains == 1:
            return self._core.mean_weights(self._chain(chain))
        if self.shares_columns:
            raise ValueError("components that share columns are not matched between chains; give a chain")
        return np.array([mean for _, mean, _ in self._core.match_chains(0)["components"]])

    def parts_of_rates(self, X: Any) -> np.ndarray:
        """How much each component contributes to the rate of each cell, cells x components, at the posterior means of
        factors and weights."""
        return self._core.parts_of_rates(self._ids(X))

    def explain(self, X: Any) -> list[dict[Any, float]]:
        """Why cells are as probable as they are. For each cell, the components of the first chain (by number, from 1)
        that make up at least a hundredth of its rate, and their shares of the rate, largest first.

        If components share columns, these are entries of the core: tuples with the column of each mode, as in the rows
        of `core` (from 1; for a mode with own columns, the entity). `columns` lists the entities of a column.
        """
        return [self._shares(parts) for parts in self._core.explain(self._ids(X))]

    def match_chains(self, reference: int = 0) -> pd.DataFrame:
        """Matches the components of each other chain with those of the reference, one to one, with the largest overlap.

        There is one row for each component of the reference and each other chain: its partner there, the overlap of the
        two as distributions over cells, their agreement (the overlap, reduced if their weights differ), and the share
        of the total weight of both. Components are numbered from 1.
        """
        found = self._core.match_chains(self._chain(reference))
        frames = [pd.DataFrame(matches).assign(chain=chain) for chain, matches in found["chains"]]
        columns = ["component", "chain", "partner", "overlap", "agreement", "weight_share", "partner_weight_share"]
        return pd.concat(frames)[columns].reset_index(drop=True) if frames else pd.DataFrame(columns=columns)

    def match(self, other: Posterior, chain: int = 0, other_chain: int = 0) -> pd.DataFrame:
        """The same as `match_chains`, for the components of another run. Its modes must have the same names."""
        return pd.DataFrame(self._core.match_components(self._chain(chain), other._core, other._chain(other_chain)))

    def match_columns(self, mode: Mode, other: Posterior, chain: int = 0, other_chain: int = 0) -> pd.DataFrame:
        """Matches the columns of a mode if components share columns: one row per column of a chain, with its partner in
        a chain of another run, or of this one. Columns are numbered from 1."""
        k = mode_number(mode, self.mode_names)
        found = self._core.match_columns(k, self._chain(chain), other._core, other._chain(other_chain))
        return pd.DataFrame(found)

    def match_core(self, other: Posterior, chain: int = 0, other_chain: int = 0) -> pd.DataFrame:
        """Matches the entries of the core: one row per entry of `core`, with the entry of the other chain that has the
        matched columns. Entries and partners are tuples as in `explain`. The partner is None if a column has no
        partner."""
        found = self._core.match_core(self._chain(chain), other._core, other._chain(other_chain))
        rows = []
        for match in found:
            entry = self._entry(match.pop("columns"))
            partner = match.pop("partner")
            rows.append({"entry": entry, "partner": None if partner is None else other._entry(partner)} | match)
        columns = ["entry", "partner", "overlap", "agreement", "weight_share", "partner_weight_share"]
        return pd.DataFrame(rows, columns=columns)

    def _entry(self, columns: list[int]) -> tuple[Any, ...]:
        """An entry of the core, with labels for entities that have columns of their own."""
        own = [str(item).endswith("=own") for item in self.info["options"]["columns"]]
        return tuple(self._label(k, column - 1) if own[k] else column for k, column in enumerate(columns))

    def _shares(self, parts: list[tuple[Any, float]]) -> dict[Any, float]:
        return {what if isinstance(what, int) else self._entry(what): share for what, share in parts}

    def _label(self, k: int, i: int) -> Any:
        table = self._labels[k]
        return table.first_number + i if table.is_numbered else table.name(i)

    def _chain(self, chain: int | None) -> int:
        if chain is None:
            return 0
        if isinstance(chain, bool) or not isinstance(chain, (int, np.integer)) or not 0 <= chain < self.chains:
            raise ValueError(f"chain is {chain!r}; expected 0 to {self.chains - 1}")
        return int(chain)

    def _refuse_names(self, *columns: str) -> None:
        """Frames have a column for each mode beside these."""
        for name in columns:
            if name in self.mode_names:
                raise ValueError(f"the mode {name} has the name of another column; fit with another name for it")
