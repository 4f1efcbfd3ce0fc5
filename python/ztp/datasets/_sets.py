"""The data sets that can be fetched: where their files are, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ._matlab import convert_kinship, convert_umls
from ._sources import Converted, Source
from ._text import convert_dblp, convert_facebook, convert_fb15k_237, convert_movielens


@dataclass(frozen=True, kw_only=True)
class DataSet:
    name: str  # of the folder, too
    about: str  # one line
    modes: str  # sizes and names
    home: str  # address that the names of its files are appended to
    terms_short: str  # a few words
    terms: str  # sentences
    files: Sequence[str]
    md5_beside: Sequence[str] = ()  # the files whose checksum is published in a file of the same name and .md5
    transformation: str  # sentences, for the folder's README.md
    convert: Callable[[dict[str, Source]], Converted]


_ALL = [
    DataSet(
        name="movielens-100k",
        about="which user rated which movie, 1997-98",
        modes="943 user x 1,682 movie",
        home="https://files.grouplens.org/datasets/movielens/",
        terms_short="research, not to be redistributed",
        terms=(
            "Research use is allowed with acknowledgement; commercial use and redistribution need permission of "
            "GroupLens, and no endorsement may be implied (README of the archive). To acknowledge: F. M. Harper and J."
            " A. Konstan, The MovieLens Datasets: History and Context, ACM TiiS 5(4), 2015."
        ),
        files=["ml-100k.zip"],
        md5_beside=["ml-100k.zip"],
        transformation=(
            "u.data joined with the titles of u.item, which were turned from ISO 8859-1 to UTF-8; titles that occur "
            "twice carry ` #<source id>` to stay distinct. A rating of any height is a one; ratings.tsv.gz has the "
            "ratings and times. Zip codes of users are left out."
        ),
        convert=convert_movielens,
    ),
    DataSet(
        name="kinship",
        about="kin terms that members of the Alyawarra use for one another",
        modes="104 person_i x 104 person_j x 26 term",
        home="https://raw.githubusercontent.com/mnick/rescal.py/69dddaa9157fc7bd24d5d7ecf0308cc412403c17/data/",
        terms_short="none stated",
        terms=(
            "The data carry no terms of their own; the repository they lie in is under GPL-3.0. Field data of W. "
            "Denham; the binary form was circulated by C. Kemp with the data sets of the infinite relational model "
            "(AAAI 2006)."
        ),
        files=["alyawarradata.mat"],
        transformation=(
            "Cells of the array Rs that equal 1, with ids from 0. person-labels.tsv has the field atts (the kinship "
            "section) and the columns of the field features, which the source does not explain."
        ),
        convert=convert_kinship,
    ),
    DataSet(
        name="umls",
        about="relations between the semantic types of the Unified Medical Language System",
        modes="135 concept_i x 135 concept_j x 49 relation",
        home="https://raw.githubusercontent.com/gzupanda/HRESCAL/a22ad2e2c9922ae9d2a15e3904709cef46ace7f0/data/",
        terms_short="none stated",
        terms=(
            "The data carry no terms of their own; the repository they lie in is under GPL-3.0. After A. T. McCray "
            "(2003); the binary form was circulated by C. Kemp with the data sets of the infinite relational model "
            "(AAAI 2006)."
        ),
        files=["uml.mat"],
        transformation="Cells of the array Rs that equal 1, with the names of the fields names and relnames.",
        convert=convert_umls,
    ),
    DataSet(
        name="facebook-wosn",
        about="wall posts and friendships of Facebook users in New Orleans (WOSN 2009)",
        modes="in the paper 63,731 user_i x 63,730 user_j x 1,837 day",
        home="http://socialnetworks.mpi-sws.mpg.de/data/",
        terms_short="none stated but to cite; anonymized",
        terms=(
            "The page of the data (http://socialnetworks.mpi-sws.org/data-wosn2009.html) states no licence; it asks to"
            " cite B. Viswanath, A. Mislove, M. Cha, K. P. Gummadi, On the Evolution of User Interaction in Facebook, "
            "WOSN 2009. The users were anonymized by its authors: do not try to undo that."
        ),
        files=["facebook-wall.txt.gz", "facebook-links.txt.gz"],
        transformation=(
            "Posts (owner of the wall, author, unix time) became user_i, user_j and the UTC day, each cell once, posts"
            " on one's own wall included. Links became undirected edges between users, each once, without self-loops. "
            "user-labels.tsv lists all users of both files: give it for user_i and user_j, because many have edges and"
            " no post."
        ),
        convert=convert_facebook,
    ),
    DataSet(
        name="fb15k-237",
        about="triples of Freebase, with the usual split",
        modes="14,541 entity_i x 14,541 entity_j x 237 relation",
        home="https://raw.githubusercontent.com/TimDettmers/ConvE/f3c0eb286025410fa5b4c04696c918264163d0ca/",
        terms_short="repository under MIT; Freebase CC BY",
        terms=(
            "The repository is under the MIT licence; Freebase was published under CC BY 2.5. To cite: K. Toutanova "
            "and D. Chen, Observed versus latent features for knowledge base and text inference, CVSC 2015."
        ),
        files=["FB15k-237.tar.gz"],
        transformation=(
            "The union of train.txt, valid.txt and test.txt, with the columns in the order head, tail, relation. "
            "split-valid.tsv.gz and split-test.tsv.gz are parts of the tensor; the rest is the training part."
        ),
        convert=convert_fb15k_237,
    ),
    DataSet(
        name="dblp-4area",
        about="authors, title terms and venues of papers in four areas, with co-authors",
        modes="14,475 author x 8,920 term x 20 venue",
        home=(
            "https://raw.githubusercontent.com/cynricfu/MAGNN/b8557f58ae04a7fe3e7a9fde64ea87c81b331efe/data/raw/DBLP/"
        ),
        terms_short="academic, not to be redistributed",
        terms=(
            "Academic and educational use only; redistribution of any part needs separate permission (readme of the "
            "source). To cite: M. Ji et al., Graph Regularized Transductive Classification on Heterogeneous "
            "Information Networks, ECML PKDD 2010, and J. Gao et al., Graph-based Consensus Maximization among "
            "Multiple Supervised and Unsupervised Models, NIPS 2009."
        ),
        files=[
            *("author.txt", "term.txt", "conf.txt", "author_label.txt", "conf_label.txt"),
            *("paper_author.txt", "paper_term.txt", "paper_conf.txt"),
        ],
        transformation=(
            "Joined over papers: a cell is a one if the author has a paper at the venue whose title has the term; an "
            "edge is at least one joint paper. Authors are numbered in the order of author.txt and their names left "
            "out; author-labels.tsv has the source's id, the area if there is one, and the number of papers."
        ),
        convert=convert_dblp,
    ),
]

DATA_SETS = {data_set.name: data_set for data_set in _ALL}
