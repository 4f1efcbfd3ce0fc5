#!/usr/bin/python3
"""A model of a sweep that several processes (ranks) share: time, traffic and memory, worked out from a few measured rates.

    experiments/cluster_model.py table         10^10 and 10^11 ones on 10 to 1,000 nodes: the tables of docs/cluster.md
    experiments/cluster_model.py check         the model beside measured sweeps of 1, 2, 4, ... ranks on this machine
    experiments/cluster_model.py traffic       the same of the bytes that ranks send, which do not depend on the machine

The ones are cut by a grid over the modes (src/kernel/ranks/row_cut.cpp). In each sweep a rank
  1. draws the rows of the factors that it owns;
  2. gathers the sums of groups of rows, of all ranks;
  3. for one chunk of its ones after the other, fetches the rows that they touch from their owners (floats),
  4. draws a component for each of these ones, while the rows of the next chunk are on their way,
  5. and adds up R totals over all ranks, and sends the counts of the touched rows to their owners (integers, no zeros).
The number of rows that are touched is what is expected if ones fall on rows evenly; where some rows have
most of the ones, fewer are touched. A rank that has more ones than others, since a row has very many, is not in the model.

Ranks of one machine have their memory in common (src/kernel/ranks/shared_ones.cpp). No rows travel then: instead of 3 and
5, a rank waits for the others, may copy the rows of its slabs, and adds up the counts of its own rows.

`check` measures the rates apart from what it predicts: sweeps of processes with parts like that of a rank, but smaller and
with fewer ones, as many at once as there will be ranks; a sweep of so many ranks with next to nothing to do; copies in memory; and, with --messages,
a sweep of so many ranks at another size, for what a touched row costs. It runs mpirun, and needs build/release of `make
mpi`."""
import argparse
import ctypes
import dataclasses
import functools
import math
import multiprocessing
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

GROUP_OF_LARGE_MODE = 4096  # rows; kernel/host_arrays.hpp, rows_of_sum
ROWS_PER_PLACE = 256
LEAST_ROOM = 256 << 20  # bytes


@dataclasses.dataclass
class Rates:
    """The first three of one core while all others of its node work, too."""
    one: float = 0.15e-9  # seconds for a one, a mode and a component
    draw: float = 4e-9  # seconds for a number of a factor
    touch: float = 3e-9  # seconds for a number of a touched row: packed, unpacked, its count packed and unpacked
    latency: float = 2e-6  # seconds for a message
    bandwidth: float = 25e9  # bytes a second, of a node, each way
    memory_bandwidth: float = 200e9  # bytes a second, of a node
    cache: float = 64e6  # bytes, of a node
    overlap: float = 1.0  # how much of a message moves while the cores work
    meet: float = 0.0  # seconds of a sweep in which ranks only meet; 0: from the latency
    copy: float = 5e9  # bytes a second of a core, from memory to memory


@dataclasses.dataclass
class Job:
    dims: tuple
    ones: float
    rank: int  # components
    ranks: int
    threads: int = 1  # of a rank
    ranks_per_node: int = 1
    least_room: float = LEAST_ROOM  # bytes for the rows of a chunk
    memory: float = 256e9  # bytes of a node
    shared: bool = False  # all ranks are on one machine and have memory in common


@dataclasses.dataclass
class Sweep:
    """Of one rank."""
    draw: float  # seconds
    ones: float
    touch: float
    sums: float
    rows: float
    counts: float
    sent: float  # bytes
    arrays: float  # bytes of memory, but for the list of all ones
    all_ones: float  # bytes of that list
    chunks: int
    touched: list  # rows, of each mode, all chunks together

    def seconds(self):
        return self.draw + self.ones + self.touch + self.sums + self.rows + self.counts

    def communication(self):
        return self.sums + self.rows + self.counts


# ---- how the data are cut


def prime_factors(number):
    factors, p = [], 2
    while p * p <= number:
        while number % p == 0:
            factors.append(p)
            number //= p
        p += 1
    return ([number] if number > 1 else []) + factors[::-1]


def slabs_of_modes(dims, ranks):
    slabs = [1] * len(dims)
    for factor in prime_factors(ranks):
        longest = max(range(len(dims)), key=lambda k: (dims[k] / slabs[k], -k))
        slabs[longest] *= factor
    return slabs


def rows_of_sum(rows):
    if rows >= 1 << 20:
        return GROUP_OF_LARGE_MODE
    return 1 << (min(max(rows // 128, 16), ROWS_PER_PLACE).bit_length() - 1)


def distinct(rows, ones):
    """Rows that so many ones touch, if each falls on any row."""
    return rows * -math.expm1(-ones / rows)


def padded(columns):
    return (columns + 15) // 16 * 16


# ---- a sweep


def words_of_counts(mean, R):
    """Words of a row's counts as they travel (pack_row), if the row has so many counts, spread evenly over R columns."""
    each = mean / R
    single = each * math.exp(-each)
    more = -math.expm1(-each) - single
    return 2 + R * (single + 3 * more)


def parts_of_modes(job):
    """Into how many parts each mode is cut for chunks: rank_ones.cpp, parts_of_modes; row_cut.cpp, room_for_copies."""
    P, R, K = job.ranks, job.rank, len(job.dims)
    parts = [1] * K
    if P == 1:
        return parts
    slabs = slabs_of_modes(job.dims, P)
    everything = job.ones * (8 + 8 * K) + 8 * sum(job.dims) * padded(R)
    memory = job.memory / job.ranks_per_node
    room = min(max(job.least_room, everything / P / 8, memory / 32), memory / 16)
    mine, chunks = job.ones // P, 1
    while True:
        rows = [n // slab // part for n, slab, part in zip(job.dims, slabs, parts)]
        copies = [8 * (padded(R) + R) * min(mine // chunks, n) for n in rows]
        if sum(copies) <= room or mine // chunks <= 1:
            return parts
        most = max(range(K), key=lambda k: (copies[k], rows[k], -k))
        parts[most] *= 2
        chunks *= 2


def copied(job):
    """Bytes that a rank copies where memory is common: rows of its slabs but of the first, if it has many ones for each."""
    slabs = [n / slab for n, slab in zip(job.dims, slabs_of_modes(job.dims, job.ranks))]
    return sum(4 * rows * padded(job.rank) for rows in slabs[1:] if 8 * job.ones / job.ranks >= rows * job.rank)


def sweep(job, rates):
    K, R, P = len(job.dims), job.rank, job.ranks
    mine, parts = job.ones / P, parts_of_modes(job)
    chunks = math.prod(parts)
    slabs = slabs_of_modes(job.dims, P)
    own = touched_all = at_once = values_apart = words = groups = peers = 0.0
    touched = []
    for n, slab, part in zip(job.dims, slabs, parts):
        share = max(ROWS_PER_PLACE, rows_of_sum(n))
        of_slab, owners = n / slab, P // slab
        own += min(of_slab, math.ceil(of_slab / share / owners) * share)
        of_chunk = distinct(of_slab / part, mine / chunks)  # a chunk is a block of the tensor
        rows = of_chunk * chunks
        touched.append(rows)
        touched_all += rows
        at_once += of_chunk
        elsewhere = 1 - 1 / min(owners, math.ceil(of_slab / share)) if owners > 1 else 0
        values_apart += rows * elsewhere * R
        words += rows * elsewhere * words_of_counts(mine / rows, R)
        groups += math.ceil(n / rows_of_sum(n)) * R
        peers += min(owners, math.ceil(of_slab / share)) - 1
    peers = min(peers, P - 1)

    # Ranks of a node share its network, and do not need it among themselves.
    nodes = max(1, P // job.ranks_per_node)
    apart = 1 if nodes == 1 else (P - job.ranks_per_node) / max(P - 1, 1)
    bandwidth = rates.bandwidth / job.ranks_per_node

    def exchange(size, messages):
        return 0 if P == 1 else messages * rates.latency + size * apart / bandwidth

    rounds = math.ceil(math.log2(P)) if P > 1 else 0
    sums = 0 if P == 1 else 2 * rounds * rates.latency + 8 * groups * apart * (P - 1) / P / bandwidth
    fetched, given = 4 * values_apart, 4 * words
    heads = 8 * K * (P - 1) * chunks
    totals = chunks * 2 * rounds * (rates.latency + 8 * (R + 6) / bandwidth)

    by_core = rates.one * mine * K * R / job.threads
    # Ones are sorted by their first mode, whose rows are read once. Of the others a row is read anew for each one, unless
    # all of them stay in the cache.
    row_bytes = 4 * padded(R)
    read = touched[0] * row_bytes
    for rows in touched[1:]:
        read += (rows if rows / chunks * row_bytes * job.ranks_per_node < rates.cache else mine) * row_bytes
    ones = max(by_core, read * job.ranks_per_node / rates.memory_bandwidth)

    # The rows of the next chunk are on their way while the ones of a chunk are worked on, if the network does it alone.
    rows = exchange(fetched, peers * chunks)
    hidden = min(rows, ones) * (chunks - 1) / chunks * rates.overlap

    wide = 8 if job.ones > 2**31 else 4
    row = 4 * padded(R) + wide * padded(R)
    arrays = own * row + mine * (4 + 4 * (K - 1))
    if P > 1:
        # Of a chunk, copies of rows and rows on their way; of all, which rows these are; coordinates and places of ones.
        arrays += at_once * (row + 8 * R) + 8 * touched_all + mine * (4 * K + 8)
    arrays += 8 * (touched_all if P > 1 else sum(job.dims)) + 16e6
    if job.shared and P > 1:
        meetings = rates.meet or 4 * rounds * rates.latency
        return Sweep(draw=rates.draw * own * R / job.threads, ones=ones, touch=copied(job) / rates.copy / job.threads,
                     sums=meetings, rows=0, counts=0, sent=8 * groups * (P - 1) / P + 16 * (R + 7), arrays=arrays,
                     all_ones=4 * K * job.ones, chunks=1, touched=touched)
    return Sweep(
        draw=rates.draw * own * R / job.threads,
        ones=ones,
        touch=0 if P == 1 else rates.touch * touched_all * R / job.threads,
        sums=sums + rates.meet,
        rows=rows - hidden,
        counts=exchange(heads, (P - 1) * chunks) + exchange(given, peers * chunks) + totals,
        sent=0 if P == 1 else fetched + given + heads + 8 * groups * (P - 1) / P + chunks * 16 * (R + 6),
        arrays=arrays,
        all_ones=4 * K * job.ones,
        chunks=chunks,
        touched=touched)


def draw_bytes(job):
    return 4 * sum(job.dims) * job.rank


# ---- the table

SCENARIOS = [((10**7, 10**7, 10**4), 1e10), ((10**8, 10**8, 10**5), 1e11)]


def human(number, unit, step=1000):
    for prefix in ("", "k", "M", "G", "T"):
        if number < step or prefix == "T":
            return f"{number:.3g} {prefix}{unit}"
        number /= step


def print_table(args):
    rates = Rates(**{field.name: getattr(args, field.name) for field in dataclasses.fields(Rates)})
    threads = args.cores // args.ranks_per_node
    print(f"R = {args.rank}; nodes of {args.cores} cores, {args.ranks_per_node} rank(s) of {threads} threads each, "
          f"{human(rates.memory_bandwidth, 'B/s')} of memory bandwidth, a network of {human(rates.bandwidth, 'B/s')} a "
          f"node and {human(rates.latency * 1e6, 'us')}")
    print(f"a core: {rates.one * 1e9:.2f} ns for a one, a mode and a component; {rates.draw * 1e9:.1f} ns for a number of a "
          f"factor; {rates.touch * 1e9:.1f} ns for a number of a touched row\n")
    for dims, ones in [(tuple(args.dims), args.ones)] if args.dims else SCENARIOS:
        job = Job(dims, ones, args.rank, 1)
        print(f"{ones:.0e} ones, {' x '.join(f'{n:,}' for n in dims)}; a kept draw has {human(draw_bytes(job), 'B')}, a "
              f"checkpoint {human(2 * draw_bytes(job), 'B')}\n")
        print("| nodes | chunks | sweep | ones | draws | rows touched | communication | sent by a node | memory of a node: arrays, "
              "list of ones | 1,000 sweeps | speed-up |")
        print("|---|---|---|---|---|---|---|---|---|---|---|")
        first = None
        for nodes in args.nodes:
            s = sweep(Job(dims, ones, args.rank, nodes * args.ranks_per_node, threads, args.ranks_per_node,
                          args.least_room), rates)
            first = first or s.seconds() * nodes
            hours = s.seconds() * 1000 / 3600
            print(f"| {nodes} | {s.chunks} | {s.seconds():.3g} s | {s.ones:.3g} s | {s.draw:.3g} s | {s.touch:.3g} s | "
                  f"{s.communication():.3g} s | {human(s.sent * args.ranks_per_node, 'B')} | "
                  f"{human(s.arrays * args.ranks_per_node, 'B')}, {human(s.all_ones * args.ranks_per_node, 'B')} | "
                  f"{hours:.2g} h | {first / s.seconds():.0f} |")
        print()


# ---- measured


class Lab:
    """Makes tensors, runs fits of them and messages between ranks."""

    def __init__(self, args):
        self.args = args
        self.ztp = pathlib.Path(args.ztp).resolve()
        if not self.ztp.exists():
            sys.exit(f"{self.ztp} is not there: run 'make mpi', or give --ztp")
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ztp-cluster-model-"))
        self.cores = len(os.sched_getaffinity(0))
        self.spread = None
        self.busy = {}  # rates of one process while so many work
        self.tensors = {}
        self.env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def close(self):
        shutil.rmtree(self.dir)

    def launch(self, ranks):
        """Each rank on a core. A system may count threads of cores as such, or leave it to us."""
        if self.spread is None:
            ways = [[], ["--use-hwthread-cpus"], ["--oversubscribe", "--bind-to", "none"]]
            works = [way for way in ways if subprocess.run(
                self.args.launcher.split() + ["-n", str(self.cores), *way, str(self.ztp), "--version"],
                env=self.env, capture_output=True, check=False).returncode == 0]
            if not works:
                raise RuntimeError(f"{self.args.launcher} cannot start {self.cores} ranks")
            self.spread = works[0]
        many = ["--oversubscribe", "--bind-to", "none"]
        return self.args.launcher.split() + ["-n", str(ranks)] + (self.spread if ranks <= self.cores else many)

    def environment(self, ranks):
        return dict(self.env, OMPI_MCA_mpi_yield_when_idle="1") if ranks > self.cores else self.env

    def tensor(self, name, dims, ones):
        """Ones that fall on cells evenly."""
        if self.tensors.get(name) == (dims, ones):
            return
        self.tensors[name] = dims, ones
        self.make_tensor(name, dims, ones, ["--kind", "model", "--dirichlet", 1000, "--rank", 1])

    def make_tensor(self, name, dims, ones, how):
        made = self.dir / "made"
        self.run([self.ztp, "simulate", *how, "--no-truth", "--dims", ",".join(map(str, dims)), "--ones", ones, "--out",
                  made, "--force"])
        labels = [word for k in range(len(dims)) if (made / f"labels/mode{k + 1}.txt").exists()
                  for word in ("--labels", f"mode{k + 1}={made}/labels/mode{k + 1}.txt")]
        self.run([self.ztp, "convert", made / "tensor.tsv", self.dir / f"{name}.ztpt", "--force", *labels])
        shutil.rmtree(made)

    def run(self, command, ranks=1, shared=True, timeout=None):
        env = dict(self.environment(ranks), ZTP_SHARED_MEMORY="1" if shared else "0")
        done = subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True,
                              timeout=timeout)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}{done.stdout}")
        return done.stdout

    def fit(self, name, out, sweeps=None):
        sweeps = sweeps or self.args.sweeps + 3
        return [self.ztp, "fit", self.dir / f"{name}.ztpt", "--rank", self.args.rank, "--chains", 1, "--method", "batch",
                "--sampler", "plain", "--sweeps", sweeps, "--burn-in", sweeps - 1, "--draws", 1, "--threads", 1,
                "--out", self.dir / out, "--force"]

    def seconds_of_sweeps(self, out):
        """But for the first two, and the last, which writes the draws."""
        lines = (self.dir / out / "trace.tsv").read_text().splitlines()[1:]
        at = [float(line.split("\t")[2]) for line in lines]
        return [b - a for a, b in zip(at[1:-2], at[2:-1])]

    def seconds_of_sweep(self, out):
        return min(self.seconds_of_sweeps(out))  # others may use this machine

    def sweep_of_ranks(self, name, ranks, shared=True):
        launch = self.launch(ranks) if ranks > 1 else []
        self.run(launch + self.fit(name, "run"), ranks, shared)
        return self.seconds_of_sweep("run")

    def sweep_of_copies(self, name, copies):
        """One process, where as many others do the same at the same time."""
        started = [subprocess.Popen([str(word) for word in self.fit(name, f"run-{i}")], env=self.env,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in range(copies)]
        if any([process.wait() for process in started]):
            sys.exit("a fit has failed")
        return statistics.median(self.seconds_of_sweep(f"run-{i}") for i in range(copies))

    def bytes_sent(self, name, ranks, sweeps):
        """By all ranks, as Open MPI counts them."""
        monitor = ["--mca", "pml_monitoring_enable", "1", "--mca", "pml_monitoring_enable_output", "3", "--mca",
                   "pml_monitoring_filename", self.dir / "sent"]
        self.run(self.launch(ranks) + monitor + self.fit(name, "run", sweeps), ranks, shared=False)
        lines = [line.split("\t") for path in self.dir.glob("sent.*.prof") for line in path.read_text().splitlines()]
        return sum(int(line[3].split()[0]) for line in lines if line[0] == "E")


def copied_bytes(ranks):
    """A second, by each of so many processes that copy memory at the same time."""
    size, repeats = 64 << 20, 10
    with multiprocessing.Pool(ranks) as pool:
        return size * repeats / statistics.median(pool.map(copy_memory, [(size, repeats)] * ranks, chunksize=1))


def copy_memory(task):
    size, repeats = task
    source, target = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    ctypes.memmove(target, source, size)
    begin = time.perf_counter()
    for _ in range(repeats):
        ctypes.memmove(target, source, size)
    return time.perf_counter() - begin


# What is next to nothing: ranks only meet.
NONE = ((2_000, 1_000, 500), 3_000)


def calibrate(lab, dims, ones, ranks, shared):
    """The rates of this machine while so many ranks work, from sweeps that are not predicted: processes with tensors like
    the part of a rank, but smaller, and with fewer ones for each row; ranks with the whole so changed."""
    K, R, slabs = len(dims), lab.args.rank, slabs_of_modes(dims, ranks)

    def fewer(part, of_ones):
        return tuple(max(2, int(0.7 * n / slab)) for n, slab in zip(dims, part)), int(of_ones)

    (da, na), (_, nb) = fewer(slabs, 0.6 * ones / ranks), fewer(slabs, 0.1 * ones / ranks)
    if ranks not in lab.busy:
        lab.tensor("many", da, na)
        lab.tensor("few", da, nb)
        a, b = (lab.sweep_of_copies(name, ranks) / R for name in ("many", "few"))
        # a = one K na + draw sum(da); b the same, with nb.
        one = max((a - b) / (K * (na - nb)), 0)
        lab.busy[ranks] = one, max(b - one * K * nb, 0) / sum(da)
    rates = Rates(*lab.busy[ranks], touch=0.0, latency=0.0, bandwidth=math.inf, memory_bandwidth=math.inf, overlap=0.0)
    if ranks == 1:
        return rates
    job = functools.partial(Job, rank=R, ranks=ranks, ranks_per_node=ranks, shared=shared)
    lab.tensor("none", *NONE)
    rates.meet = max(lab.sweep_of_ranks("none", ranks, shared) - sweep(job(*NONE), rates).seconds(), 0)
    if shared:
        rates.copy = copied_bytes(ranks)
    else:
        changed = fewer([1] * K, 0.1 * ones)
        lab.tensor("rows", *changed)
        rest = sweep(job(*changed), rates)
        rates.touch = max(lab.sweep_of_ranks("rows", ranks, shared) - rest.seconds(), 0) / (sum(rest.touched) * R)
    return rates


def check(args):
    lab = Lab(args)
    try:
        dims, ones, R = tuple(args.dims or (400_000, 200_000, 4_000)), int(args.ones or 8_000_000), args.rank
        print_check(lab, dims, ones, R, args)
    finally:
        lab.close()


def print_check(lab, dims, ones, R, args):
    """Rows of what was predicted and measured, as they come."""
    shared = not args.messages
    lab.tensor("whole", dims, ones)
    print(f"Predicted and measured: {' x '.join(f'{n:,}' for n in dims)}, {ones:,} ones, R = {R}, one thread a rank, "
          f"fastest of {args.sweeps} sweeps, {lab.cores} cores, {'common memory' if shared else 'messages'}\n")
    print("| ranks | predicted | measured | error | ones, draws, rows, meetings (predicted) | speed-up |")
    print("|---|---|---|---|---|---|", flush=True)
    alone = None
    for ranks in args.ranks:
        rates = calibrate(lab, dims, ones, ranks, shared)
        s = sweep(Job(dims, ones, R, ranks, 1, ranks, shared=shared), rates)
        measured = lab.sweep_of_ranks("whole", ranks, shared)
        alone = alone or measured * ranks
        print(f"| {ranks} | {1000 * s.seconds():.0f} ms | {1000 * measured:.0f} ms | "
              f"{100 * (s.seconds() / measured - 1):+.0f} % | {1000 * s.ones:.0f}, {1000 * s.draw:.0f}, "
              f"{1000 * s.touch:.1f}, {1000 * s.communication():.1f} ms | {alone / measured:.2f} |", flush=True)


def traffic(args):
    lab = Lab(args)
    try:
        dims, ones = tuple(args.dims or (100_000, 60_000, 2_000)), int(args.ones or 1_000_000)
        lab.tensor("whole", dims, ones)
        print(f"{' x '.join(f'{n:,}' for n in dims)}, {ones:,} ones, R = {args.rank}: sent in a sweep by all ranks\n")
        print("| ranks | grid | chunks | predicted | measured | error |\n|---|---|---|---|---|---|")
        few, many = 3, 8
        for ranks in args.ranks:
            of_rank = sweep(Job(dims, ones, args.rank, ranks), Rates())
            sent = ranks * of_rank.sent
            measured = (lab.bytes_sent("whole", ranks, many) - lab.bytes_sent("whole", ranks, few)) / (many - few)
            print(f"| {ranks} | {' x '.join(map(str, slabs_of_modes(dims, ranks)))} | {of_rank.chunks} | {sent / 1e6:.1f} MB | "
                  f"{measured / 1e6:.1f} MB | {100 * (sent / measured - 1):+.0f} % |", flush=True)
    finally:
        lab.close()


def numbers(kind):
    return lambda text: [int(float(part)) if kind is int else kind(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    table = commands.add_parser("table")
    table.add_argument("--nodes", type=numbers(int), default=[10, 30, 100, 300, 1000])
    table.add_argument("--cores", type=int, default=64, help="of a node")
    table.add_argument("--ranks-per-node", type=int, default=1)
    table.add_argument("--rank", type=int, default=100, help="components")
    table.add_argument("--least-room", type=float, default=LEAST_ROOM, help="bytes for the rows of a chunk, as if it were so many")
    table.add_argument("--dims", type=numbers(int), help="instead of the two of docs/cluster.md; with --ones")
    table.add_argument("--ones", type=float)
    for field in dataclasses.fields(Rates):
        table.add_argument("--" + field.name.replace("_", "-"), type=float, default=field.default)
    table.set_defaults(run=print_table)
    here = pathlib.Path(__file__).resolve().parent.parent
    for name, work in (("check", check), ("traffic", traffic)):
        checking = commands.add_parser(name)
        checking.add_argument("--ztp", default=os.environ.get("ZTP", here / "build/release/ztp"))
        checking.add_argument("--launcher", default="mpirun", help="without -n")
        checking.add_argument("--ranks", type=numbers(int), help="default: 1, 2, 4, ... 16, for check up to the cores")
        checking.add_argument("--rank", type=int, default=100, help="components")
        checking.add_argument("--sweeps", type=int, default=20, help="of check")
        checking.add_argument("--messages", action="store_true", help="check: as if memory were not common")
        checking.add_argument("--dims", type=numbers(int))
        checking.add_argument("--ones", type=float)
        checking.set_defaults(run=work)
    args = parser.parse_args()
    if args.run is print_table and (args.dims is None) != (args.ones is None):
        parser.error("--dims and --ones belong together")
    if args.run is check and not args.ranks:
        args.ranks = [1 << i for i in range(5) if 1 << i <= len(os.sched_getaffinity(0))]
    if args.run is traffic and not args.ranks:
        args.ranks = [2, 4, 8, 16]
    args.run(args)


if __name__ == "__main__":
    main()
