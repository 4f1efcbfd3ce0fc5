"""The types that input may have: arrays, frames, sparse matrices and arrays. They are recognised by their methods, so
that none of their libraries has to be installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


def is_tensor(X: Any) -> bool:
    """Whether it is the tensor itself (scipy.sparse or pydata/sparse), not a table of observed cells."""
    return hasattr(X, "nnz") and hasattr(X, "shape") and not is_frame(X)


def is_sparse_matrix(X: Any) -> bool:
    return is_tensor(X) and len(X.shape) == 2


def _is_of_polars(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "polars"


def is_polars(X: Any) -> bool:
    return _is_of_polars(X) and hasattr(X, "get_columns")


def is_polars_series(column: Any) -> bool:
    return _is_of_polars(column) and hasattr(column, "null_count") and not hasattr(column, "get_columns")


def is_frame(X: Any) -> bool:
    return isinstance(X, pd.DataFrame) or is_polars(X)


def is_numeric(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.kind in "iuf"


def coordinates_and_values(X: Any, what: str) -> tuple[Sequence[np.ndarray], np.ndarray]:
    """The coordinates, mode by mode, and the values that a sparse matrix or array has."""
    if np.any(getattr(X, "fill_value", 0)):
        raise ValueError(f"{what}: its fill value is {X.fill_value}; it must be 0")
    if hasattr(X, "tocoo"):
        X = X.tocoo()
    elif hasattr(X, "to_coo"):
        X = X.to_coo()
    coordinates = X.coords if hasattr(X, "coords") else (X.row, X.col)
    return [np.asarray(column) for column in coordinates], np.asarray(X.data)


def edges_of(matrix: Any, what: str) -> np.ndarray:
    """Of an adjacency matrix: each edge once, also where the matrix has both directions."""
    pairs, values = coordinates_and_values(matrix, what)
    return np.unique(np.sort(np.stack(pairs, axis=1)[values != 0], axis=1), axis=0)


def native_array(array: np.ndarray) -> np.ndarray:
    """The array in the byte order of the machine and with strides of whole elements; a copy if need be."""
    dtype = array.dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        dtype = np.dtype(np.float64)
    if array.dtype == dtype and array.dtype.isnative and not any(step % dtype.itemsize for step in array.strides):
        return array
    return np.array(array, dtype=dtype)


def as_array(X: Any, what: str) -> np.ndarray:
    """An array from input that is neither a frame nor a tensor."""
    if isinstance(X, np.ma.MaskedArray):
        raise ValueError(f"{what}: a masked array; pass only the rows to be used")
    if _is_of_polars(X) and hasattr(X, "collect"):
        raise ValueError(f"{what}: a lazy frame; call collect() first")
    array = np.asarray(X)
    return array.astype(object) if array.dtype.kind == "T" else array


def check_table(array: np.ndarray, what: str) -> None:
    """Refuses what is not a table with a row for each cell, such as a dense tensor."""
    remedy = "; of a dense tensor pass the coordinates of its ones: numpy.argwhere(X)"
    if array.dtype.kind == "b":
        raise ValueError(f"{what}: truth values, but ids or labels are expected{remedy}")
    if array.dtype.kind in "cV":
        raise ValueError(f"{what}: has the type {array.dtype}; ids are integers, and labels are text")
    if array.ndim != 2:
        raise ValueError(
            f"{what}: expected a row for each cell and a column for each mode, but this is {array.ndim}-dimensional"
            + (remedy if array.ndim > 2 else "")
        )
