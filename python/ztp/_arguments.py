"""From the arguments of fit and partial_fit to those of the library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrow import from_arrow, is_arrow, is_arrow_file
from ._input import (
    ByMode,
    by_mode,
    cell_values,
    codes_of,
    columns_of,
    is_ids,
    known_cells,
    known_entities,
    known_pairs,
    mapping,
    new_cells,
)
from ._input_types import coordinates_and_values, edges_of, is_frame, is_sparse_matrix, is_tensor


def _as_list(given: Any) -> list[Any]:
    """One network, or a list of several: pairs are tables, so a list of tables is a list of networks."""
    if isinstance(given, (list, tuple)) and given and all(_is_table(item) for item in given):
        return list(given)
    return [given]


def _is_table(item: Any) -> bool:
    return isinstance(item, (str, os.PathLike)) or getattr(item, "ndim", 0) == 2 or is_frame(item) or is_arrow(item)


def _refuse_file(given: Any, what: str) -> None:
    if isinstance(given, (str, os.PathLike)) and not is_arrow_file(given):
        raise ValueError(f"{what} is a text file and X is not; read it first, as with pandas.read_csv(file, sep='\\t')")


def _add_networks(
    arrays: _core.Arrays,
    names: list[str],
    labels: list[_core.Labels],
    network: ByMode | None,
    missing_pairs: ByMode | None,
) -> None:
    unused = by_mode(missing_pairs, names, "missing_pairs")
    for k, (mode, given) in by_mode(network, names, "network").items():
        several = _as_list(given)
        missing_of = _as_list(unused.pop(k)[1]) if k in unused else []
        if len(missing_of) > len(several):
            raise ValueError(f"missing_pairs[{mode!r}]: there are more lists than networks")
        for number, pairs in enumerate(several, start=1):
            what = f"network[{mode!r}]" + (f"[{number - 1}]" if len(several) > 1 else "")
            _refuse_file(pairs, what)
            absent = missing_of[number - 1] if number <= len(missing_of) else None
            _refuse_file(absent, f"missing_pairs[{mode!r}]")
            arrays.add_network(
                k,
                number,
                what,
                known_pairs(pairs, names[k], labels[k], what),
                None if absent is None else known_pairs(absent, names[k], labels[k], f"missing_pairs[{mode!r}]"),
            )
    for k in unused:
        raise ValueError(f"missing_pairs: the mode {names[k]} has no network")


def take_counts(X: Any, y: Any, counts: bool) -> tuple[Any, Any]:
    """With likelihood="count", a column of a frame that is called count has the counts, and is no mode."""
    if not counts or not is_frame(X):
        return X, y
    found = [name for name in X.columns if str(name).lower() in ("count", "counts")]
    if not found:
        return X, y
    if y is not None:
        raise ValueError(
            f"X has a column {found[0]!r} beside y: leave it out, for every column of X is a mode "
            "(or give it another name, if it is one)"
        )
    if len(found) > 1:
        raise ValueError(f"X has the columns {found[0]!r} and {found[1]!r}: give the counts as y")
    return X[[name for name in X.columns if name != found[0]]], X[found[0]]


def _set_values(arrays: _core.Arrays, values: np.ndarray | None, y: Any, rows: int, counts: bool) -> None:
    """What each cell is: as y says, or a sparse X itself. Without either, a one; counts must be given."""
    if y is not None and values is not None:
        raise ValueError("y is given, but a sparse X already contains the values")
    if y is not None or values is not None:
        values = cell_values(values if y is None else y, rows, counts)
        if rows and not values.any():
            raise ValueError(f"there are no ones: all values are 0 (n_samples = {rows})")
        arrays.set_values(values)
    elif counts and rows:
        raise ValueError(
            'likelihood="count" needs the counts: give them as y, for every column of X is a mode, as in '
            'fit(frame[["user", "item"]], frame["count"])'
        )


def fit_arrays(
    X: Any,
    y: Any,
    network: ByMode | None,
    missing: Any,
    missing_slices: ByMode | None,
    missing_pairs: ByMode | None,
    labels: ByMode | None,
    counts: bool,
) -> _core.Arrays:
    """The arrays of a first fit."""
    cells = new_cells(X, "X", labels)
    arrays = _core.Arrays("X")
    for name, table in zip(cells.names, cells.labels, strict=True):
        arrays.add_mode(name, table)
    _set_values(arrays, cells.values, y, cells.ids.rows, counts)
    arrays.set_cells(cells.ids)
    _add_networks(arrays, cells.names, cells.labels, network, missing_pairs)
    if missing is not None:
        _refuse_file(missing, "missing")
        missing = from_arrow(missing, "missing")
        if is_tensor(missing):
            columns, stored_values = coordinates_and_values(missing, "missing")
            missing = np.stack(columns, axis=1)[stored_values != 0]
        arrays.set_missing(known_cells(missing, cells.names, cells.labels, "missing"))
    if missing_slices is not None:
        slices: list[list[int]] = [[] for _ in cells.names]
        for k, (mode, given) in by_mode(missing_slices, cells.names, "missing_slices").items():
            slices[k] = known_entities(given, cells.labels[k], f"missing_slices[{mode!r}]")
        arrays.set_missing_slices(slices)
    return arrays


class _GrowingMode:
    """The entities of a mode, those of the run first; what is not among them is added."""

    def __init__(self, name: str, known: _core.Labels) -> None:
        self.name = name
        self.table = known.copy()

    def fill(self, ids: _core.Ids, k: int, column: Any, what: str) -> None:
        """Puts a column of ids or of labels into column k of `ids`."""
        if is_ids(column):
            self._grow_to(ids.fill_column(k, column, what, self.name), what)
            return
        codes, texts = codes_of(column, what, self.name)
        if self.table.is_numbered:
            numbers = np.array([self._number(text, what) for text in texts], dtype=np.int64)
            self._grow_to(ids.fill_column(k, numbers[codes], what, self.name), what)
        else:
            self.table.add(texts)
            ids.fill_column(k, self.table.find(texts)[codes], what, self.name)

    def _grow_to(self, size: int, what: str) -> None:
        if size <= len(self.table):
            return
        if not self.table.is_numbered:
            raise ValueError(
                f"{what}: column {self.name}: the id {size - 1} is new, and the entities of this mode have names; "
                "give labels (a frame) instead of ids"
            )
        self.table = _core.Labels.numbered(self.table.first_number, size)

    def _number(self, text: str, what: str) -> int:
        """The id of an entity of a mode of numbers."""
        first = self.table.first_number
        if not (len(text) <= 10 and text.isdecimal() and str(int(text)) == text and int(text) >= first):
            raise ValueError(
                f"{what}: column {self.name}: {text!r}: the entities of this mode are numbers from {first}"
            )
        return int(text) - first


def _ids_of_growing_modes(X: Any, modes: list[_GrowingMode], what: str) -> tuple[_core.Ids, np.ndarray | None]:
    """Cells over modes that grow, and the values that a sparse X has."""
    columns, values = columns_of(X, [mode.name for mode in modes], what)
    ids = _core.Ids(len(columns[0]), len(modes))
    for k, (mode, column) in enumerate(zip(modes, columns, strict=True)):
        mode.fill(ids, k, column, what)
    return ids, values


def update_arrays(
    X: Any, y: Any, network: ByMode | None, names: list[str], known: list[_core.Labels], counts: bool
) -> _core.Arrays:
    """The arrays of an update, which may have new entities."""
    modes = [_GrowingMode(name, table) for name, table in zip(names, known, strict=True)]
    arrays = _core.Arrays("X")
    if X is None:
        if y is not None:
            raise ValueError("y is given, but no X")
        arrays.set_cells(_core.Ids(0, len(names)))
    else:
        ids, values = _ids_of_growing_modes(X, modes, "X")
        _set_values(arrays, values, y, ids.rows, counts)
        arrays.set_cells(ids)
    for k, (mode, given) in by_mode(network, names, "network").items():
        for number, pairs in enumerate(_as_list(given), start=1):
            what = f"network[{mode!r}]"
            _refuse_file(pairs, what)
            if is_sparse_matrix(pairs):
                pairs = edges_of(pairs, what)
            arrays.add_network(k, number, what, _ids_of_growing_modes(pairs, [modes[k], modes[k]], what)[0], None)
    for grown in modes:
        arrays.add_mode(grown.name, grown.table)
    return arrays


def read_flags(
    path: str | os.PathLike[str],
    network: ByMode | None,
    missing: Any,
    missing_slices: ByMode | None,
    missing_pairs: ByMode | None,
    labels: ByMode | str | os.PathLike[str] | None,
    reading: Mapping[str, Any],
) -> dict[str, Any]:
    """The flags of the command line, for data in text files."""

    def file(given: Any, what: str) -> str:
        if not isinstance(given, (str, os.PathLike)) or is_arrow_file(given):
            raise ValueError(f"X is a text file, so {what} must be one, too")
        return os.fspath(given)

    def assignments(given: ByMode | None, what: str) -> list[str]:
        texts = []
        for mode, items in mapping(given, what).items():
            if not isinstance(mode, str):
                raise ValueError(f"{what}[{mode!r}]: X is a file, so a mode is given by its name")
            for item in items if isinstance(items, (list, tuple)) else [items]:
                texts.append(f"{mode}={file(item, f'{what}[{mode!r}]')}")
        return texts

    directory = isinstance(labels, (str, os.PathLike))
    return {
        "file": os.fspath(path),
        "network": assignments(network, "network"),
        "missing": file(missing, "missing") if missing is not None else "",
        "missing_slices": assignments(missing_slices, "missing_slices"),
        "missing_pairs": assignments(missing_pairs, "missing_pairs"),
        "labels": [file(labels, "labels")] if directory else assignments(labels, "labels"),  # type: ignore[arg-type]
    } | {name: value for name, value in reading.items() if value is not None}
