"""Kinship and UMLS: a dense array Rs of objects x objects x relations in a MATLAB file, read by scipy."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np

from ._sources import MAX_UNPACKED, Converted, Source, cell_table, damaged, reading, table, too_large, unexpected

_HEADER = 128  # bytes
_COMPRESSED = 15  # type of an element that is another one, compressed


def convert_kinship(sources: dict[str, Source]) -> Converted:
    source = sources["alyawarradata.mat"]
    arrays = _read(source, ["Rs", "atts", "features"])
    ones, objects, relations = _relations(source, arrays)
    people = [b"person%d" % i for i in range(objects)]
    terms = [b"term%d" % r for r in range(relations)]
    result = Converted(
        files={
            "tensor.tsv.gz": cell_table("person_i\tperson_j\tterm", ones, [people, people, terms]),
            "term-labels.tsv": _relation_table("term\tones", ones, terms),
        },
        modes={"person_i": objects, "person_j": objects, "term": relations},
        ones=len(ones),
    )
    sections = _columns(arrays, "atts", objects)
    if len(sections) == 1:
        features = _columns(arrays, "features", objects)
        header = ["person", "section", *(f"f{i + 1}" for i in range(len(features)))]
        columns = [[f"{x:.10g}".encode() for x in column] for column in sections + features]
        result.files["person-labels.tsv"] = table("\t".join(header), zip(people, *columns, strict=True))
    else:
        result.notes.append(
            "the fields atts and features have another form than expected: there is no person-labels.tsv"
        )
    return result


def convert_umls(sources: dict[str, Source]) -> Converted:
    source = sources["uml.mat"]
    arrays = _read(source, ["Rs", "names", "relnames", "gnames"])
    ones, objects, count = _relations(source, arrays)
    concepts = _names(source, arrays, "names", objects)
    relations = _names(source, arrays, "relnames", count)
    groups = _strings(arrays.get("gnames"))
    notes = []
    if len(groups) == objects:
        concept_table = table("concept\tsemantic_group", zip(concepts, groups, strict=True))
    else:
        concept_table = table("concept", ([concept] for concept in concepts))
        notes.append("the field gnames is not one name for each concept: there is no column semantic_group")
    return Converted(
        files={
            "tensor.tsv.gz": cell_table("concept_i\tconcept_j\trelation", ones, [concepts, concepts, relations]),
            "concept-labels.tsv": concept_table,
            "relation-labels.tsv": _relation_table("relation\tones", ones, relations),
        },
        modes={"concept_i": objects, "concept_j": objects, "relation": count},
        ones=len(ones),
        notes=notes,
    )


def _read(source: Source, wanted: list[str]) -> dict[str, Any]:
    """The arrays of these names, as far as they are in the file."""
    try:
        from scipy.io import loadmat
    except ImportError as error:
        raise ImportError("this data set is a MATLAB file, which scipy reads: pip install 'ztp[datasets]'") from error
    mark = source.data[_HEADER - 2 : _HEADER]
    order = {b"IM": "<", b"MI": ">"}.get(mark)
    if order is None or struct.unpack_from(order + "H", source.data, _HEADER - 4)[0] >> 8 != 1:
        raise unexpected(source.url, "not a MATLAB 5 file")
    with reading(source.url):
        arrays: dict[str, Any] = loadmat(io.BytesIO(_inflated(source, order)), variable_names=wanted)
    return arrays


def _inflated(source: Source, order: str) -> bytes:
    """The file without its compression: scipy neither bounds what it inflates nor verifies the checksums."""
    data = source.data
    pieces, size, at = [data[:_HEADER]], 0, _HEADER
    while at < len(data):
        kind, length = struct.unpack_from(order + "II", data, at)
        element = data[at : at + 8 + length]
        if len(element) < 8 + length:
            raise damaged(source.url, "an element is cut off")
        if kind == _COMPRESSED:
            inflater = zlib.decompressobj()
            element = inflater.decompress(element[8:], MAX_UNPACKED + 1)
            if not inflater.eof and len(element) <= MAX_UNPACKED:
                raise damaged(source.url, "cut short")
        size += len(element)
        if size > MAX_UNPACKED:
            raise too_large(source.url)
        pieces.append(element)
        at += 8 + length
    return b"".join(pieces)


def _relations(source: Source, arrays: dict[str, Any]) -> tuple[list[list[int]], int, int]:
    """The cells of Rs that equal 1, sorted, and how many objects and relations there are."""
    if "Rs" not in arrays:
        raise unexpected(source.url, "there is no array Rs in it")
    array = arrays["Rs"]
    if not _is_numeric(array) or array.ndim != 3 or array.shape[0] != array.shape[1] or array.size == 0:
        raise unexpected(source.url, "the array Rs is not objects x objects x relations")
    return np.argwhere(array == 1).tolist(), array.shape[0], array.shape[2]


def _is_numeric(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "biuf"


def _relation_table(header: str, ones: list[list[int]], labels: list[bytes]) -> bytes:
    """How many ones each relation has."""
    counts = np.bincount([cell[2] for cell in ones], minlength=len(labels)).tolist()
    return table(header, ([label, b"%d" % count] for label, count in zip(labels, counts, strict=True)))


def _columns(arrays: dict[str, Any], field: str, objects: int) -> list[list[float]]:
    """The columns of a field with a row (of a vector: an element) for each object; none if it has another form."""
    array: Any = arrays.get(field)
    if not _is_numeric(array) or array.ndim != 2 or array.size == 0:
        return []
    if array.shape == (1, objects):
        array = array.T
    columns: list[list[float]] = array.T.astype(float).tolist() if array.shape[0] == objects else []
    return columns


def _strings(array: Any) -> list[bytes]:
    """Of a cell array of strings, or the rows of a matrix of characters; none if it is something else."""
    if not isinstance(array, np.ndarray):
        return []
    if array.dtype.kind == "U":
        return [str(row).rstrip(" ").encode() for row in array.ravel()]
    strings = []
    for cell in array.ravel(order="F"):
        if not isinstance(cell, np.ndarray) or cell.size > 1 or (cell.size == 1 and cell.dtype.kind != "U"):
            return []
        strings.append(str(cell.item()).rstrip(" ").encode() if cell.size else b"")
    return strings


def _names(source: Source, arrays: dict[str, Any], field: str, count: int) -> list[bytes]:
    names = _strings(arrays.get(field))
    if len(names) != count:
        raise unexpected(source.url, f"{len(names)} names in the field {field} where {count} are expected")
    if len(set(names)) < count or any(not name or any(c in name for c in b"\t\r\n") for name in names):
        raise unexpected(source.url, f"a name in the field {field} is empty, odd or there twice")
    return names
