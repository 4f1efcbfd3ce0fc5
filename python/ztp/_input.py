"""From arrays, frames and sparse matrices to ids of entities, with one copy of the coordinates."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from . import _core
from ._arrow import from_arrow
from ._input_types import (
    as_array,
    check_table,
    coordinates_and_values,
    edges_of,
    is_frame,
    is_numeric,
    is_polars,
    is_polars_series,
    is_sparse_matrix,
    is_tensor,
    native_array,
)

Mode = int | str
# Something for some modes. (A dict of names is no dict of names and positions, to those who check types.)
ByMode = Mapping[str, Any] | Mapping[int, Any] | Mapping[Mode, Any]

_LARGEST_COUNT = 2**62
_LARGEST_MODE = 2**31


@dataclass
class Cells:
    """Cells as ids: `labels[k]` says what the ids of column k stand for."""

    names: list[str]
    ids: _core.Ids
    labels: list[_core.Labels]
    values: np.ndarray | None = None  # of each cell, where the data have some


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


def whole_number(value: Any, name: str, least: int) -> int:
    """Checks an argument that is an integer."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is {value!r}; expected an integer, {least} or more")
    return int(value)


def label_text(label: Any) -> str:
    """An entity's name: what a file of the same data would have."""
    if isinstance(label, str):
        return label
    if isinstance(label, bytes):
        return label.decode()
    if isinstance(label, datetime.datetime) and label.tzinfo is None and label.time() == datetime.time():
        return str(label.date())
    if isinstance(label, np.generic):
        label = label.item()
    return str(label)


def mapping(given: ByMode | None, what: str) -> Mapping[Any, Any]:
    """What is given for modes, if it is a dict; nothing is an empty one."""
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"{what} is a {type(given).__name__}; expected a dict with modes as keys")
    return {} if given is None else given


def by_mode(given: ByMode | None, names: Sequence[str], what: str) -> dict[int, tuple[Mode, Any]]:
    """What is given for modes, by their positions, with how each was called."""
    found: dict[int, tuple[Mode, Any]] = {}
    for mode, item in mapping(given, what).items():
        k = mode_number(mode, names)
        if k in found:
            raise ValueError(f"{what} has the mode {names[k]} twice: as {found[k][0]!r} and as {mode!r}")
        found[k] = mode, item
    return found


def _columns(X: Any, what: str) -> tuple[list[str], list[Any]]:
    """Names and columns of a frame, or of an array of labels."""
    if isinstance(X, pd.DataFrame):
        if len({type(c) for c in X.columns}) > 1:
            raise ValueError(f"{what}: its column names have several types; make them text")
        return [str(c) for c in X.columns], [X.iloc[:, k] for k in range(X.shape[1])]
    if is_polars(X):
        return list(X.columns), list(X.get_columns())
    return default_names(X.shape[1]), [pd.Series(X[:, k]) for k in range(X.shape[1])]


def codes_of(column: Any, what: str, name: str) -> tuple[np.ndarray, list[str]]:
    """The distinct labels of a column in order of first appearance (or its categories), and for each row which it
    has."""
    try:
        codes, distinct = _codes_of_polars(column) if is_polars_series(column) else _codes_of_pandas(column)
    except TypeError as error:
        raise ValueError(f"{what}: column {name}: labels are text, numbers or dates ({error})") from None
    if len(codes) and codes.min() < 0:
        row = int(np.argmax(codes < 0))
        raise ValueError(f"{what}: row {row}, column {name}: NaN (no label); remove such rows (dropna) or name them")
    return codes, texts_of(distinct, f"{what}: column {name}")


def _codes_of_pandas(column: pd.Series) -> tuple[np.ndarray, list[Any]]:
    """-1 where there is no label."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), list(column.cat.categories)
    codes, distinct = pd.factorize(column)
    return codes, list(distinct)


def _codes_of_polars(column: Any) -> tuple[np.ndarray, list[Any]]:
    """-1 where there is no label."""
    if column.dtype.is_nested():
        raise TypeError(f"type {column.dtype}")
    absent = column.is_null()
    if column.dtype.is_float():
        absent = absent | column.is_nan().fill_null(False)
    if type(column.dtype).__name__ == "Enum":  # as a categorical column of pandas
        codes, distinct = column.to_physical().fill_null(0).to_numpy().astype(np.int64), column.dtype.categories
    else:
        distinct = column.unique(maintain_order=True)
        codes = column.replace_strict(distinct, np.arange(len(distinct))).to_numpy()
    return np.where(absent.to_numpy(), -1, codes), distinct.to_list()


def texts_of(labels: list[Any], where: str) -> list[str]:
    """Labels as the library has them: different ones, which a text file could have."""
    texts = [label_text(label) for label in labels]
    if len(set(texts)) < len(texts):
        seen: set[str] = set()
        twice = next(text for text in texts if text in seen or seen.add(text))  # type: ignore[func-returns-value]
        raise ValueError(f"{where}: two labels are both written {twice!r}; perhaps they have different types")
    for text in texts:
        if text == "" or any(c in text for c in "\t\n\r\0"):
            raise ValueError(f"{where}: the label {text!r} is empty, or has a tab, a line break or a NUL")
        if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise ValueError(f"{where}: the label {text!r} has half a character (a surrogate)")
    return texts


def new_cells(X: Any, what: str, labels: ByMode | None = None) -> Cells:
    """Cells of modes that are not known yet."""
    X = from_arrow(X, what)
    if is_tensor(X):
        return _with_sizes(_tensor_cells(X, what), labels, what)
    if not is_frame(X):
        X = as_array(X, what)
        check_table(X, what)
    if not is_numeric(X):
        return _label_cells(X, what, labels)
    names = default_names(X.shape[1])
    ids = _core.Ids(X.shape[0], X.shape[1])
    extents = ids.fill(native_array(X), what, names)
    return _with_sizes(Cells(names, ids, [_core.Labels.numbered(0, n) for n in extents]), labels, what)


def _tensor_cells(X: Any, what: str) -> Cells:
    columns, values = coordinates_and_values(X, what)
    names = default_names(len(columns))
    ids = _core.Ids(len(values), len(columns))
    for k, column in enumerate(columns):
        ids.fill_column(k, column, what, names[k])
    for size in X.shape:
        if size > _LARGEST_MODE:
            raise ValueError(f"{what}: its shape is {X.shape}; a mode has at most 2^31 entities")
    return Cells(names, ids, [_core.Labels.numbered(0, n) for n in X.shape], values)


def _with_sizes(cells: Cells, labels: ByMode | None, what: str) -> Cells:
    """Modes of numbers are as large as `labels` says."""
    for k, (mode, size) in by_mode(labels, cells.names, "labels").items():
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool):
            raise ValueError(f"labels[{mode!r}]: {what} has ids, so this must be the number of entities of the mode")
        if not len(cells.labels[k]) <= size <= _LARGEST_MODE:
            found = len(cells.labels[k])
            raise ValueError(f"labels[{mode!r}] is {size}; expected {found} or more, as {what} has them")
        cells.labels[k] = _core.Labels.numbered(0, int(size))
    return cells


def _label_cells(X: Any, what: str, labels: ByMode | None) -> Cells:
    names, columns = _columns(X, what)
    _check_names(names, what)
    given = by_mode(labels, names, "labels")
    ids = _core.Ids(len(X), len(names))
    tables = []
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        codes, texts = codes_of(column, what, name)
        if k in given:
            table = _core.Labels(texts_of(list_of(given[k][1], f"labels[{name!r}]"), f"labels[{name!r}]"))
            codes = _codes_to_ids(codes, texts, table, what, name, "in labels")
        else:
            table = _core.Labels(texts)
        ids.fill_column(k, codes, what, name)
        tables.append(table)
    return Cells(names, ids, tables)


def _check_names(names: list[str], what: str) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"{what}: two columns have the same name: {', '.join(names)}")


def list_of(given: Any, what: str) -> list[Any]:
    """Of entities: one-dimensional, and not one text or number."""
    entities = list(given) if hasattr(given, "__iter__") and not isinstance(given, (str, bytes)) else None
    if entities is None or any(isinstance(entity, (list, tuple, np.ndarray)) for entity in entities):
        raise ValueError(f"{what}: expected a list of entities, as ids or labels")
    return entities


def _codes_to_ids(
    codes: np.ndarray, texts: list[str], table: _core.Labels, what: str, name: str, where: str
) -> np.ndarray:
    """Codes of `texts` as ids of a table, which must have them all (those that occur)."""
    found = table.find(texts)
    translated: np.ndarray = found[codes]
    if len(translated) and translated.min() < 0:
        row = int(np.argmax(translated < 0))
        raise ValueError(f"{what}: row {row}, column {name}: {texts[int(codes[row])]!r} is not {where}")
    return translated


def is_ids(column: Any) -> bool:
    """Whether a column of `columns_of` has ids; else it has labels."""
    return isinstance(column, np.ndarray)


def columns_of(X: Any, names: Sequence[str], what: str) -> tuple[list[Any], np.ndarray | None]:
    """A column for each of the modes so named: arrays of ids where X has numbers, else series of labels. And the
    values of a sparse X."""
    values = None
    X = from_arrow(X, what)
    if is_tensor(X):
        found = None
        columns, values = coordinates_and_values(X, what)
    elif is_frame(X):
        found, columns = _columns(X, what)
    else:
        X = as_array(X, what)
        check_table(X, what)
        found = None
        columns = [native_array(X[:, k]) if is_numeric(X) else pd.Series(X[:, k]) for k in range(X.shape[1])]
    if found is not None and len(set(names)) == len(names):  # else they are pairs of one mode
        _check_names(found, what)
        if not set(names) <= set(found):
            raise ValueError(f"{what}: its columns are {', '.join(found)}; expected {', '.join(names)}")
        columns = [columns[found.index(name)] for name in names]
    if len(columns) != len(names):
        raise ValueError(f"{what}: {len(columns)} columns; expected {len(names)}: {', '.join(names)}")
    return list(columns), values


@dataclass
class Unseen:
    """Where cells may have entities that the fit has not seen. The id of such an entity is the size of its mode."""

    allowed: Sequence[bool]  # of each mode
    cells: np.ndarray | None = None  # of each cell, whether it has one
    example: str = ""

    def add(self, cells: np.ndarray, entity: Any, mode: str) -> None:
        self.cells = cells if self.cells is None else self.cells | cells
        self.example = self.example or f"{entity!r} of {mode}"


def known_cells(
    X: Any, names: Sequence[str], labels: Sequence[_core.Labels], what: str, unseen: Unseen | None = None
) -> _core.Ids:
    """Cells of modes that are known: numbers are ids, from 0, and everything else is labels. Where an entity may not be
    unseen, an id that is too large is refused by the library."""
    columns, _ = columns_of(X, names, what)
    ids = _core.Ids(len(columns[0]), len(names))
    for k, column in enumerate(columns):
        at = unseen if unseen is not None and unseen.allowed[k] else None
        if is_ids(column):
            column = _known_ids(column, names[k], len(labels[k]), at)
        else:
            column = _known_labels(column, names[k], labels[k], what, at)
        ids.fill_column(k, column, what, names[k])
    return ids


def _known_ids(column: np.ndarray, name: str, size: int, unseen: Unseen | None) -> np.ndarray:
    if unseen is None or not len(column) or not column.max() >= size:
        return column
    beyond = column >= size
    unseen.add(beyond, column[int(np.argmax(beyond))].item(), name)
    return np.where(beyond, size, column)


def _known_labels(column: Any, name: str, labels: _core.Labels, what: str, unseen: Unseen | None) -> np.ndarray:
    codes, texts = codes_of(column, what, name)
    if unseen is None:
        where = (
            f"an entity of the mode {name}: these are the ones that fit found in X, or that its labels={{...}} lists"
        )
        return _codes_to_ids(codes, texts, labels, what, name, where)
    found: np.ndarray = labels.find(texts)[codes]
    absent = found < 0
    if absent.any():
        unseen.add(absent, texts[int(codes[int(np.argmax(absent))])], name)
    return np.where(absent, len(labels), found)


def known_entities(given: Any, labels: _core.Labels, what: str) -> list[int]:
    """Entities of one mode by their labels. Where X has ids the labels are these numbers."""
    texts = [label_text(label) for label in list_of(given, what)]
    ids = labels.find(texts)
    for text, i in zip(texts, ids, strict=True):
        if i < 0:
            raise ValueError(f"{what}: there is no entity {text!r}")
    return [int(i) for i in ids]


def known_pairs(given: Any, name: str, labels: _core.Labels, what: str) -> _core.Ids:
    """Pairs of entities of one mode: a table of two columns, or a sparse adjacency matrix."""
    if is_sparse_matrix(given):
        if tuple(given.shape) != (len(labels), len(labels)):
            raise ValueError(
                f"{what}: the matrix is {given.shape[0]} x {given.shape[1]}; {name} has {len(labels)} entities"
            )
        given = edges_of(given, what)
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
        raise ValueError(f"y has NaN or inf; expected numbers: {expected}")
    if (values < 0).any():
        raise ValueError(f"y has the negative value {values.min()}; expected numbers: {expected}")
    if not counts:
        ones: np.ndarray = (values != 0).astype(np.int64)
        return ones
    if (values != np.floor(values)).any():
        raise ValueError(f"y has fractions; expected integers: {expected}")
    if (values > _LARGEST_COUNT).any():
        raise ValueError(f"y has the value {values.max()}; counts are at most 2^62")
    whole: np.ndarray = values.astype(np.int64)
    return whole
