"""python -m ztp.datasets list | fetch NAME [DIR]"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from ._fetch import data_home, fetch
from ._sets import DATA_SETS


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m ztp.datasets",
        description="Public data sets: list them, download and convert one.",
        epilog="Exit codes: 0 done, 2 usage, 3 bad data, 4 the folder exists, 6 network or file system.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="list the data sets, their sources, and a summary of their terms")
    get = commands.add_parser(
        "fetch",
        help="download a data set from its source, check it, and convert it to TSV files",
        epilog="Read the terms it prints: data sets have owners. docs/data.md says what is in the folder.",
    )
    get.add_argument("name", metavar="NAME", choices=list(DATA_SETS), help="a name that 'list' prints")
    get.add_argument("folder", metavar="DIR", nargs="?", help="the folder to create; by default where fetch_NAME looks")
    get.add_argument("--mirror", metavar="URL", type=_address, help="an address to use instead of the source")
    get.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        default=60,
        help="give up on a server after this many seconds without a byte (default 60)",
    )
    get.add_argument("--force", action="store_true", help="replace the folder, if an earlier fetch made it")
    return parser.parse_args(words)


def _address(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError("an address begins with http:// or https://")
    return text


def _seconds(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 86400:
        raise argparse.ArgumentTypeError("not an integer from 1 to 86400")
    return int(text)


def _list() -> None:
    for data_set in DATA_SETS.values():
        print(data_set.name)
        print(f"  what   {data_set.about}\n  modes  {data_set.modes}")
        print(f"  home   {data_set.home}\n  terms  {data_set.terms_short}")


def _fetch(given: argparse.Namespace) -> None:
    folder = given.folder or os.path.join(data_home(), given.name)
    converted, fetched = fetch(given.name, folder, given.mirror, given.timeout, given.force)
    modes = " x ".join(f"{size:,} {name}" for name, size in converted.modes.items())
    edges = f", {converted.edges:,} edges" if converted.edges else ""
    print(f"{converted.ones:,} ones, {modes}{edges}, in {folder}")
    for source in fetched:
        print(f"{source.url}: {source.bytes:,} bytes\n  SHA-256 {source.sha256}")
        if source.published:
            print(f"  agrees with the published {source.published}")
        else:
            print("  there is no published checksum to compare with")
    for note in converted.notes:
        print(f"Note: {note}.")
    print(f"Terms: {DATA_SETS[given.name].terms}")


def _stop(number: int, _: Any) -> NoReturn:
    print("Interrupted; nothing was written.", file=sys.stderr)
    sys.exit(128 + number)


def main(words: Sequence[str] | None = None) -> int:
    given = _arguments(words)
    try:
        _list() if given.command == "list" else _fetch(given)
    except (ValueError, OSError) as error:
        print(f"ztp.datasets: {error}", file=sys.stderr)
        return 3 if isinstance(error, ValueError) else 4 if isinstance(error, FileExistsError) else 6
    return 0


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    sys.exit(main())
