#!/usr/bin/python3
"""Measures on one machine, in a few minutes, how fast several processes (ranks) are: the tables of docs/cluster.md.

    make cluster-bundle                                  # then build/cluster-bundle goes to the machine
    python3 cluster-bundle/cluster_bench.py              # needs nothing else there
    experiments/cluster_bench.py                         # here, with build/release of `make mpi`

  1. one process with a thread for each core, and a rank for each core: the shape of the Facebook data, R = 100
  2. the same with 10^8 ones, R = 20; and 1, 2, 4, ... ranks
  3. the model of a sweep (cluster_model.py) beside measured sweeps, first with common memory, then with messages

Rows are printed as they come. What fails or has no time left (--seconds) is named, and the rest goes on."""
import argparse
import contextlib
import os
import pathlib
import platform
import statistics
import subprocess
import time

import cluster_model


class Clock:
    def __init__(self, seconds):
        self.begin = time.monotonic()
        self.seconds = seconds

    def left(self):
        return self.seconds - (time.monotonic() - self.begin)


class Bench(cluster_model.Lab):
    def __init__(self, args, clock):
        super().__init__(args)
        self.clock = clock

    def run(self, command, ranks=1, shared=True):
        if self.clock.left() < 1:
            raise TimeoutError("no time left")
        return super().run(command, ranks, shared, timeout=self.clock.left())

    def planted(self, name, dims, ones, rank):
        """Ones of so many components, with all entities kept."""
        self.make_tensor(name, dims, ones, ["--rank", rank])

    def times(self, name, ranks, threads, sweeps, rank):
        """Seconds of each sweep but the first two and the last, which writes the draws."""
        command = [self.ztp, "fit", self.dir / f"{name}.ztpt", "--rank", rank, "--chains", 1, "--method", "batch",
                   "--sampler", "plain", "--sweeps", sweeps, "--burn-in", sweeps - 1, "--draws", 1, "--threads", threads,
                   "--out", self.dir / "run", "--force"]
        self.run((self.launch(ranks) if ranks > 1 else []) + command, ranks)
        return self.seconds_of_sweeps("run")


@contextlib.contextmanager
def section(title):
    """Whatever goes wrong in it, the next one follows."""
    print(f"\n## {title}\n", flush=True)
    begin = time.monotonic()
    try:
        yield
    except (Exception, SystemExit) as problem:  # pylint: disable=broad-except
        print(f"\nnot finished: {type(problem).__name__}: {problem}", flush=True)
    print(f"\n({time.monotonic() - begin:.0f} s)", flush=True)


def ms(seconds):
    return f"{1000 * statistics.median(seconds):.1f} ({1000 * min(seconds):.1f} to {1000 * max(seconds):.1f})"


def describe(lab):
    with contextlib.suppress(OSError):
        names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
        print(f"{lab.cores} cores of {len(names)}: {names[0]}")
    with contextlib.suppress(OSError):
        print(open("/proc/meminfo").readline().strip())
        print("shared memory in large pages:", open("/sys/kernel/mm/transparent_hugepage/shmem_enabled").read().strip())
    print(f"{platform.release()}, load {os.getloadavg()[0]:.1f}, {lab.run([lab.ztp, '--version']).strip()}")


def small(lab, args):
    dims, ones = (63_731, 63_730, 1_837), 737_498
    lab.planted("facebook", dims, ones, 20)
    print(f"{' x '.join(f'{n:,}' for n in dims)}, {ones:,} ones, R = 100; ms of a sweep, by turns\n")
    print(f"| turn | 1 process, {lab.cores} threads | {lab.cores} ranks, 1 thread | its speed |\n|---|---|---|---|")
    medians = []
    for turn in range(args.turns):
        one, many = (lab.times("facebook", ranks, threads, args.sweeps + 3, 100)
                     for ranks, threads in ((1, lab.cores), (lab.cores, 1)))
        medians.append((statistics.median(one), statistics.median(many)))
        print(f"| {turn + 1} | {ms(one)} | {ms(many)} | {medians[-1][0] / medians[-1][1]:.2f} |", flush=True)
    one, many = (statistics.median(of) for of in zip(*medians))
    print(f"| median | {1000 * one:.1f} | {1000 * many:.1f} | **{one / many:.2f}** (goal: 0.8) |")


def large(lab, args):
    lab.planted("large", args.dims, int(args.ones), 20)
    print(f"{' x '.join(f'{n:,}' for n in args.dims)}, {int(args.ones):,} ones, R = 20; ms of a sweep\n")
    print("| | sweep | beside 1 process of all threads | speed-up over 1 rank |\n|---|---|---|---|")
    one = statistics.median(print_row(lab, "large", 1, lab.cores, 8, []))
    found = {}
    for ranks in sorted(args.ranks, key=lambda n: (n not in (1, max(args.ranks)), -n)):
        times = lab.times("large", ranks, 1, 8 if ranks > 2 else 5, 20)
        found[ranks] = statistics.median(times)
        print(f"| {ranks} rank{'s' if ranks > 1 else ''}, 1 thread | {ms(times)} | {one / found[ranks]:.2f} | "
              f"{found[1] / found[ranks]:.2f} |" if 1 in found else
              f"| {ranks} ranks, 1 thread | {ms(times)} | {one / found[ranks]:.2f} | |", flush=True)
    most = max(found)
    print(f"\n{most} ranks: **{one / found[most]:.2f}** of one process with {lab.cores} threads (goal: 0.8), "
          f"**{found[1] / found[most]:.1f}** times one rank (goal: 11 of 16)")


def print_row(lab, name, ranks, threads, sweeps, rest):
    times = lab.times(name, ranks, threads, sweeps, 20)
    print(f"| 1 process, {threads} threads | {ms(times)} | 1 | |", flush=True)
    return times


def model(lab, args, messages):
    args.messages, args.sweeps = messages, 10
    cluster_model.print_check(lab, tuple(args.model_dims), int(args.model_ones), args.rank, args)


def main():
    here = pathlib.Path(__file__).resolve().parent
    bundled = (here / "bin/ztp").exists()
    numbers = cluster_model.numbers(int)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ztp", default=here / "bin/ztp" if bundled else here.parent / "build/release/ztp")
    parser.add_argument("--launcher", default=str(here / "bin/mpirun") if bundled else "mpirun", help="without -n")
    parser.add_argument("--seconds", type=float, default=350, help="at most, in all")
    parser.add_argument("--ranks", type=numbers, help="default: 1, 2, 4, ... up to the cores")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--dims", type=numbers, default=[1_000_000, 1_000_000, 10_000], help="of the second part")
    parser.add_argument("--ones", type=float, default=1e8, help="of the second part")
    parser.add_argument("--model-dims", type=numbers, default=[400_000, 200_000, 4_000], help="of the third part")
    parser.add_argument("--model-ones", type=float, default=8e6, help="of the third part")
    parser.add_argument("--skip", default="", help="parts, as 2,3")
    args = parser.parse_args()
    args.rank = 100
    clock = Clock(args.seconds)
    lab = Bench(args, clock)
    if not args.ranks:
        args.ranks = [1 << i for i in range(9) if 1 << i <= lab.cores]
    try:
        with section("The machine"):
            describe(lab)
        parts = [("1", "A process of threads, and ranks: Facebook shape", lambda: small(lab, args)),
                 ("2", "The same with many ones, and more and more ranks", lambda: large(lab, args)),
                 ("3", "The model, common memory", lambda: model(lab, args, False)),
                 ("3", "The model, messages", lambda: model(lab, args, True))]
        for number, title, work in parts:
            if number not in args.skip.split(","):
                with section(title):
                    work()
        print(f"\n{time.monotonic() - clock.begin:.0f} s in all")
    finally:
        lab.close()


if __name__ == "__main__":
    main()
