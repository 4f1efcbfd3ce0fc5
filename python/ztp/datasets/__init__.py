"""Public data sets, downloaded once and then kept, as in scikit-learn. There is one function for each data set::

    import ztp
    import ztp.datasets
    frame = ztp.datasets.fetch_kinship()         # one observed cell per row, one column per mode
    ztp.TensorFactorization(rank=20).fit(frame)

All of them take the same keywords:

- ``data_home``: the folder for data sets, in which each has a folder with its name. The default is the environment
  variable ``ZTP_DATA``, or ``ztp`` in the user's cache.
- ``download_if_missing``: if False, a data set that has not been downloaded raises an OSError.
- ``mirror``: an http or https address to use instead of the source's own. File names are appended to it.
- ``timeout``: give up on a server after this many seconds without a byte.
- ``return_bunch``: return a ``sklearn.utils.Bunch`` with everything, not just the frame:

    - ``frame``: the cells of the tensor, by label;
    - ``network``: by mode, frames of undirected edges, for ``fit(frame, network=...)``;
    - ``labels``: by kind of entity, frames with what is known about them. The first column is the label;
    - ``splits``: the parts of the source's own split, such as ``splits["test"]``;
    - ``ratings``: for MovieLens, the cells with ratings and times;
    - ``DESCR``: the source and its checksums, the transformation, and the terms of the owners;
    - ``folder``: the folder of the TSV files, which the command ``ztp`` can read, too.

``python -m ztp.datasets list`` lists the data sets; ``python -m ztp.datasets fetch kinship DIR`` makes such a folder.
Downloads need the extra ``datasets``: ``pip install 'ztp[datasets]'``.
"""

from __future__ import annotations

import os
from typing import Any

import pandas as pd
from sklearn.utils import Bunch

from .._keywords import suggests as _suggests
from ._fetch import data_home as _home
from ._fetch import fetch as _fetch
from ._folder import read_bunch as _read_bunch
from ._folder import read_cells as _read_cells

__all__ = [
    "fetch_dblp",
    "fetch_facebook",
    "fetch_fb15k_237",
    "fetch_kinship",
    "fetch_movielens",
    "fetch_umls",
]


@_suggests
def fetch_kinship(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    mirror: str | None = None,
    timeout: float = 60,
    return_bunch: bool = False,
) -> pd.DataFrame | Bunch:
    """Kinship: kin terms that members of the Alyawarra use for one another, 104 person_i x 104 person_j x 26 term.
    It has labels of persons and terms."""
    return _load("kinship", data_home, download_if_missing, mirror, timeout, return_bunch)


@_suggests
def fetch_umls(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    mirror: str | None = None,
    timeout: float = 60,
    return_bunch: bool = False,
) -> pd.DataFrame | Bunch:
    """UMLS: relations between the semantic types of the Unified Medical Language System, 135 concept_i x 135 concept_j
    x 49 relation. It has labels of concepts and relations."""
    return _load("umls", data_home, download_if_missing, mirror, timeout, return_bunch)


@_suggests
def fetch_movielens(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    mirror: str | None = None,
    timeout: float = 60,
    return_bunch: bool = False,
) -> pd.DataFrame | Bunch:
    """MovieLens-100K: which user rated which movie, 943 user x 1,682 movie. It has ratings, and labels of users and
    movies. For research; not to be redistributed."""
    return _load("movielens-100k", data_home, download_if_missing, mirror, timeout, return_bunch)


@_suggests
def fetch_facebook(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    mirror: str | None = None,
    timeout: float = 60,
    return_bunch: bool = False,
) -> pd.DataFrame | Bunch:
    """Facebook (WOSN 2009): who posted on whose wall on which day, user_i x user_j x day. It has a network of friends
    over user_i, and labels of users: give them as `labels` of both modes, because many have friends and no post."""
    return _load("facebook-wosn", data_home, download_if_missing, mirror, timeout, return_bunch)


@_suggests
def fetch_fb15k_237(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    mirror: str | None = None,
    timeout: float = 60,
    return_bunch: bool = False,
) -> pd.DataFrame | Bunch:
    """FB15k-237: triples of Freebase, 14,541 entity_i x 14,541 entity_j x 237 relation. It has the splits valid and
    test (the rest is the training part), and labels of entities."""
    return _load("fb15k-237", data_home, download_if_missing, mirror, timeout, return_bunch)


@_suggests
def fetch_dblp(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    mirror: str | None = None,
    timeout: float = 60,
    return_bunch: bool = False,
) -> pd.DataFrame | Bunch:
    """DBLP four-area: authors, title terms and venues of papers, 14,475 author x 8,920 term x 20 venue. It has a
    network of co-authors, and labels of authors, terms and venues. For academic use; not to be redistributed."""
    return _load("dblp-4area", data_home, download_if_missing, mirror, timeout, return_bunch)


def _load(
    name: str,
    data_home: str | os.PathLike[str] | None,
    download_if_missing: bool,
    mirror: str | None,
    timeout: float,
    return_bunch: bool,
) -> Any:
    folder = os.path.join(_home(data_home), name)
    if not os.path.exists(os.path.join(folder, "tensor.tsv.gz")):
        if not download_if_missing:
            raise OSError(f"there is no data set in {folder}; 'python -m ztp.datasets fetch {name}' downloads it")
        _fetch(name, folder, mirror, timeout)
    return _read_bunch(folder) if return_bunch else _read_cells(folder)
