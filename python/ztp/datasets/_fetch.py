"""Downloads a data set, checks it, converts it and writes its folder."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import tempfile
import zlib
from dataclasses import dataclass

from .. import _core
from ._folder import MAKER, RECORD, check_folder, write_folder
from ._sets import DATA_SETS, DataSet
from ._sources import Converted, Source


@dataclass
class Fetched:
    """A file as it was downloaded."""

    url: str
    bytes: int
    sha256: str
    published: str  # "md5 ...": the checksum that is published, and agrees; empty where there is none


def data_home(given: str | os.PathLike[str] | None = None) -> str:
    """The folder of the data sets: as given, else the environment variable ZTP_DATA, else the user's cache."""
    if given is not None:
        return os.path.expanduser(os.fspath(given))
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("ZTP_DATA") or os.path.join(cache, "ztp")


def fetch(
    name: str, folder: str, mirror: str | None = None, timeout: float = 60, force: bool = False
) -> tuple[Converted, list[Fetched]]:
    """Makes the folder, which appears when it is complete; whatever goes wrong before leaves nothing."""
    if name not in DATA_SETS:
        raise ValueError(f'there is no data set "{name}"; there are {", ".join(DATA_SETS)}')
    data_set = DATA_SETS[name]
    home = data_set.home if mirror is None else mirror.removesuffix("/") + "/"
    if not home.startswith(("http://", "https://")):
        raise ValueError(f"{home}: an address begins with http:// or https://")
    if not timeout > 0:
        raise ValueError(f"timeout is {timeout}; expected a number of seconds")
    check_folder(folder, force)
    sources: dict[str, Source] = {}
    fetched: list[Fetched] = []
    with tempfile.TemporaryDirectory(prefix="ztp-datasets-") as downloads:
        for file in data_set.files:
            sources[file], about = _download(home + file, downloads, timeout, file in data_set.md5_beside)
            fetched.append(about)
    converted = data_set.convert(sources)
    if converted.ones == 0:
        raise ValueError(f"{fetched[0].url}: there is nothing in it")
    write_folder(folder, _files(data_set, converted, fetched), force)
    return converted, fetched


def _download(url: str, folder: str, timeout: float, md5_beside: bool) -> tuple[Source, Fetched]:
    from ._download import download

    checksum = None
    if md5_beside:
        text = download(url + ".md5", folder, timeout, most=1 << 16).decode("latin-1")
        found = re.search(r"(?<![0-9a-fA-F])[0-9a-fA-F]{32}(?![0-9a-fA-F])", text)
        if found is None:
            raise ValueError(f"{url}.md5: there is no MD5 checksum in it; use a mirror (mirror=URL, --mirror URL)")
        checksum = f"md5:{found[0].lower()}"
    data = download(url, folder, timeout, checksum)
    published = checksum.replace(":", " ") if checksum else ""
    return Source(url, data), Fetched(url, len(data), hashlib.sha256(data).hexdigest(), published)


def _files(data_set: DataSet, converted: Converted, fetched: list[Fetched]) -> dict[str, bytes]:
    """All files of the folder."""
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    files = {name: _gzip(text) if name.endswith(".gz") else text for name, text in converted.files.items()}
    files["README.md"] = _readme(data_set, converted, fetched, date).encode()
    files["TERMS.txt"] = data_set.terms.encode() + b"\n"
    record = {
        "made_by": MAKER,
        "name": data_set.name,
        "version": _core.version,
        "date": date,
        "sources": [vars(source) for source in fetched],
        "modes": [{"name": name, "size": size} for name, size in converted.modes.items()],
        "ones": converted.ones,
        "edges": converted.edges,
        "notes": converted.notes,
        "files": list(files),
    }
    files[RECORD] = (json.dumps(record, indent=2) + "\n").encode()
    return files


def _gzip(text: bytes) -> bytes:
    """A gzip file without name and time: its bytes depend on the text (and the version of zlib) alone."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(text) + packer.flush()


def _readme(data_set: DataSet, converted: Converted, fetched: list[Fetched], date: str) -> str:
    edges = f", {converted.edges} edges" if converted.edges else ""
    no_checksum = "no published checksum to compare with"
    lines = [
        f"# {data_set.name}",
        "",
        f"{data_set.about[0].upper()}{data_set.about[1:]}.",
        "",
        "| mode | size |",
        "|---|---|",
        *(f"| {name} | {size} |" for name, size in converted.modes.items()),
        "",
        f"{converted.ones} ones{edges}. Made by `{MAKER} {data_set.name}` (ztp {_core.version}) on {date}.",
        "",
        "## Source",
        *(
            f"- {source.url} ({source.bytes} bytes), SHA-256 {source.sha256}, "
            + (f"agrees with the published {source.published}" if source.published else no_checksum)
            for source in fetched
        ),
        "",
        "## Transformation",
        data_set.transformation,
        *(f"Note: {note}." for note in converted.notes),
        "",
        "## Terms",
        data_set.terms,
        "",
    ]
    return "\n".join(lines)
