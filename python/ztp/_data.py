"""Data to try things on: split off from given data, or simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from . import _core
from ._arrow import from_arrow
from ._input import ByMode, Mode, by_mode, cell_values, mode_number, new_cells, whole_number
from ._input_types import is_frame, is_tensor
from ._keywords import suggests
from ._parameters import seed_of


@dataclass(frozen=True)
class Split:
    """Training ones and test cells. Fit with ``fit(train, train_y, missing=test, labels=labels)``, so that the test
    cells are not taken for zeros."""

    train: Any
    """The training ones: ids, or labels if X had labels. With labels, the columns are categorical and list all
    entities, also those without training ones."""
    train_y: np.ndarray | None
    """Their counts, if there are any."""
    test: Any
    """Test cells, ones and zeros."""
    test_y: np.ndarray
    """1 for test ones, 0 for test zeros."""
    labels: dict[str, int] | None
    """For ids, the number of entities of each mode, also those without training ones. For labels None, because the
    columns list them."""


@suggests
def split(
    X: Any,
    y: Any = None,
    *,
    protocol: str = "ones",
    holdout: float = 0.1,
    zeros_per_one: int = 5,
    mode: Mode | None = None,
    after: int = 0,
    random_state: int | np.random.RandomState | None = 1,
) -> Split:
    """Holds out a part of the data, exactly as ``ztp split`` does.

    Parameters
    ----------
    X, y : as in `TensorFactorization.fit`
    protocol : {"ones", "cells", "slices"}
        What to hold out: a random share of the ones, with random zeros; a random share of all cells; or all ones of the
        last entities of a mode (cold start).
    holdout : float
        The share to hold out (ones, cells).
    zeros_per_one : int
        Random zeros for each test one (ones, slices).
    mode, after : mode and id
        slices: the mode, and the id of the first entity to hold out.
    random_state : int, RandomState or None
        A different state gives a different split.
    """
    X = from_arrow(X, "X")
    cells = new_cells(X, "X")
    labelled = not is_tensor(X) and (is_frame(X) or np.asarray(X).dtype.kind not in "iuf")
    arrays = _core.Arrays("X")
    for name, table in zip(cells.names, cells.labels, strict=True):
        arrays.add_mode(name, table)
    values = cells.values if y is None else np.asarray(y)
    if y is not None and cells.values is not None:
        raise ValueError("y is given, but a sparse X already contains the values")
    counts = values is not None and values.dtype.kind in "iuf" and bool((values > 1).any())
    if values is not None:
        arrays.set_values(cell_values(values, cells.ids.rows, counts))
    arrays.set_cells(cells.ids)
    data = _core.make_data(arrays, counts)
    name = "" if mode is None else cells.names[mode_number(mode, cells.names)]
    zeros_per_one, after = whole_number(zeros_per_one, "zeros_per_one", 0), whole_number(after, "after", 0)
    if isinstance(holdout, bool) or not isinstance(holdout, (int, float, np.number)):
        raise ValueError(f"holdout is {holdout!r}; expected a number between 0 and 1")
    parts = data.split(protocol, float(holdout), zeros_per_one, name, after, seed_of(random_state))

    def shown(ids: np.ndarray) -> Any:
        if not labelled:
            return ids.astype(np.int64)
        columns = {
            name: pd.Categorical.from_codes(ids[:, k].astype(np.int64), table.names())
            for k, (name, table) in enumerate(zip(cells.names, cells.labels, strict=True))
        }
        return pd.DataFrame(columns)

    sizes = {name: len(table) for name, table in zip(cells.names, cells.labels, strict=True)}
    return Split(
        shown(parts["train"]),
        parts["train_y"],
        shown(parts["test"]),
        parts["test_y"].astype(np.int64),
        None if labelled else sizes,
    )


@dataclass(frozen=True)
class Simulation:
    """A tensor with a known truth."""

    X: np.ndarray
    """The ones: ids, from 0."""
    network: dict[str, np.ndarray]
    """The edges of each mode that has a network."""
    weights: np.ndarray
    """Expected counts of the components."""
    factors: list[np.ndarray]
    """For each mode, entities x components; columns sum to one."""


@suggests
def simulate(
    dims: Sequence[int],
    ones: int,
    *,
    rank: int = 10,
    kind: str = "planted",
    dirichlet: float = 0.1,
    edges: ByMode | None = None,
    random_state: int | np.random.RandomState | None = 1,
) -> Simulation:
    """Simulates a tensor with exactly this number of ones, as ``ztp simulate`` does. `dims` are numbers of entities.
    `kind` is planted (each component is a block) or model (factors from a Dirichlet prior). `edges` asks for
    networks: the number of edges for each mode."""
    names = [f"mode{k + 1}" for k in range(len(dims))]
    asked = by_mode(edges, names, "edges")
    wanted = [(names[k], whole_number(count, f"edges[{mode!r}]", 0)) for k, (mode, count) in asked.items()]
    sizes = [whole_number(n, "a number of dims", 1) for n in dims]
    ones, rank = whole_number(ones, "ones", 0), whole_number(rank, "rank", 0)
    made = _core.simulate(sizes, ones, rank, seed_of(random_state), kind, dirichlet, wanted)
    networks = {names[k]: pairs.astype(np.int64) for k, pairs in made["networks"]}
    return Simulation(made["cells"].astype(np.int64), networks, made["weights"], made["factors"])
