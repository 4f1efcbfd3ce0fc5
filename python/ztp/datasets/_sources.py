"""Downloaded files of data sets: archives, compressed data and lines of text, all of them in memory and bounded."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

# Several times the size of the largest file, so that an archive that was made to fill the memory is noticed.
MAX_UNPACKED = 256 << 20


class SourceError(ValueError):
    """A downloaded file is damaged, or is not the file that is expected."""


@dataclass
class Source:
    """A downloaded file."""

    url: str
    data: bytes


@dataclass
class Converted:
    """What a data set is converted to. Text is bytes throughout: labels come out as they came in."""

    files: dict[str, bytes]  # by name; those that end in .gz are compressed when they are written
    modes: dict[str, int]  # their sizes
    ones: int
    edges: int = 0
    notes: list[str] = field(default_factory=list)


def damaged(name: str, why: object) -> SourceError:
    return SourceError(f"{name}: damaged ({why}); try again, or use a mirror (mirror=URL, --mirror URL)")


def unexpected(name: str, what: str) -> SourceError:
    return SourceError(f"{name}: {what}; it is not the file that is expected")


def too_large(name: str) -> SourceError:
    return unexpected(name, f"unpacks to more than {MAX_UNPACKED} bytes")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Whatever a reader raises means that the file is damaged."""
    try:
        yield
    except SourceError:
        raise
    except Exception as error:
        raise damaged(name, error) from error


def _all_of(file: Any, name: str) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := file.read(1 << 20):
        size += len(piece)
        if size > MAX_UNPACKED:
            raise too_large(name)
        pieces.append(piece)
    return b"".join(pieces)


def gunzip(source: Source) -> bytes:
    with reading(source.url), gzip.GzipFile(fileobj=io.BytesIO(source.data)) as file:
        return _all_of(file, source.url)


def unzip(source: Source, wanted: Sequence[str]) -> dict[str, bytes]:
    """The files of these names in any folder of the archive, which must have each of them once."""
    with reading(source.url), zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        return _members(((entry.filename, entry) for entry in archive.infolist()), archive.open, wanted, source.url)


def untar(source: Source, wanted: Sequence[str]) -> dict[str, bytes]:
    """As unzip, of a .tar.gz. Links and folders are passed over."""
    plain = gunzip(source)
    with reading(source.url), tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as archive:
        files = ((entry.name, entry) for entry in archive if entry.isreg())
        return _members(files, archive.extractfile, wanted, source.url)


def _members(
    entries: Iterable[tuple[str, Any]], opened: Callable[[Any], Any], wanted: Sequence[str], url: str
) -> dict[str, bytes]:
    """Names of an archive are compared and never used as paths: nothing is written."""
    found: dict[str, bytes] = {}
    for path, entry in entries:
        name = path.rpartition("/")[2]
        if name not in wanted:
            continue
        if name in found:
            raise damaged(url, f"{name} is in it twice")
        with opened(entry) as file:
            found[name] = _all_of(file, f"{name} in {url}")
    for name in wanted:
        if name not in found:
            raise unexpected(url, f"there is no {name} in it")
    return found


def _quoted(text: bytes) -> str:
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:60].decode(errors="replace"))
    return f'"{shown}..."' if len(text) > 60 else f'"{shown}"'


class Lines:
    """The lines of a source file that are not empty, cut at their separators, one at a time. Errors name file, line and
    column."""

    def __init__(self, file: str, text: bytes, separator: bytes, columns: int, or_more: bool = False) -> None:
        self.file = file
        self.text = text
        self.separator = separator
        self.columns = columns
        self.or_more = or_more

    def __iter__(self) -> Iterator[list[bytes]]:
        for self._line, line in enumerate(self.text.split(b"\n"), 1):
            line = line.removesuffix(b"\r")
            if not line:
                continue
            self._fields = line.split(self.separator)
            count = len(self._fields)
            if count != self.columns and not (self.or_more and count > self.columns):
                self.fail(0, f"{count} columns where {self.columns} are expected")
            yield self._fields

    def number(self, i: int, largest: int = 2**32 - 1) -> int:
        """Column i of the current line, an integer from 0."""
        text = self._fields[i]
        if text.isdigit() and len(text) <= 20:
            value = int(text)
            if value <= largest:
                return value
        self.fail(i, f"{_quoted(text)} is not an integer from 0 to {largest}")

    def label(self, i: int) -> bytes:
        """Column i of the current line without the blanks around it: not empty, no control characters."""
        text = self._fields[i].strip(b" ")
        if not text:
            self.fail(i, "a name is empty")
        if min(text) < 0x20:
            self.fail(i, f"{_quoted(text)} is not a name")
        return text

    def fail(self, i: int, what: str) -> NoReturn:
        column = 1 + sum(len(text) + 1 for text in self._fields[:i])
        raise SourceError(f"{self.file}:{self._line}:{column}: {what}; the source is damaged or has another form now")


def table(header: str, rows: Iterable[Sequence[bytes]]) -> bytes:
    """A TSV: "#header" and a line for each row."""
    return b"".join([b"#" + header.encode() + b"\n", *(b"\t".join(row) + b"\n" for row in rows)])


def cell_table(header: str, cells: Iterable[Sequence[int]], labels: Sequence[Sequence[bytes]]) -> bytes:
    """A TSV of cells by label: labels[k][i] is that of entity i of mode k."""
    return table(header, ([of_mode[i] for of_mode, i in zip(labels, cell, strict=True)] for cell in cells))


def distinct(labels: list[bytes], source_ids: list[int]) -> list[bytes]:
    """Labels that occur more than once get " #<source id>" at the end."""
    times: dict[bytes, int] = {}
    for label in labels:
        times[label] = times.get(label, 0) + 1
    return [
        label if times[label] == 1 else b"%b #%d" % (label, source)
        for label, source in zip(labels, source_ids, strict=True)
    ]
