"""Tables of Apache Arrow, and files of them: Parquet, Arrow and Feather."""

from __future__ import annotations

import contextlib
import csv
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ._extras import need

_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc")


def is_arrow_file(given: Any) -> bool:
    return isinstance(given, (str, os.PathLike)) and os.fspath(given).lower().endswith(_PARQUET + _ARROW)


def is_arrow(given: Any) -> bool:
    """Whether it offers its columns as Arrow does (the PyCapsule interface): tables of pyarrow, relations of DuckDB and
    others. Frames of pandas and polars do, too, but are read without pyarrow."""
    library = type(given).__module__.partition(".")[0]
    return library not in ("pandas", "polars") and (
        hasattr(given, "__arrow_c_stream__") or (hasattr(given, "__arrow_c_array__") and hasattr(given, "schema"))
    )


def from_arrow(given: Any, what: str) -> Any:
    """What is given; a frame of it, if it is a table of Arrow or a file of one."""
    if is_arrow_file(given):
        return read_arrow_file(given, what)
    return frame_of_arrow(given, what) if is_arrow(given) else given


def frame_of_arrow(given: Any, what: str) -> pd.DataFrame:
    """A frame with the same columns. Text becomes categorical: 1 to 4 bytes for each row, and every label once."""
    arrow = need("pyarrow", "arrow", f"{what} is a table of Arrow, which")
    try:
        table = arrow.table(given) if hasattr(given, "__arrow_c_stream__") else arrow.Table.from_batches([given])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: no table of Arrow: {error}") from None
    return _frame(arrow, table, what)


def read_arrow_file(path: str | os.PathLike[str], what: str) -> pd.DataFrame:
    """The frame of a file."""
    path = os.fspath(path)
    arrow = need("pyarrow", "arrow", f"{what} is {os.path.basename(path)}, which")
    try:
        if path.lower().endswith(_PARQUET):
            return _read_parquet(arrow, path, what)
        return _frame(arrow, need("pyarrow.feather", "arrow", what).read_table(path, memory_map=True), what)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _read_parquet(arrow: Any, path: str, what: str) -> pd.DataFrame:
    """Column by column, and text is not unpacked: a Parquet file has it as a categorical column, too. One thread reads:
    each further one would hold another part of the file in memory."""
    parquet = need("pyarrow.parquet", "arrow", what)
    schema = parquet.read_schema(path)
    _check_names(schema.names, what)
    columns = {}
    for field in schema:
        texts = [field.name] if _is_text(arrow, field.type) else []
        table = parquet.read_table(
            path, columns=[field.name], read_dictionary=texts, use_threads=False, pre_buffer=False
        )
        column = _column(arrow, table.column(0))
        columns[field.name] = _by_appearance(column.array) if texts else column
    return pd.DataFrame(columns, copy=False)


def _is_text(arrow: Any, kind: Any) -> bool:
    return bool(arrow.types.is_string(kind) or arrow.types.is_large_string(kind))


@contextlib.contextmanager
def text_files(*given: str | os.PathLike[str] | None) -> Iterator[list[str]]:
    """The paths, for the library, which reads text: of Parquet and Arrow files those of temporary copies as text; of
    nothing an empty one."""
    with tempfile.TemporaryDirectory(prefix="ztp-") as folder:
        paths = []
        for number, path in enumerate(given):
            if is_arrow_file(path):
                name = os.path.basename(os.fspath(path))  # type: ignore[arg-type]
                copy = os.path.join(folder, f"{name}-{number}.tsv")
                frame = read_arrow_file(path, name)  # type: ignore[arg-type]
                for column in frame.select_dtypes(bool):
                    frame[column] = frame[column].astype(int)
                frame.to_csv(copy, sep="\t", header=False, index=False, quoting=csv.QUOTE_NONE)
                path = copy
            paths.append("" if path is None else os.fspath(path))
        yield paths


def _check_names(names: list[str], what: str) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"{what}: two columns have the same name: {', '.join(names)}")


def _frame(arrow: Any, table: Any, what: str) -> pd.DataFrame:
    _check_names(table.column_names, what)
    columns = {name: _column(arrow, table.column(name)) for name in table.column_names}
    return pd.DataFrame(columns, copy=False)


def _column(arrow: Any, column: Any) -> pd.Series:
    if str(column.type) == "string_view":
        column = column.cast(arrow.large_string())
    return (column.dictionary_encode() if _is_text(arrow, column.type) else column).to_pandas()


def _by_appearance(column: pd.Categorical) -> pd.Categorical:
    """With the labels that occur alone, in the order of the rows: that of a file need not be it."""
    codes = np.asarray(column.codes)
    seen = pd.unique(codes[codes >= 0])
    place = np.full(len(column.categories) + 1, -1, dtype=codes.dtype)
    place[seen] = np.arange(len(seen), dtype=codes.dtype)
    return pd.Categorical.from_codes(place[codes], column.categories[seen])
