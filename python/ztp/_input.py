"""From what people have (arrays, frames, sparse matrices) to ids of entities, with one copy of the coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from . import _core

Mode = int | str
_LARGEST_COUNT = 2**62


@dataclass
class Cells:
    """Cells as ids: `labels[k]` says what the ids of column k stand for."""

    names: list[str]
    ids: _core.Ids
    labels: list[_core.Labels]
    values: np.ndarray | None = None  # of each cell, where the data have some


def is_sparse_matrix(X: Any) -> bool:
    """Of scipy.sparse."""
    return hasattr(X, "tocoo") and getattr(X, "ndim", 0) == 2


def is_sparse_array(X: Any) -> bool:
    """COO of pydata/sparse."""
    return hasattr(X, "coords") and hasattr(X, "data") and hasattr(X, "shape")


def is_polars(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "get_columns")


def is_frame(X: Any) -> bool:
    return isinstance(X, pd.DataFrame) or is_polars(X)


def is_tensor(X: Any) -> bool:
    """Whether it is the tensor itself, not a table with a row for each one."""
    return is_sparse_matrix(X) or is_sparse_array(X)


def default_names(K: int) -> list[str]:
    return [f"mode{k + 1}" for k in range(K)]


def mode_number(mode: Mode, names: Sequence[str]) -> int:
    """The position of a mode that is given by its name or its position."""
    if isinstance(mode, str):
        if mode in names:
            return list(names).index(mode)
    elif isinstance(mode, (int, np.integer)) and not isinstance(mode, bool) and 0 <= mode < len(names):
        return int(mode)
    raise ValueError(f"there is no mode {mode!r}; the modes are {', '.join(names)}, or 0 to {len(names) - 1}")


def label_text(label: Any) -> str:
    """An entity's name: what a file of the same data would have."""
    if isinstance(label, str):
        return label
    if isinstance(label, bytes):
        return label.decode()
    if isinstance(label, pd.Timestamp) and label == label.normalize():
        return str(label.date())
    if isinstance(label, np.generic):
        label = label.item()
    return str(label)


def _no_missing(codes: np.ndarray, what: str, name: str) -> None:
    if len(codes) and codes.min() < 0:
        row = int(np.argmax(codes < 0))
        raise ValueError(f"{what}: row {row}, column {name}: NaN (no label); remove such rows (dropna) or name them")


def _columns(X: Any, what: str) -> tuple[list[str], list[Any]]:
    """Names and columns of a frame, or of an array of labels."""
    if isinstance(X, pd.DataFrame):
        return [str(c) for c in X.columns], [X.iloc[:, k] for k in range(X.shape[1])]
    if is_polars(X):
        return list(X.columns), list(X.get_columns())
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"{what}: expected a table with a row for each cell and a column for each mode, not {array.ndim}-dimensional data")
    return default_names(array.shape[1]), [pd.Series(array[:, k]) for k in range(array.shape[1])]


def codes_of(column: Any, what: str, name: str) -> tuple[np.ndarray, list[str]]:
    """The distinct labels of a column in order of first appearance (or its categories), and for each row which it has."""
    if is_polars_series(column):
        if column.null_count():
            _no_missing(np.where(column.is_null().to_numpy(), -1, 0), what, name)
        distinct = column.unique(maintain_order=True)
        numbers = np.arange(len(distinct), dtype=np.uint32)
        codes = column.replace_strict(distinct, numbers).to_numpy() if len(column) else numbers
        return codes, _texts(distinct.to_list(), what, name)
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, distinct = column.cat.codes.to_numpy(), column.cat.categories
    else:
        codes, distinct = pd.factorize(column)
    _no_missing(codes, what, name)
    return codes, _texts(list(distinct), what, name)


def is_polars_series(column: Any) -> bool:
    return type(column).__module__.partition(".")[0] == "polars"


def _texts(labels: list[Any], what: str, name: str) -> list[str]:
    texts = [label_text(label) for label in labels]
    if len(set(texts)) < len(texts):
        seen: set[str] = set()
        twice = next(t for t in texts if t in seen or seen.add(t))  # type: ignore[func-returns-value]
        raise ValueError(f"{what}: column {name}: two different labels are both written {twice!r}; make the column one type")
    for text in texts:
        if text == "" or any(c in text for c in "\t\n\r\0"):
            raise ValueError(f"{what}: column {name}: the label {text!r} is empty or has a tab or a line break in it")
    return texts


def _is_numeric(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.kind in "iuf"


def _check_table(array: np.ndarray, what: str) -> None:
    if array.dtype.kind == "b":
        raise ValueError(f"{what}: an array of truth values; pass the coordinates of its ones: numpy.argwhere(X)")
    if array.ndim != 2:
        remedy = "; of a dense tensor pass the coordinates of its ones: numpy.argwhere(X)" if array.ndim > 2 else ""
        raise ValueError(
            f"{what}: expected a row for each cell and a column for each mode, but the array is {array.ndim}-dimensional{remedy}"
        )


def new_cells(X: Any, what: str, entities: Mapping[Mode, Any] | None = None) -> Cells:
    """Cells of modes that are not known yet."""
    if is_tensor(X):
        return _with_sizes(_tensor_cells(X, what), entities, what)
    if not is_frame(X):
        X = np.asarray(X)
    if _is_numeric(X):
        _check_table(X, what)
        names = default_names(X.shape[1])
        ids = _core.Ids(X.shape[0], X.shape[1])
        extents = ids.fill(X, what, names)
        cells = Cells(names, ids, [_core.Labels.numbered(0, n) for n in extents])
        return _with_sizes(cells, entities, what)
    return _label_cells(X, what, entities)


def _stored(X: Any, what: str) -> tuple[Sequence[Any], np.ndarray]:
    """The coordinates, mode by mode, and the values that a sparse matrix or array has."""
    if is_sparse_matrix(X):
        X = X.tocoo()
        return [X.row, X.col], np.asarray(X.data)
    if np.any(getattr(X, "fill_value", 0)):
        raise ValueError(f"{what}: its fill value is {X.fill_value}; it must be 0")
    return X.coords, np.asarray(X.data)


def _tensor_cells(X: Any, what: str) -> Cells:
    columns, values = _stored(X, what)
    names = default_names(len(columns))
    ids = _core.Ids(len(values), len(columns))
    for k, column in enumerate(columns):
        ids.fill_column(k, np.asarray(column), what, names[k])
    return Cells(names, ids, [_core.Labels.numbered(0, n) for n in X.shape], values)


def _with_sizes(cells: Cells, entities: Mapping[Mode, Any] | None, what: str) -> Cells:
    """Modes of numbers are as large as `entities` says."""
    for mode, size in (entities or {}).items():
        k = mode_number(mode, cells.names)
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool):
            raise ValueError(f"entities[{mode!r}]: {what} has ids, so this is the number of entities of the mode")
        if size < len(cells.labels[k]):
            raise ValueError(f"entities[{mode!r}] = {size}, but {what} has the id {len(cells.labels[k]) - 1} there")
        cells.labels[k] = _core.Labels.numbered(0, int(size))
    return cells


def _label_cells(X: Any, what: str, entities: Mapping[Mode, Any] | None) -> Cells:
    names, columns = _columns(X, what)
    if len(set(names)) < len(names):
        raise ValueError(f"{what}: two columns have the same name: {', '.join(names)}")
    given = {mode_number(mode, names): labels for mode, labels in (entities or {}).items()}
    ids = _core.Ids(len(X), len(names))
    tables = []
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        codes, texts = codes_of(column, what, name)
        if k in given:
            table = _core.Labels(_texts(list(given[k]), "entities", name))
            codes = _translated(codes, texts, table, what, name, "in entities")
        else:
            table = _core.Labels(texts)
        ids.fill_column(k, codes, what, name)
        tables.append(table)
    return Cells(names, ids, tables)


def _translated(
    codes: np.ndarray, texts: list[str], table: _core.Labels, what: str, name: str, where: str
) -> np.ndarray:
    """Codes of `texts` as ids of a table, which must have them all (those that occur)."""
    found = table.find(texts)
    translated = found[codes]
    if len(translated) and translated.min() < 0:
        row = int(np.argmax(translated < 0))
        raise ValueError(f"{what}: row {row}, column {name}: {texts[int(codes[row])]!r} is not {where}")
    return translated


def is_ids(column: Any) -> bool:
    """Whether a column of `columns_of` has ids; else it has labels."""
    return isinstance(column, np.ndarray)


def columns_of(X: Any, names: Sequence[str], what: str) -> tuple[list[Any], np.ndarray | None]:
    """A column for each of the modes so named: arrays of ids where X has numbers, else series of labels. And the values of
    a sparse X."""
    values = None
    if is_tensor(X):
        stored, values = _stored(X, what)
        found, columns = None, [np.asarray(column) for column in stored]
    elif is_frame(X):
        found, columns = _columns(X, what)
    else:
        X = np.asarray(X)
        _check_table(X, what)
        found = None
        columns = [X[:, k] if _is_numeric(X) else pd.Series(X[:, k]) for k in range(X.shape[1])]
    if found is not None and len(set(names)) == len(names):  # else they are pairs of one mode
        if not set(names) <= set(found):
            raise ValueError(f"{what}: its columns are {', '.join(found)}; expected {', '.join(names)}")
        columns = [columns[found.index(name)] for name in names]
    if len(columns) != len(names):
        raise ValueError(f"{what}: {len(columns)} columns; expected {len(names)}: {', '.join(names)}")
    return columns, values


def known_cells(X: Any, names: Sequence[str], labels: Sequence[_core.Labels], what: str) -> _core.Ids:
    """Cells of modes that are known: numbers are ids, from 0, and everything else is labels. An id that is too large is
    refused by the library."""
    columns, _ = columns_of(X, names, what)
    ids = _core.Ids(len(columns[0]), len(names))
    for k, column in enumerate(columns):
        if not is_ids(column):
            codes, texts = codes_of(column, what, names[k])
            where = f"an entity of the mode {names[k]}"
            column = _translated(codes, texts, labels[k], what, names[k], where)
        ids.fill_column(k, column, what, names[k])
    return ids


def known_entities(given: Any, labels: _core.Labels, what: str) -> list[int]:
    """Entities of one mode, as ids or labels."""
    array = np.asarray(given)
    if array.dtype.kind in "iu":
        if array.size and (array.min() < 0 or array.max() >= len(labels)):
            raise ValueError(f"{what}: ids are 0 to {len(labels) - 1}")
        return [int(i) for i in array]
    texts = [label_text(label) for label in given]
    ids = labels.find(texts)
    for text, i in zip(texts, ids, strict=True):
        if i < 0:
            raise ValueError(f"{what}: there is no entity {text!r}")
    return [int(i) for i in ids]


def edges_of(matrix: Any) -> np.ndarray:
    """Of an adjacency matrix: each edge once, also where the matrix has both directions."""
    coo = matrix.tocoo()
    pairs = np.stack([coo.row, coo.col], axis=1)[coo.data != 0]
    return np.unique(np.sort(pairs, axis=1), axis=0)


def known_pairs(given: Any, name: str, labels: _core.Labels, what: str) -> _core.Ids:
    """Pairs of entities of one mode: a table of two columns, or an adjacency matrix of scipy.sparse."""
    if is_sparse_matrix(given) and tuple(given.shape) != (len(labels), len(labels)):
        raise ValueError(f"{what}: the matrix is {given.shape[0]} x {given.shape[1]}; {name} has {len(labels)} entities")
    if is_sparse_matrix(given):
        given = edges_of(given)
    return known_cells(given, [name, name], [labels, labels], what)


def cell_values(y: Any, rows: int, counts: bool) -> np.ndarray:
    """The values of cells: zeros are no ones; without counts everything else is a one."""
    values = np.asarray(y)
    expected = "0, 1, 2, ..." if counts else "0, or 1 for a one"
    if values.shape != (rows,):
        raise ValueError(f"y has the shape {values.shape}; expected a value for each of the {rows} rows of X")
    if values.dtype.kind not in "iufb":
        raise ValueError(f"y: Unknown label type: {values.dtype}; expected numbers: {expected}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"y has NaN or inf in it; expected numbers: {expected}")
    if (values < 0).any():
        raise ValueError(f"y has the negative value {values.min()}; expected numbers: {expected}")
    if not counts:
        return (values != 0).astype(np.int64)
    if (values != np.floor(values)).any():
        raise ValueError(f"y has fractions in it; expected whole numbers: {expected}")
    if (values > _LARGEST_COUNT).any():
        raise ValueError(f"y has the value {values.max()}; counts are at most 2^62")
    return values.astype(np.int64)
