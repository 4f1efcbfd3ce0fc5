"""Tables of Arrow and files of them, wherever cells are taken: the same draws and answers as of frames of pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import ztp
from ztp._arrow import from_arrow

FRAME = pd.DataFrame({"user": list("babcabdc") * 3, "film": [f"f{i % 7}" for i in range(24)]}).drop_duplicates()
FRIENDS = pd.DataFrame({"one": ["a", "b"], "other": ["c", "d"]})
TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)


def tiny(**more: Any) -> ztp.TensorFactorization:
    return ztp.TensorFactorization(**({"rank": 2, "sweeps": 10, "draws": 5, "chains": 2, "n_jobs": 1} | more))


class OnlyACapsule:
    """What another library's table looks like from outside."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def written(table: Any, path: Path) -> Path:
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=5)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=5)
    else:
        pyarrow.feather.write_feather(table, path)
    return path


def forms_of(table: pa.Table, folder: Path) -> list[Any]:
    chunked = pa.concat_tables([table.slice(0, 3), table.slice(3, 0), table.slice(3)])
    views = table.cast(pa.schema([(name, pa.string_view()) for name in table.column_names]))
    large = table.cast(pa.schema([(name, pa.large_string()) for name in table.column_names]))
    relation = duckdb.arrow(table)
    return [
        table,
        chunked,
        views,
        large,
        chunked.combine_chunks().to_batches()[0],
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=4)),
        OnlyACapsule(chunked),
        relation,
        pl.DataFrame(table),
        *(written(table, folder / f"x.{suffix}") for suffix in ("parquet", "arrow", "feather")),
        str(written(large, folder / "LARGE.parquet")),
    ]


def test_the_same_draws_in_every_form(tmp_path: Path) -> None:
    expected = tiny().fit(FRAME)
    numbers = expected.predict_proba(FRAME).tolist()
    for form, cells in zip(forms_of(TABLE, tmp_path), forms_of(TABLE, tmp_path), strict=True):
        model = tiny().fit(form)
        assert model.posterior_.labels("user").tolist() == ["b", "a", "c", "d"], form
        assert model.n_features_in_ == 2
        if not isinstance(form, pl.DataFrame):  # whose names not every version of scikit-learn knows
            assert list(model.feature_names_in_) == ["user", "film"]
        assert model.predict_proba(cells).tolist() == numbers, form


def test_answers_of_every_form(tmp_path: Path) -> None:
    model = tiny().fit(FRAME)
    y = np.arange(len(FRAME)) % 2
    expected = model.predict(FRAME, intervals=True)
    for form in forms_of(TABLE, tmp_path):
        found = model.predict(form, intervals=True)
        assert found.astype({"user": str, "film": str}).to_numpy().tolist() == expected.to_numpy().tolist(), form
    scores = str(model.evaluate(FRAME, y))  # as text, because NaN is not NaN
    ranks = model.posterior_.ranking(FRAME)
    for form in forms_of(TABLE, tmp_path):
        assert str(model.evaluate(form, pa.array(y))) == scores
    for form in forms_of(TABLE, tmp_path):
        assert model.posterior_.ranking(form).equals(ranks)
    with_outcomes = TABLE.append_column("clicked", pa.array(y))
    assert str(model.evaluate(written(with_outcomes, tmp_path / "test.parquet"))) == scores
    assert model.score(TABLE, y) == model.score(FRAME, y)
    assert model.transform(TABLE).tolist() == model.transform(FRAME).tolist()


def test_networks_and_missing_data(tmp_path: Path) -> None:
    cells, pairs = FRAME.iloc[:2], pd.DataFrame({"one": ["a"], "other": ["b"]})
    kept = FRAME.iloc[2:]

    def numbers(table: Any, network: Any, missing: Any, missing_pairs: Any, slices: Any) -> list[float]:
        model = tiny().fit(
            table,
            network={"user": network},
            missing=missing,
            missing_pairs={"user": missing_pairs},
            missing_slices={"film": slices},
            labels={"film": [f"f{i}" for i in range(8)]},
        )
        return list(model.predict_proba(FRAME)[:, 1])

    def table(frame: pd.DataFrame) -> pa.Table:
        return pa.Table.from_pandas(frame, preserve_index=False)

    expected = numbers(kept, FRIENDS, cells, pairs, ["f7"])
    assert numbers(table(kept), table(FRIENDS), table(cells), table(pairs), pa.array(["f7"])) == expected
    files = [
        written(table(frame), tmp_path / f"{i}.{suffix}")
        for i, (frame, suffix) in enumerate(
            [(kept, "parquet"), (FRIENDS, "arrow"), (cells, "parquet"), (pairs, "feather")]
        )
    ]
    assert numbers(*files, np.array(["f7"])) == expected
    two = tiny().fit(FRAME, network={"user": [table(FRIENDS), files[3]]}).posterior_.info["networks"]
    assert [network["edges"] for network in two] == [2, 1]


def test_files_of_test_cells(tmp_path: Path) -> None:
    """Where the library reads a file, a Parquet file is the same as a text file."""
    world = ztp.simulate((30, 25, 20), 800, rank=4)
    frame = pd.DataFrame(world.X[:, :2].astype(str), columns=["user", "film"]).drop_duplicates()
    model = tiny(sweeps=40).fit(frame.iloc[50:], labels={name: frame[name].unique() for name in frame})
    test = frame.iloc[:50].assign(clicked=np.arange(50) % 4 > 0)
    test.astype({"clicked": int}).to_csv(tmp_path / "test.tsv", sep="\t", header=False, index=False)
    parquet = written(pa.Table.from_pandas(test, preserve_index=False), tmp_path / "test.parquet")
    known = written(pa.Table.from_pandas(frame.iloc[:20], preserve_index=False), tmp_path / "known.parquet")
    frame.iloc[:20].to_csv(tmp_path / "known.tsv", sep="\t", header=False, index=False)
    posterior = model.posterior_
    assert posterior.head([10, 20], test=parquet).equals(posterior.head([10, 20], test=tmp_path / "test.tsv"))
    from_text = posterior.ranking(tmp_path / "test.tsv", filter=[tmp_path / "known.tsv"])
    ones = test[test["clicked"]][["user", "film"]]
    assert posterior.ranking(ones, filter=[known]).equals(from_text)
    for file in (parquet, tmp_path / "test.tsv"):
        assert Path(posterior.report(tmp_path / f"{file.suffix}.html", test=file)).stat().st_size > 100_000
    with pytest.raises(ValueError, match="test is a Parquet or Arrow file, and must be a text file"):
        tiny(test=str(parquet)).fit(frame)


def test_partial_fit(tmp_path: Path) -> None:
    first, more = FRAME.iloc[:15], FRAME.iloc[15:]
    expected = tiny().fit(first).partial_fit(more).predict_proba(FRAME).tolist()
    table = pa.Table.from_pandas(more, preserve_index=False)
    for form in (table, written(table, tmp_path / "more.parquet")):
        assert tiny().fit(first).partial_fit(form).predict_proba(FRAME).tolist() == expected


def test_counts(tmp_path: Path) -> None:
    counted = FRAME.assign(count=np.arange(len(FRAME)) % 3 + 1)
    expected = tiny(likelihood="count").fit(counted).predict(FRAME).tolist()
    table = pa.Table.from_pandas(counted, preserve_index=False)
    for form in (table, OnlyACapsule(table), written(table, tmp_path / "counted.parquet")):
        assert tiny(likelihood="count").fit(form).predict(FRAME).tolist() == expected


def test_categories_are_all_entities(tmp_path: Path) -> None:
    """A dictionary of Arrow is a categorical column; the labels of text are in the order of the rows."""
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array(["x", "y", "z"]))
    table = pa.table({"user": ["u", "v", "v"], "film": column})
    for form in (table, OnlyACapsule(table), written(table, tmp_path / "x.arrow")):
        assert tiny().fit(form).posterior_.labels("film").tolist() == ["x", "y", "z"]
    rows = pa.table({"user": [*"baacb" * 40], "film": [f"f{i * 37 % 200}" for i in range(200)]})
    pyarrow.parquet.write_table(rows, tmp_path / "rows.parquet", row_group_size=30, dictionary_pagesize_limit=64)
    frame = from_arrow(tmp_path / "rows.parquet", "X")
    assert frame["film"].tolist() == rows["film"].to_pylist()
    for name in ("user", "film"):
        assert frame[name].cat.categories.tolist() == list(dict.fromkeys(rows[name].to_pylist()))


def test_other_types_are_those_of_pandas(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2024-07-01", "2024-07-02", "2024-07-01"]),
            "number": [3, 1, 3],
            "truth": [True, False, True],
        }
    )
    expected = tiny().fit(frame).posterior_
    table = pa.Table.from_pandas(frame)
    dated = table.set_column(0, "day", table["day"].cast(pa.date32()))
    for form in (table, dated, written(dated, tmp_path / "x.parquet")):
        found = tiny().fit(form).posterior_
        assert [found.labels(k).tolist() for k in range(3)] == [expected.labels(k).tolist() for k in range(3)]


def test_what_cannot_be(tmp_path: Path) -> None:
    def refused(X: Any, match: str, **how: Any) -> None:
        with pytest.raises(ValueError, match=match):
            tiny().fit(X, **how)

    refused(pa.table({"user": ["a", None], "film": ["x", "y"]}), r"X: row 1, column user: NaN \(no label\)")
    refused(pa.table({"user": [1, None], "film": ["x", "y"]}), r"X: row 1, column user: NaN \(no label\)")
    refused(pa.table({"user": [["a"], ["b"]], "film": ["x", "y"]}), "column user: labels are text, numbers or dates")
    refused(pa.table([["a"], ["b"]], names=["x", "x"]), "X: two columns have the same name: x, x")
    refused(pa.chunked_array([["a", "b"]]), "X: no table of Arrow")
    refused(TABLE.slice(0, 0), "X: no cells")
    (tmp_path / "broken.parquet").write_text("no parquet")
    refused(tmp_path / "broken.parquet", "broken.parquet: .*Parquet")
    (tmp_path / "broken.arrow").write_text("no arrow either")
    refused(tmp_path / "broken.arrow", "broken.arrow: ")
    for suffix in ("parquet", "feather"):
        with pytest.raises(OSError, match=f"nothing.{suffix}"):
            tiny().fit(tmp_path / f"nothing.{suffix}")
    (tmp_path / "x.tsv").write_text("a\tx\nb\ty\n")
    parquet = written(TABLE, tmp_path / "x.parquet")
    refused(tmp_path / "x.tsv", "X is a text file, so missing must be one, too", missing=parquet)
    refused(parquet, "missing is a text file and X is not", missing=tmp_path / "x.tsv")
    refused(parquet, "values says how to read a text file, and X is not", values=True)
    with pytest.raises(ValueError, match="no table of Arrow"):
        tiny().fit(FRAME).predict(pa.chunked_array([["a"]]))


# In a process of its own, since a peak is of a process. 4 million cells of text in no order: 3 x 4 bytes as ids.
MEMORY = """
import re, sys
import numpy as np
import pyarrow as pa, pyarrow.parquet
from ztp import _core
from ztp._arguments import fit_arrays

def memory(what):
    return int(re.search(what + r":\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024

n = 4_000_000
if sys.argv[2] == "write":
    rng, names = np.random.default_rng(1), pa.array([f"entity number {i}" for i in range(70_000)])
    columns = [pa.DictionaryArray.from_arrays(rng.integers(0, 70_000, n, np.int32), names) for _ in range(3)]
    table = pa.table({f"m{k}": column.dictionary_decode() for k, column in enumerate(columns)})
    pyarrow.parquet.write_table(table, sys.argv[1])
else:
    pyarrow.parquet.read_table(sys.argv[1], columns=["m0"]).slice(0, 10)
    before = memory("VmRSS")
    data = _core.make_data(fit_arrays(sys.argv[1], None, None, None, None, None, None, False), False)
    assert data.ones > 3_900_000
    print((memory("VmHWM") - before) / (3 * n * 4))
"""


def test_memory_of_a_parquet_file(tmp_path: Path) -> None:
    """In copies of the ids: codes, the ids themselves, and what is read at a time, 2.4 to 5.6 in 40 trials, as allocators
    keep some. With the text of every row it is 9 or more."""
    path = str(tmp_path / "x.parquet")
    subprocess.run([sys.executable, "-c", MEMORY, path, "write"], check=True)
    done = subprocess.run([sys.executable, "-c", MEMORY, path, "read"], capture_output=True, text=True, check=True)
    assert 1 < float(done.stdout) < 7
