"""What to recommend: cells, or the entities of a mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import _core
from ._input import ByMode, Mode, by_mode, known_cells, known_entities, mode_number, whole_number

if TYPE_CHECKING:
    from ._posterior import Posterior

_WHY = "why"


def recommend(
    posterior: Posterior,
    given: ByMode,
    top: int,
    mode: Mode | None,
    distinct: Mode | None,
    only_new: Mode | None,
    exclude: Any,
    raw: bool,
    listed: float,
) -> pd.DataFrame:
    names = posterior.mode_names
    fixed: list[int | None] = [None] * len(names)
    for k, (name, entity) in by_mode(given, names, "given").items():
        fixed[k] = known_entities([entity], posterior._labels[k], f"given[{name!r}]")[0]
    number = whole_number(top, "top", 1)
    core = posterior._asked(raw, listed)
    new = None if only_new is None else mode_number(only_new, names)
    left_out = _excluded(posterior, exclude)
    if mode is None:
        one_of_each = None if distinct is None else mode_number(distinct, names)
        cells = core.recommend(fixed, number, *left_out, new, one_of_each)
        ids = np.array([cell[0] for cell in cells], dtype=np.int64).reshape(len(cells), len(names))
        return _frame(posterior, {name: (k, ids[:, k]) for k, name in enumerate(names)}, cells)
    if distinct is not None:
        raise ValueError("distinct is for cells, and mode ranks entities; give one of them")
    k = mode_number(mode, names)
    entities = core.recommend_entities(k, fixed, number, *left_out, new)
    ids = np.array([entity[0] for entity in entities], dtype=np.int64)
    counts = {
        "ones": np.array([entity[4] for entity in entities], dtype=np.int64),
        "cells": np.array([entity[5] for entity in entities], dtype=np.float64),
    }
    return _frame(posterior, {names[k]: (k, ids)}, entities, counts)


def _excluded(posterior: Posterior, exclude: Any) -> tuple[list[list[int]], Any]:
    """Entities of each mode, and cells."""
    names, labels = posterior.mode_names, posterior._labels
    entities: list[list[int]] = [[] for _ in names]
    if exclude is not None and not isinstance(exclude, Mapping):
        return entities, known_cells(exclude, names, labels, "exclude")
    for k, (name, some) in by_mode(exclude or {}, names, "exclude").items():
        entities[k] = known_entities([some] if isinstance(some, str) else some, labels[k], f"exclude[{name!r}]")
    return entities, _core.Ids(0, len(names))


def _frame(
    posterior: Posterior,
    ids: dict[str, tuple[int, np.ndarray]],
    found: list[Any],
    more: dict[str, np.ndarray] | None = None,
) -> pd.DataFrame:
    """Labels, predictions, and what else is told."""
    frame = pd.DataFrame({name: posterior.labels(k)[of_mode] for name, (k, of_mode) in ids.items()})
    numbers = np.array([item[1] for item in found]).reshape(len(found), 5)
    frame = posterior._with_predictions(frame, numbers)
    columns = {**(more or {}), "missing": np.array([item[3] for item in found], dtype=bool)}
    posterior._refuse_names(*columns, _WHY)
    for name, values in columns.items():
        frame[name] = values
    frame[_WHY] = [posterior._shares(item[2]) for item in found]
    return frame
