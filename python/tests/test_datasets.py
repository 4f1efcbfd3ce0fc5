"""ztp.datasets: every data set from a server on loopback, exactly. Every failure has a message and leaves nothing."""

from __future__ import annotations

import gzip
import hashlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from data_server import GOOD, Server

import ztp.datasets
from ztp.datasets.__main__ import main

# The SHA-256 of the (unpacked) TSV files that `ztp data fetch` of ztp 0.1 has made of the server's files, in short.
KNOWN = {
    "movielens-100k": {
        "movie-labels.tsv": "4aaed689d0686df2",
        "ratings.tsv.gz": "ee3395ef18fb9d23",
        "tensor.tsv.gz": "5450be27a3cb7f41",
        "user-labels.tsv": "546b21534853c488",
    },
    "kinship": {
        "person-labels.tsv": "5b2b68aa97e81c96",
        "tensor.tsv.gz": "733ac3356a179b01",
        "term-labels.tsv": "31688ba48b51c8a4",
    },
    "umls": {
        "concept-labels.tsv": "e44e1e8d2fe225a6",
        "relation-labels.tsv": "a2b5b1d67422481a",
        "tensor.tsv.gz": "aa6371464ad1b7bd",
    },
    "facebook-wosn": {
        "network-user_i.tsv.gz": "49f384d8d70be194",
        "tensor.tsv.gz": "61c24f6f2060605a",
        "user-labels.tsv": "3b8431f194b8de5b",
    },
    "fb15k-237": {
        "entity-labels.tsv": "8314abb496de6ce8",
        "split-test.tsv.gz": "7c8cb2e546f110b5",
        "split-valid.tsv.gz": "45ea15d370d85858",
        "tensor.tsv.gz": "d8d46701831da8dc",
    },
    "dblp-4area": {
        "author-labels.tsv": "d5c64bf0090c11ae",
        "network-author.tsv.gz": "3a6043139194f74e",
        "tensor.tsv.gz": "7f8c231c9585ca7c",
        "term-labels.tsv": "5b7a646b5cfbeb5e",
        "venue-labels.tsv": "c0927a09168c5804",
    },
}
ABOUT = {"README.md", "TERMS.txt", "fetch.json"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with Server() as running:
        yield running.address


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("ZTP_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "downloads"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "downloads").mkdir()


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("how", ["ok", "moved", "encoded"])
def test_folders(name: str, how: str, server: str, tmp_path: Path) -> None:
    assert main(["fetch", name, str(tmp_path / "out"), "--mirror", f"{server}/{how}"]) == 0
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    tables = {file: data for file, data in files.items() if file not in ABOUT}
    plain = {file: gzip.decompress(data) if file.endswith(".gz") else data for file, data in tables.items()}
    assert {file: hashlib.sha256(data).hexdigest()[:16] for file, data in plain.items()} == KNOWN[name]
    for file, data in tables.items():  # no name and no time in it
        assert not file.endswith(".gz") or data[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03"
    assert not list((tmp_path / "downloads").iterdir())


def test_a_folder_says_where_it_comes_from(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: Callable[..., str]
) -> None:
    out = tmp_path / "movies"
    assert main(["fetch", "movielens-100k", str(out), "--mirror", f"{server}/ok/"]) == 0
    printed = capsys.readouterr().out
    assert f"4 ones, 2 user x 3 movie, in {out}\n" in printed
    assert "  agrees with the published md5 " in printed
    assert "\nTerms: Research use is allowed" in printed
    readme, record = (out / "README.md").read_text(), json.loads((out / "fetch.json").read_text())
    archive = GOOD["ml-100k.zip"]
    sha256 = hashlib.sha256(archive).hexdigest()
    assert (
        f"- {server}/ok/ml-100k.zip ({len(archive)} bytes), SHA-256 {sha256}, agrees with the published md5" in readme
    )
    assert record["sources"][0]["sha256"] == sha256
    assert record["ones"] == 4
    assert set(record["files"]) | {"fetch.json"} == {path.name for path in out.iterdir()}
    assert (out / "TERMS.txt").read_text() in readme
    # and is one that the command line reads
    checked = command("check", out / "tensor.tsv.gz", "--labels", f"movie={out / 'movie-labels.tsv'}")
    assert "ones        4 of 6 cells" in checked


def test_frames(server: str, tmp_path: Path) -> None:
    mirror = f"{server}/ok"
    kinship = ztp.datasets.fetch_kinship(mirror=mirror)
    assert list(kinship.columns) == ["person_i", "person_j", "term"]
    assert kinship.values.tolist()[:2] == [["person0", "person1", "term0"], ["person0", "person2", "term1"]]
    umls = ztp.datasets.fetch_umls(mirror=mirror, data_home=tmp_path / "other")
    assert umls.values.tolist()[-1] == ["Virus", "Virus", "part_of"]
    assert (tmp_path / "home/kinship").is_dir()
    assert (tmp_path / "other/umls").is_dir()
    # a second time it is read from there
    assert ztp.datasets.fetch_kinship(download_if_missing=False).equals(kinship)
    with pytest.raises(OSError, match="no data set in .*/home/umls; 'python -m ztp.datasets fetch umls' downloads it"):
        ztp.datasets.fetch_umls(download_if_missing=False)
    ztp.TensorFactorization(rank=2, sweeps=10, chains=2).fit(kinship)


def test_bunches(server: str) -> None:
    movies = ztp.datasets.fetch_movielens(mirror=f"{server}/ok", return_bunch=True)
    assert set(movies.labels) == {"user", "movie"}
    assert movies.labels["movie"]["movie"][0] == "Harbour, The (1951) #10"
    assert movies.labels["movie"]["source_id"].tolist() == [10, 20, 30]
    assert movies.ratings["rating"].tolist() == [5, 1, 3, 4]
    assert movies.ratings[["user", "movie"]].equals(movies.frame)
    assert movies.DESCR.startswith("# movielens-100k\n")
    assert movies.network == movies.splits == {}

    triples = ztp.datasets.fetch_fb15k_237(mirror=f"{server}/ok", return_bunch=True)
    assert triples.splits["test"].values.tolist() == [["/m/c", "/m/b", "/r/of"]]
    assert triples.splits["valid"].values.tolist() == [["/m/a", "/m/b", "/r/in"]]
    assert len(triples.frame) == 4

    papers = ztp.datasets.fetch_dblp(mirror=f"{server}/ok", return_bunch=True)
    assert papers.network["author"].values.tolist() == [["author00001", "author00002"]]
    assert papers.labels["venue"]["area"].tolist() == ["AI", "Database"]

    posts = ztp.datasets.fetch_facebook(mirror=f"{server}/ok", return_bunch=True)
    users = posts.labels["user"]["user"]
    model = ztp.TensorFactorization(rank=2, sweeps=10, chains=2)
    model.fit(posts.frame, network=posts.network, labels={"user_i": users, "user_j": users})
    assert model.posterior_.shape == (4, 4, 3)


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if not line.startswith(" ")] == list(KNOWN)
    assert "  home   https://files.grouplens.org/datasets/movielens/\n" in printed


# exit code, a part of the message, data set, how it is served
FAILURES = [
    (3, "wrong checksum: MD5 hash of downloaded file", "movielens-100k", "badsum"),
    (6, "/nosum/ml-100k.zip.md5: the server refuses it (HTTP 404)", "movielens-100k", "nosum"),
    (3, "there is no MD5 checksum in it", "movielens-100k", "oddsum"),
    (6, "/truncated/alyawarradata.mat: cut short after ", "kinship", "truncated"),
    (6, "HTTP 404", "kinship", "missing"),
    (6, "the server failed (HTTP 500); try again later", "umls", "broken"),
    (6, "no byte came for 1 seconds", "umls", "silent"),
    (6, "no byte came for 1 seconds", "umls", "hang"),
    (6, "redirected more than 10 times", "umls", "loop"),
    (6, "redirected to an address that is not followed (file:///etc/passwd)", "umls", "tofile"),
    (3, "larger than 67108864 bytes", "umls", "huge"),
    (3, "larger than 67108864 bytes", "facebook-wosn", "endless"),
    (3, "/cut-with-sum/ml-100k.zip: damaged", "movielens-100k", "cut-with-sum"),
    *((3, "damaged", name, "cut") for name in ("fb15k-237", "facebook-wosn", "kinship", "umls")),
    *((3, "damaged", name, "flipped") for name in ("movielens-100k", "fb15k-237", "kinship")),
    *((3, "damaged", name, "html") for name in ("facebook-wosn", "fb15k-237")),
    (3, "not a MATLAB 5 file", "kinship", "html"),
    (3, "not a MATLAB 5 file", "umls", "empty"),
    (3, "there is no u.item in it", "movielens-100k", "other"),
    (3, "there is no train.txt in it", "fb15k-237", "other"),
    (3, "u.data is in it twice", "movielens-100k", "twice"),
    (3, "unpacks to more than 268435456 bytes", "fb15k-237", "bomb"),
    (3, "unpacks to more than 268435456 bytes", "kinship", "bomb"),
    (3, 'u.data in ml-100k.zip:2:3: "ten" is not an integer', "movielens-100k", "badline"),
    (3, "facebook-wall.txt.gz:6:1: 2 columns where 3 are expected", "facebook-wosn", "badline"),
    (3, "valid.txt in FB15k-237.tar.gz:1:5: a name is empty", "fb15k-237", "badline"),
    (3, 'paper_author.txt:2:5: "-9" is not an integer', "dblp-4area", "badline"),
    (3, "there is no array Rs in it", "kinship", "badline"),
    (3, "1 names in the field names where 2 are expected", "umls", "badline"),
    (3, "there is nothing in it", "dblp-4area", "nothing"),
]


@pytest.mark.parametrize(("code", "message", "name", "how"), FAILURES)
def test_failures(
    code: int, message: str, name: str, how: str, server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "no/data"
    out.parent.mkdir()
    assert main(["fetch", name, str(out), "--mirror", f"{server}/{how}", "--timeout", "1"]) == code
    assert message in capsys.readouterr().err
    assert not list(out.parent.iterdir())
    assert not list((tmp_path / "downloads").iterdir())


def test_no_server(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"^http://127.0.0.1:1/uml.mat: .*; check the connection, or use a mirror"):
        ztp.datasets.fetch_umls(mirror="http://127.0.0.1:1")
    assert not (tmp_path / "home").exists()


def test_https_is_not_left(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ztp.datasets import _download

    class Moved:
        url, headers, is_redirect = "https://example.org/a", {"location": "http://example.org/a"}, True

    with pytest.raises(OSError, match="not followed"):
        _download._check_redirection(Moved())
    Moved.url = "http://example.org/b"
    _download._check_redirection(Moved())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fetch", "netflix"], "movielens-100k"),
        (["fetch", "kinship", "--timeout", "0"], "not an integer from 1 to 86400"),
        (["fetch", "kinship", "--mirror", "file:///etc"], "an address begins with http:// or https://"),
        ([], "required"),
    ],
)
def test_usage(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_what_a_function_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match="begins with http"):
        ztp.datasets.fetch_umls(mirror="ftp://example.org")
    with pytest.raises(ValueError, match="timeout is 0"):
        ztp.datasets.fetch_umls(timeout=0)


def test_folders_that_are_there(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fetch(out: Path, *more: str, how: str = "ok") -> tuple[int, str]:
        code = main(["fetch", "umls", str(out), "--mirror", f"{server}/{how}", *more])
        return code, capsys.readouterr().err

    umls, mine, file = tmp_path / "umls", tmp_path / "mine", tmp_path / "file"
    umls.mkdir()  # an empty one is none
    assert fetch(umls) == (0, "")
    code, message = fetch(umls)
    assert (code, "exists; --force replaces it" in message) == (4, True)
    record = umls / "fetch.json"
    record.write_text(record.read_text().replace(ztp.datasets._folder.MAKER, "ztp data fetch"))  # an old one
    assert fetch(umls, "--force") == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["downloads", "umls"]
    code, message = fetch(umls, "--force", how="cut")
    assert (code, (umls / "tensor.tsv.gz").exists()) == (3, True)
    (umls / "mine.txt").write_text("mine")
    code, message = fetch(umls, "--force")
    assert (code, "mine.txt in it would be lost" in message) == (4, True)
    mine.mkdir()
    (mine / "tensor.tsv.gz").write_text("mine")
    code, message = fetch(mine, "--force")
    assert (code, "did not make it" in message) == (4, True)
    file.write_text("mine")
    code, message = fetch(file, "--force")
    assert (code, "is not a folder" in message) == (4, True)
    assert {path.read_text() for path in (umls / "mine.txt", mine / "tensor.tsv.gz", file)} == {"mine"}
    code, message = fetch(file / "umls")
    assert (code, str(file) in message) == (6, True)


def test_names_in_an_archive_are_never_paths(server: str, tmp_path: Path) -> None:
    out = tmp_path / "no/deep/er/slip"
    assert main(["fetch", "fb15k-237", str(out), "--mirror", f"{server}/slip"]) == 0
    assert {path.parent for path in (tmp_path / "no").rglob("*") if path.is_file()} == {out}


def test_a_signal_leaves_nothing(server: str, tmp_path: Path) -> None:
    words = ["-m", "ztp.datasets", "fetch", "umls", str(tmp_path / "out"), "--mirror", f"{server}/silent"]
    with subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True) as program:
        while program.poll() is None and not list((tmp_path / "downloads").glob("*/*")):  # until it downloads
            time.sleep(0.05)
        program.send_signal(signal.SIGTERM)
        _, errors = program.communicate(timeout=20)
    assert program.returncode == 128 + signal.SIGTERM
    assert errors == "Interrupted; nothing was written.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["downloads"]
    assert not list((tmp_path / "downloads").iterdir())


def test_imports() -> None:
    """The package itself needs neither pooch nor scipy.io; a download without pooch says what to install."""
    script = """
import sys
import ztp
assert not {"pooch", "requests", "scipy.io", "ztp.datasets"} & set(sys.modules), sorted(sys.modules)
sys.modules["pooch"] = None  # as if it were not installed
import ztp.datasets
try:
    ztp.datasets.fetch_umls(mirror="http://127.0.0.1:1")
except ImportError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.stdout.startswith("downloading a data set needs the package pooch, which cannot be imported"), ran.stderr
    assert ran.stdout.endswith(": pip install 'ztp[datasets]'\n")
