"""One file from an http or https server, by pooch."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urljoin

from .. import _core

from .._extras import need

pooch = need("pooch", "datasets", "downloading a data set")
requests = need("requests", "datasets", "downloading a data set")
urllib3 = need("urllib3", "datasets", "downloading a data set")

# Several times the size of the largest file, so that a server that never ends is noticed.
MAX_BYTES = 64 << 20
MAX_REDIRECTIONS = 10
_MIRROR = "use a mirror (mirror=URL, --mirror URL)"


def download(url: str, folder: str, timeout: float, checksum: str | None = None, most: int = MAX_BYTES) -> bytes:
    """The whole file, which is also kept in the folder. An OSError for everything between here and the server, a
    ValueError for a file that has another checksum ("md5:...") or is larger than it may be; both name the address."""
    logger = pooch.get_logger()  # tells of files and checksums that mean nothing to users
    level = logger.level
    logger.setLevel("WARNING")
    try:
        path = pooch.retrieve(url, checksum, path=folder, downloader=_Downloader(timeout, most))
    except ValueError as error:
        if str(error).startswith(url):
            raise
        raise ValueError(f"{url}: wrong checksum: {error} Try again, or {_MIRROR}") from None
    finally:
        logger.setLevel(level)
    with open(path, "rb") as file:
        return file.read()


class _Downloader:
    """Takes the place of pooch.HTTPDownloader. It bounds the size, the redirections and the time without a byte, never
    goes from https to http, and notices a file that is cut short. Bytes are taken as they come: some servers send a .gz
    with Content-Encoding, and it must not be unpacked on the way."""

    def __init__(self, timeout: float, most: int) -> None:
        self.timeout = timeout
        self.most = most

    def __call__(self, url: str, output_file: str, pooch: object) -> None:
        headers = {"User-Agent": f"ztp/{_core.version}", "Accept-Encoding": "identity"}
        try:
            with requests.Session() as session:
                session.max_redirects = MAX_REDIRECTIONS
                session.hooks["response"].append(_check_redirection)
                with session.get(url, headers=headers, stream=True, timeout=self.timeout) as response:
                    self._check_status(url, response.status_code)
                    self._copy(url, response, output_file)
        except requests.TooManyRedirects:
            raise OSError(f"{url}: redirected more than {MAX_REDIRECTIONS} times; {_MIRROR}") from None
        except (requests.Timeout, urllib3.exceptions.TimeoutError):
            raise OSError(
                f"{url}: no byte came for {self.timeout:g} seconds; try again later, wait longer (timeout), or "
                + _MIRROR
            ) from None
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise OSError(f"{url}: {error}; check the connection, or {_MIRROR}") from None

    @staticmethod
    def _check_status(url: str, status: int) -> None:
        if status >= 500:
            raise OSError(f"{url}: the server failed (HTTP {status}); try again later, or {_MIRROR}")
        if status != 200:
            raise OSError(
                f"{url}: the server refuses it (HTTP {status}); the file may have moved: look for it, and give its new "
                "base address as a mirror (mirror=URL, --mirror URL)"
            )

    def _copy(self, url: str, response: Any, output_file: str) -> None:
        length = response.headers.get("Content-Length", "")
        total = int(length) if length.isdigit() else None
        got = 0
        if total is not None and total > self.most:
            self._too_large(url)
        try:
            with open(output_file, "wb") as file, _progress(url, total) as progress:
                for piece in response.raw.stream(1 << 16, decode_content=False):
                    got += len(piece)
                    if got > self.most:
                        self._too_large(url)
                    file.write(piece)
                    progress.update(len(piece))
        except urllib3.exceptions.ProtocolError:
            if total is None:
                raise
        if total is not None and got < total:
            raise OSError(f"{url}: cut short after {got} of {total} bytes; try again, or {_MIRROR}")

    def _too_large(self, url: str) -> None:
        raise ValueError(
            f"{url}: larger than {self.most} bytes, which it should not be; see what the address gives, or {_MIRROR}"
        )


def _progress(url: str, total: int | None) -> Any:
    """A bar on a terminal, nothing elsewhere."""
    from tqdm.auto import tqdm

    return tqdm(total=total, unit="B", unit_scale=True, desc=os.path.basename(url), leave=False, disable=None)


def _check_redirection(response: Any, **_: Any) -> None:
    if not response.is_redirect:
        return
    target = urljoin(response.url, response.headers["location"])
    allowed = ("https://",) if response.url.startswith("https://") else ("http://", "https://")
    if not target.startswith(allowed):
        raise OSError(f"{response.url}: redirected to an address that is not followed ({target}); {_MIRROR}")
