"""What fit takes for X and y: the same data in every form, and what cannot be is refused in words."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sparse

import ztp
from ztp import _core
from ztp._arguments import fit_arrays

IDS = np.array([[0, 2, 1], [3, 0, 0], [1, 1, 1], [3, 2, 0], [2, 0, 1]])
LABELS = [["a", "x"], ["b", "y"], ["a", "y"], ["c", "x"]]


def tiny(**more: Any) -> ztp.TensorFactorization:
    return ztp.TensorFactorization(**({"rank": 2, "sweeps": 10, "draws": 5, "chains": 2, "n_jobs": 1} | more))


def data_of(X: Any, y: Any = None, labels: Any = None, counts: bool = False) -> _core.Data:
    model = tiny(likelihood="count" if counts else "binary")
    return _core.make_data(fit_arrays(model._table(X), y, None, None, None, None, labels, counts), counts)


def contents(data: _core.Data) -> tuple[Any, ...]:
    return data.mode_names, data.shape, [data.labels(k).names() for k in range(len(data.shape))], data.cells().tolist()


def refused(X: Any, match: str, **how: Any) -> None:
    with pytest.raises(ValueError, match=match):
        tiny().fit(X, **how)


# Arrays of ids

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", ">i4", ">u8", ">f8"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    assert contents(data_of(IDS.astype(dtype))) == contents(data_of(IDS))


def strided() -> np.ndarray:
    """A view whose elements are not whole elements apart."""
    records = np.zeros(len(IDS), dtype=[("a", "i4"), ("b", "i1"), ("ids", "i4", 3)])
    records["ids"] = IDS
    return records["ids"]


def memory_map(folder: Path) -> np.ndarray:
    np.save(folder / "ids.npy", IDS)
    return np.load(folder / "ids.npy", mmap_mode="r")


def test_layouts(tmp_path: Path) -> None:
    wide = np.full((10, 9), -7)
    wide[::2, ::3] = IDS
    unwritable = IDS.copy()
    unwritable.flags.writeable = False
    layouts = [
        np.asfortranarray(IDS),
        wide[::2, ::3],
        IDS[::-1].copy()[::-1],
        IDS[:, ::-1].copy()[:, ::-1],
        unwritable,
        strided(),
        memory_map(tmp_path),
        np.frombuffer(b"." + IDS.astype("i4").tobytes(), dtype="u1")[1:].view("i4").reshape(IDS.shape),
        IDS.tolist(),
        [tuple(row) for row in IDS.tolist()],
    ]
    for layout in layouts:
        assert contents(data_of(layout)) == contents(data_of(IDS))
    same_row = np.broadcast_to(IDS[:1], (4, 3))
    assert data_of(same_row).cells().tolist() == IDS[:1].tolist()


def test_wrong_numbers() -> None:
    def changed(value: Any, dtype: Any = np.float64) -> np.ndarray:
        X = IDS.astype(dtype)
        X[3, 1] = value
        return X

    refused(changed(np.nan), "NaN")
    refused(changed(np.inf), "inf")
    refused(changed(0.5), "X: row 3, column mode2: 0.5: ids are integers")
    refused(changed(-1, int), "X: row 3, column mode2: -1: Negative values in data; ids count from 0")
    refused(changed(-1.0), "row 3, column mode2: -1")
    refused(changed(-128, np.int8), "row 3, column mode2: -128")
    for huge in (2**31, 2**32, 2**63 - 1):
        refused(changed(huge, np.int64), f"row 3, column mode2: {huge}: ids are below 2147483648")
    refused(changed(2**64 - 1, np.uint64), "ids are below")
    refused(changed(1e300), "ids are below")


def test_wrong_arrays() -> None:
    refused(IDS.astype(bool), r"truth values.*numpy.argwhere")
    refused(np.zeros((2, 2, 2), int), r"3-dimensional.*numpy.argwhere")
    refused(IDS[0], "Expected 2D array, got 1D")
    refused(5, "Expected 2D array, got scalar")
    refused(None, "Expected 2D array")
    refused(object(), "Expected 2D array")
    refused([], "Expected 2D array")
    refused([[0, 1], [2]], "inhomogeneous")
    refused(IDS[:0], "0 sample")
    refused(IDS[:, :0], "0 feature")
    refused(IDS[:, :1], r"1 feature\(s\).*minimum of 2")
    refused(np.zeros((3, 65), int), "65 columns: there are 1 to 64")
    refused(IDS.astype(complex), "Complex data not supported")
    refused(np.ma.masked_array(IDS, IDS == 2), "masked")
    assert len(data_of(np.zeros((2, 64), int)).shape) == 64


# Labels


def test_arrays_of_text() -> None:
    expected = (["mode1", "mode2"], [3, 2], [["a", "b", "c"], ["x", "y"]], [[0, 0], [0, 1], [1, 1], [2, 0]])
    for X in (np.array(LABELS), np.array(LABELS, dtype=object), np.array(LABELS, dtype="S"), LABELS):
        assert contents(data_of(X)) == expected
    text = np.array(LABELS, dtype=np.dtypes.StringDType())
    assert contents(data_of(text)) == expected


def test_wrong_labels() -> None:
    def changed(label: Any) -> np.ndarray:
        X = np.array(LABELS, dtype=object)
        X[2, 1] = label
        return X

    refused(changed(None), "X: row 2, column mode2: NaN")
    refused(changed(np.nan), "NaN")
    refused(changed(pd.NA), "X: row 2, column mode2: NaN")
    refused(changed(["y"]), "X: column mode2: labels are text, numbers or dates")
    for odd in ("", "a\tb", "a\nb", "a\rb", "a\0b"):
        refused(changed(odd), "X: column mode2: the label .* is empty, or has a tab")
    refused(changed("\ud800"), "surrogate")
    refused(np.array([[1, "x"], ["1", "y"]], dtype=object), "two labels are both written '1'")
    refused(np.array([[b"\xff", b"x"]]), "utf-8")
    assert contents(data_of(changed("né ☃ 𝄞")))[2][1] == ["x", "y", "né ☃ 𝄞"]


# Frames


def frames(columns: dict[str, list[Any]]) -> list[Any]:
    return [pd.DataFrame(columns), pl.DataFrame(columns)]


COLUMNS = {"user": ["b", "a", "b", "c"], "day": [5, 3, 3, 5]}
EXPECTED = (["user", "day"], [3, 2], [["b", "a", "c"], ["5", "3"]], [[0, 0], [0, 1], [1, 1], [2, 0]])


def test_frames_of_labels() -> None:
    pandas, polars = frames(COLUMNS)
    for frame in (
        pandas,
        polars,
        pandas.astype({"user": object}),
        pandas.astype({"user": "string", "day": "Int64"}),
        pandas.astype({"user": "str", "day": "int8"}),
        pandas.set_index(pd.Index([7, 7, 1, 0])),
        pandas.iloc[::-1].iloc[::-1],
        polars.with_columns(pl.col("user").cast(pl.Categorical)),
        polars.with_columns(pl.col("day").cast(pl.UInt8)),
    ):
        assert contents(data_of(frame)) == EXPECTED


def test_labels_of_other_types() -> None:
    def labels(column: list[Any]) -> list[list[str]]:
        return [contents(data_of(frame))[2][0] for frame in frames({"c": column, "d": ["x"] * len(column)})]

    assert labels([True, False, True]) == [["True", "False"]] * 2
    assert labels([1.5, 2.0]) == [["1.5", "2.0"]] * 2
    day = datetime.date(2020, 2, 29)
    assert labels([day]) == [["2020-02-29"]] * 2
    assert labels([datetime.datetime(2020, 2, 29, 12, 30)]) == [["2020-02-29 12:30:00"]] * 2
    assert contents(data_of(pd.DataFrame({"c": pd.to_datetime(["2020-02-29"]), "d": [1]})))[2][0] == ["2020-02-29"]


def test_categories() -> None:
    for ordered in (False, True):
        kind = pd.CategoricalDtype(["c", "nobody", "b", "a"], ordered=ordered)
        frame = pd.DataFrame(COLUMNS).astype({"user": kind})
        assert contents(data_of(frame))[2][0] == ["c", "nobody", "b", "a"]
    enum = pl.DataFrame(COLUMNS).with_columns(pl.col("user").cast(pl.Enum(["c", "nobody", "b", "a"])))
    assert contents(data_of(enum)) == contents(data_of(frame))


def test_wrong_frames() -> None:
    for column in (["a", None], [1, None], [1.5, float("nan")]):
        for frame in frames({"c": column, "d": ["x", "y"]}):
            refused(frame, "X: row 1, column c: NaN")
    refused(pd.DataFrame({"c": pd.array([1, None], dtype="Int64"), "d": [1, 2]}), "X: row 1, column c: NaN")
    refused(pd.DataFrame({"c": pd.Categorical(["a", None]), "d": [1, 2]}), "X: row 1, column c: NaN")
    refused(pd.DataFrame({"c": pd.to_datetime(["2020-01-01", None]), "d": [1, 2]}), "X: row 1, column c: NaN")
    enum = pl.DataFrame({"c": pl.Series(["a", None], dtype=pl.Enum(["a"])), "d": [1, 2]})
    refused(enum, "X: row 1, column c: NaN")
    refused(pd.DataFrame([["a", "b"]], columns=["c", "c"]), "two columns have the same name: c, c")
    refused(pd.DataFrame([["a", "b"]], columns=["c", 1]), "its column names have several types")
    for frame in frames({"c": [], "d": []}):
        refused(frame, "no cells")
    for frame in (pd.DataFrame(), pl.DataFrame(), pd.DataFrame(index=[1, 2])):
        refused(frame, "0 columns")
    for frame in frames({"c": ["a"]}):
        refused(frame, "1 modes, but a tensor has 2 to 64")
    refused(pd.DataFrame({"c": [["a"]], "d": [1]}), "labels are text, numbers or dates")
    refused(pl.DataFrame({"c": [["a"]], "d": [1]}), "labels are text, numbers or dates")
    refused(pd.DataFrame({"": ["a"], "d": [1]}), "mode 0")
    refused(pl.DataFrame(COLUMNS).lazy(), "collect")
    refused(pd.Series([1, 2]), "Expected 2D|Expected a 2-dimensional")


def test_column_names_that_are_numbers() -> None:
    assert data_of(pd.DataFrame(LABELS)).mode_names == ["0", "1"]
    model = tiny().fit(pd.DataFrame(LABELS))
    assert model.predict(pd.DataFrame(LABELS)).shape == (4,)


# Sparse matrices and arrays


def test_scipy() -> None:
    dense = np.zeros((4, 3), int)
    dense[IDS[:, 0], IDS[:, 1]] = 1
    expected = contents(data_of(np.argwhere(dense), labels={0: 4, 1: 3}))
    for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        for make in (getattr(scipy.sparse, f"{kind}_matrix"), getattr(scipy.sparse, f"{kind}_array")):
            assert contents(data_of(make(dense))) == expected, kind
            assert contents(data_of(make(dense.astype(bool)))) == expected
    three = scipy.sparse.coo_array((np.ones(5), tuple(IDS.T)), shape=(4, 3, 2))
    assert contents(data_of(three)) == contents(data_of(IDS))


def test_zeros_and_repeated_entries_of_scipy() -> None:
    rows, columns = [0, 1, 1, 2], [0, 1, 1, 2]
    matrix = scipy.sparse.coo_array(([2.0, 1.0, 3.0, 0.0], (rows, columns)), shape=(3, 4))
    data = data_of(matrix)
    assert data.shape == [3, 4] and data.cells().tolist() == [[0, 0], [1, 1]]
    assert tiny(likelihood="count").fit(matrix).posterior_.info["total_count"] == 6


def test_pydata() -> None:
    for modes in (2, 3, 4):
        coords = np.unique(np.random.default_rng(1).integers(0, 4, (9, modes)), axis=0)
        array = sparse.COO(coords.T, np.ones(len(coords)), shape=(5,) * modes)
        expected = contents(data_of(coords, labels=dict.fromkeys(range(modes), 5)))
        assert contents(data_of(array)) == expected
        assert contents(data_of(sparse.GCXS.from_coo(array))) == expected
        assert contents(data_of(sparse.DOK.from_coo(array))) == expected


def test_wrong_tensors() -> None:
    ones = sparse.COO(IDS.T, np.ones(5), shape=(4, 3, 2))
    refused(sparse.COO(IDS.T, np.ones(5), shape=(4, 3, 2), fill_value=1), "its fill value is 1")
    refused(sparse.COO(IDS.T, np.ones(5), shape=(4, 3, 2), fill_value=np.nan), "its fill value is nan")
    refused(ones, "a sparse X already contains the values", y=np.ones(5))
    refused(-ones, "negative value")
    refused(sparse.COO(IDS.T, np.full(5, np.nan), shape=(4, 3, 2)), "NaN")
    refused(ones.astype(complex), "Unknown label type: complex128")
    refused(ones * 0, "no cells|no ones")
    refused(scipy.sparse.csr_array((3, 4)), "no cells|no ones")
    refused(scipy.sparse.coo_array(([1], ([0], [0])), shape=(2**40, 2)), "a mode has at most 2\\^31 entities")
    refused(sparse.COO([[0, 1]], np.ones(2), shape=(3,)), "1 modes")
    refused(ones, "labels\\[0\\] is 3; expected 4 or more", labels={0: 3})


# Values


def test_values() -> None:
    everything = contents(data_of(IDS[[0, 2, 4]], labels={0: 4, 1: 3, 2: 2}))
    for y in ([1, 0, 1, 0, 1], [True, False, True, False, True], [2.0, 0, 7, 0, 0.5]):
        for given in (y, np.array(y), pd.Series(y), pl.Series(y, strict=False)):
            assert contents(data_of(IDS, given)) == everything
    assert tiny(likelihood="count").fit(IDS, [3, 0, 1, 0, 2]).posterior_.info["total_count"] == 6


@pytest.mark.parametrize("likelihood", ["binary", "count"])
def test_wrong_values(likelihood: str) -> None:
    def wrong(y: Any, match: str) -> None:
        with pytest.raises(ValueError, match=match):
            tiny(likelihood=likelihood).fit(IDS, y)

    wrong([1, 1], r"y has the shape \(2,\); expected a value for each of the 5 rows")
    wrong(np.ones((5, 1)), r"y has the shape \(5, 1\)")
    wrong([1, 1, 1, 1, np.nan], "y has NaN or inf")
    wrong([1, 1, 1, 1, np.inf], "y has NaN or inf")
    wrong([1, 1, 1, 1, -1], "y has the negative value -1")
    wrong(["1"] * 5, "Unknown label type")
    wrong(pd.array([1, 1, 1, 1, None], dtype="Int64"), "y has NaN or inf|Unknown label type")
    wrong([0] * 5, "there are no ones")
    if likelihood == "count":
        wrong(None, 'likelihood="count" needs the counts: give them as y')
        wrong([1, 1, 1, 1, 0.5], "y has fractions")
        wrong([1, 1, 1, 1, 2**63], "counts are at most 2")
        wrong([2**62, 2**62, 1, 1, 1], "add up to more than 2")
