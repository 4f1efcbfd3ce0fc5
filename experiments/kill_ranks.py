#!/usr/bin/env python3
"""What docs/cluster.md reports of faults: runs that several MPI processes share, and what happens to one of them.

A reference is fitted by one process that nothing happens to. Every trial ends like it, byte for byte, or is counted as
wrong:

  kills  a random rank of `mpirun ztp fit` is killed (SIGKILL) at a random moment; the run is resumed with another
         number of ranks, which may be killed, too, until it is complete
  disks  the disk is full for all ranks (a small tmpfs, where one can be mounted), or one rank may write no more (a
         limit on the size of its files)
  stops  SIGTERM or SIGUSR1, to mpirun or to one rank

Each prints a line for a trial that went wrong, and a summary; the exit code is 1 if there was one. The moments are drawn
with a fixed seed, but what a process is doing then is up to the machine. Exit code 77: there is no mpirun, or no
libztp_mpi.so beside the program.
"""
import argparse
import collections
import filecmp
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from reliability import fill

HERE = pathlib.Path(__file__).resolve().parents[1]
SLOW = 15  # seconds from a fault to the end of the job; more is wrong
LOST = 300  # seconds without an end: the trial is given up
ENVIRONMENT = {
    "SOURCE_DATE_EPOCH": "1547683200",  # draws.nc tells when the fit began
    # Started by root, and more processes than cores. Only Open MPI reads these.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}
# mpirun that gets SIGTERM waits so many seconds, passes it on, waits as long again, and kills the ranks. It does so, too,
# when a rank has died, so that a long time is no setting for every job.
PATIENT = {"OMPI_MCA_odls_base_sigkill_timeout": "2"}


class Job:
    """Processes that mpirun started. Its own temporary folder tells what it leaves behind."""

    started = 0

    def __init__(self, setup, arguments, ranks, folder, more_environment={}):
        Job.started += 1
        self.ranks, self.tmp = ranks, setup.folder / f"tmp-{Job.started}"
        self.tmp.mkdir()
        self.mark = f"{os.getpid()}-{Job.started}"
        self.shared_memory = set()
        self.older = set(pathlib.Path("/dev/shm").glob("*"))  # of jobs before it, maybe with the same number
        self.arguments = list(map(str, arguments))
        environment = {**os.environ, **ENVIRONMENT, "TMPDIR": str(self.tmp), "ZTP_TRIAL": self.mark,
                       **more_environment}
        self.output = open(self.tmp.parent / "output.txt", "w+")
        self.process = subprocess.Popen([setup.mpirun, "-n", str(ranks), setup.program, *self.arguments], cwd=folder,
                                        env=environment, stdin=subprocess.DEVNULL, stdout=self.output,
                                        stderr=self.output, start_new_session=True)
        self.began = time.monotonic()

    def runs(self):
        return self.process.poll() is None

    def rank_processes(self):
        """Process ids by rank, of those that have begun to run the program."""
        found = {}
        for process, environment in processes_with(b"ZTP_TRIAL=" + self.mark.encode()):
            rank = environment.get(b"OMPI_COMM_WORLD_RANK")
            if rank is None:
                continue
            found[int(rank)] = process
            # Open MPI names its shared memory after the job.
            space = environment.get(b"PMIX_NAMESPACE", b"")
            if space.isdigit():
                self.shared_memory.add(f"{int(space):x}")
        return found

    def wait_until(self, condition, longest):
        """Waits for the condition, that long at most, or until the job has ended."""
        end = time.monotonic() + longest
        while self.runs() and time.monotonic() < end and not condition():
            time.sleep(0.002)

    def end(self):
        """Waits for the end. Returns the exit code, what was printed, and what is wrong with what is left."""
        try:
            code = self.wait_for_mpirun()
        except subprocess.TimeoutExpired:
            for process, _ in processes_with(b"ZTP_TRIAL=" + self.mark.encode()):
                os.kill(process, signal.SIGKILL)
            self.process.kill()
            code = self.process.wait()
        self.seconds = time.monotonic() - self.began
        self.output.flush()
        self.output.seek(0)
        text = self.output.read()
        self.output.close()
        return code, text, self.left_behind()

    def wait_for_mpirun(self):
        """Its exit code. Open MPI 4.1 may wait for itself for ever when a rank dies while it connects: all ranks are
        gone then, and mpirun is killed. That is told apart by `hung`."""
        end, alone = time.monotonic() + LOST, None
        self.hung = False
        while time.monotonic() < end:
            try:
                return self.process.wait(1)
            except subprocess.TimeoutExpired:
                others = [p for p, _ in processes_with(b"ZTP_TRIAL=" + self.mark.encode()) if p != self.process.pid]
                alone = None if others else alone or time.monotonic()
            if alone and time.monotonic() - alone > SLOW:
                self.hung = True
                self.process.kill()
                self.process.wait()
                return 128 + signal.SIGKILL
        raise subprocess.TimeoutExpired("mpirun", LOST)

    def left_behind(self):
        wrong = []
        for _ in range(20):  # a killed process may take a moment to go
            alive = list(processes_with(b"ZTP_TRIAL=" + self.mark.encode()))
            if not alive:
                break
            time.sleep(0.1)
        for process, _ in alive:
            wrong.append(f"process {process} is left")
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wrong += [f"{path.relative_to(self.tmp)} is left in TMPDIR" for path in self.tmp.rglob("*") if not path.is_dir()]
        for name in self.shared_memory:
            wrong += [f"{path} is left" for path in pathlib.Path("/dev/shm").glob(f"*{name}*")
                      if path not in self.older]
        shutil.rmtree(self.tmp)
        return [] if self.hung else wrong


def processes_with(mark):
    """Process ids and environments of the processes that have this in their environment."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            words = pathlib.Path("/proc", entry, "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark in words:
            yield int(entry), dict(word.split(b"=", 1) for word in words if b"=" in word)


class Fit:
    """Arguments of a fit, its reference, and how long it takes."""

    def __init__(self, setup, name, arguments):
        self.name, self.arguments = name, list(map(str, arguments))
        self.seconds = {}  # by the number of ranks, of a job that nothing happened to
        self.whole = setup.folder / f"{name}-whole" / "run"
        self.whole.parent.mkdir()
        subprocess.run([setup.program, "fit", *self.arguments, "--out", "run"], cwd=self.whole.parent, check=True,
                       capture_output=True, env={**os.environ, **ENVIRONMENT})

    def differences(self, run):
        """What of a finished run is not as in the reference."""
        def files(folder):
            return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        expected, found = files(self.whole), files(run)
        wrong = [f"left behind: {name}" for name in sorted(found - expected)]
        wrong += [f"not there: {name}" for name in sorted(expected - found)]
        wrong += [f"left behind: {path.name}" for path in run.parent.iterdir() if path != run]
        for name in sorted(expected & found):
            if re.fullmatch(r"chain-\d+\.bin", name):
                continue  # tells how many seconds the chain has taken
            if name == "trace.tsv":
                same = without_seconds(run / name) == without_seconds(self.whole / name)
            elif name == "status.json":
                same = status(run / name) == status(self.whole / name)
            else:
                same = filecmp.cmp(self.whole / name, run / name, shallow=False)
            if not same:
                wrong.append(f"not the same: {name}")
        return wrong


def without_seconds(trace):
    rows = [line.split("\t") for line in trace.read_text().splitlines()]
    seconds = rows[0].index("seconds")
    return [row[:seconds] + row[seconds + 1:] for row in rows]


def status(path):
    """What status.json says, but for seconds, memory, and how many processes there were."""
    apart = ("seconds", "peak_memory_bytes", "processes", "busiest_process", "bytes_exchanged_per_sweep")

    def without(value):
        if isinstance(value, dict):
            return {key: without(part) for key, part in value.items() if key not in apart}
        return [without(part) for part in value] if isinstance(value, list) else value
    return without(json.loads(path.read_text()))


def is_complete(run):
    return run.exists() and status(run / "status.json")["status"] == "complete"


class Setup:
    """The data, the fits, and where trials are made."""

    def __init__(self, options, folder):
        self.program, self.mpirun, self.most_ranks = options.program, options.mpirun, options.ranks
        self.folder, self.keep, self.verbose = folder, options.keep, options.verbose
        self.draw = random.Random(options.seed)
        self.wrong = 0
        self.slowest = 0.0
        self.named = self.hung = 0
        self.tally = collections.Counter()
        quiet = {"check": True, "capture_output": True, "cwd": folder, "env": {**os.environ, **ENVIRONMENT}}
        subprocess.run([self.program, "simulate", "--dims", "300,200,5", "--ones", "3000", "--rank", "4", "--mode-names",
                        "user,item,week", "--edges", "user=400", "--seed", "5", "--out", "made"], **quiet)
        made = folder / "made"
        network = ["--network", f"user={made}/network-user.tsv", "--labels", f"user={made}/labels/user.txt"]
        subprocess.run([self.program, "convert", made / "tensor.tsv", "--labels", f"user={made}/labels/user.txt",
                        "ones.ztpt"], **quiet)
        both = ["--sampler", "plain", "--threads", 1, "--rank", 12, "--holdout", 0.1]
        kinds = {
            "shared": [made / "tensor.tsv", *network, *both, "--chains", 1, "--sweeps", 80, "--burn-in", 20,
                       "--checkpoint", 7, "--draws", 60, "--learn", "dirichlet"],
            "groups": [made / "tensor.tsv", *network, *both, "--chains", 4, "--sweeps", 40, "--burn-in", 10,
                       "--checkpoint", 5, "--draws", 80],
            "online": [folder / "ones.ztpt", *both, "--chains", 2, "--method", "online", "--minibatch", 300,
                       "--sweeps", 80, "--burn-in", 20, "--checkpoint", 9, "--draws", 40],
        }
        self.fits = [Fit(self, name, kinds[name]) for name in options.kinds.split(",")]
        # The signal comes seconds later than it is sent to mpirun: fits that take longer.
        self.long_fits = []
        for name in options.kinds.split(",") if options.stops > 0 else []:
            longer = {"--rank": 60, "--sweeps": {"shared": 1200, "groups": 1500, "online": 3000}[name],
                      "--burn-in": 300, "--checkpoint": 100, "--draws": 60}
            arguments = list(kinds[name])
            for option, value in longer.items():
                arguments[arguments.index(option) + 1] = value
            self.long_fits.append(Fit(self, name + "-long", arguments))

    def say(self, text):
        if self.verbose:
            print(text, flush=True)

    def fail(self, trial, run, what):
        self.wrong += 1
        print(f"WRONG: {trial}: {'; '.join(what)}", flush=True)
        if self.keep:
            kept = pathlib.Path(self.keep) / f"wrong-{self.wrong}"
            shutil.rmtree(kept, ignore_errors=True)
            if run.exists():
                shutil.copytree(run, kept)

    def other_ranks(self, ranks):
        return self.draw.choice([n for n in range(1, self.most_ranks + 1) if n != ranks])

    def resume(self, run, ranks, trial):
        """Goes on to the end, and compares. Returns what is wrong."""
        job = Job(self, ["resume", run.name], ranks, run.parent)
        job.wait_until(lambda: len(job.rank_processes()) == ranks, 5)
        code, text, wrong = job.end()
        if code != 0:
            wrong.append(f"resume with {ranks} ranks: exit code {code}: {text}")
        elif "warning" in text:
            wrong.append(f"resume with {ranks} ranks: {text}")
        return wrong


def where(run):
    """How far the run has come."""
    if not run.exists():
        return "before the run began"
    names = [path.name for path in run.iterdir()]
    if any(".partial" in name for name in names):
        return "while a file was written"
    if "draws.nc" in names:
        return "while the answers were written"
    if not any(name.startswith(("checkpoint-", "chain-")) for name in names):
        return "before the first checkpoint"
    return "while it sampled"


# What a kill may be aimed at: moments that hardly any even draw would meet.
def aims(run):
    def there(pattern):
        return lambda: next(run.glob(pattern), None) is not None
    def holds(file, words):
        def look():
            try:
                return words in (run / file).read_text()
            except OSError:
                return False
        return look
    return {"the run directory": there("options.json"), "the first checkpoint": there("checkpoint-*"),
            "a file in the making": there("*.partial*"), "the end of a chain": there("chain-*.bin"),
            "the draws": there("draws.nc*"), "the end": holds("status.json", '"complete"')}


def kill_one(setup, job, run, fit):
    """Kills a random rank at a random moment. Whether it died of it, and what is wrong."""
    draw = setup.draw
    typical = fit.seconds.get(job.ranks, 3.0)
    rank, moment = draw.randrange(job.ranks), draw.random() * 1.1 * typical
    aim = draw.choice(list(aims(run).items())) if draw.random() < 0.4 else None
    delay = draw.random() * 0.02
    if aim:
        job.wait_until(aim[1], 4 * typical)
        time.sleep(delay)
    else:
        job.wait_until(lambda: False, moment)
    # It may not have begun.
    ranks = {}
    job.wait_until(lambda: rank in ranks or ranks.update(job.rank_processes()), 10)
    if rank not in ranks:
        ranks = job.rank_processes()
    killed = time.monotonic()
    if rank in ranks:
        try:
            os.kill(ranks[rank], signal.SIGKILL)
        except ProcessLookupError:
            pass
    code, text, wrong = job.end()
    after = time.monotonic() - killed
    if code == 0:  # it was done before
        fit.seconds[job.ranks] = min(job.seconds, fit.seconds.get(job.ranks, 60))
        return False, wrong
    if not job.hung:
        setup.slowest = max(setup.slowest, after)
    if code != 137:
        wrong.append(f"exit code {code}: {text}")
    told = rf"process rank {rank} with PID \d+ on node {re.escape(socket.gethostname())} exited on signal 9"
    # Now and then Open MPI does not: that is counted, and no fault of the run.
    setup.named += re.search(told, text) is not None
    setup.hung += job.hung
    if after > SLOW and not job.hung:
        wrong.append(f"ended {after:.1f} s after the kill")
    setup.tally[where(run)] += 1
    if not wrong and run.exists() and draw.random() < 0.5:
        tear(draw, run)
    return True, wrong


def tear(draw, run):
    """What a kill in the middle of a write would leave: half a row, or half a draw, at the end of a file."""
    for path in sorted([*run.glob("trace*.tsv"), *run.glob("cells*.tsv"), *run.glob("draws*.log")]):
        length = path.stat().st_size
        if is_complete(run) or length == 0 or draw.random() < 0.5:
            continue
        begin = path.read_bytes()[:100000]
        if path.suffix == ".tsv":
            begin = begin.splitlines()[-1] if begin.count(b"\n") > 1 else begin[:-1]
        with open(path, "ab") as file:
            file.write(begin[:draw.randrange(len(begin))] if len(begin) > 1 else b"")


def kills(setup, count):
    setup.tally.clear()
    setup.slowest = 0.0
    killed, trials = 0, 0
    while killed < count:
        fit = setup.fits[trials % len(setup.fits)]
        trials += 1
        folder = setup.folder / "kill"
        folder.mkdir()
        run = folder / "run"
        ranks, story, wrong = setup.draw.randint(2, setup.most_ranks), [], []
        again = 1.0  # the probability that the next job is killed
        while not wrong:
            resumes = run.exists()
            arguments = ["resume", "run"] if resumes else ["fit", *fit.arguments, "--out", "run"]
            story.append(f"{arguments[0]} with {ranks}")
            if ranks == 1 or setup.draw.random() >= again:
                if not resumes:
                    code, text, wrong = Job(setup, arguments, ranks, folder).end()
                    wrong += [] if code == 0 else [f"exit code {code}: {text}"]
                else:
                    wrong = setup.resume(run, ranks, fit.name)
                break
            died, wrong = kill_one(setup, Job(setup, arguments, ranks, folder), run, fit)
            story[-1] += ", killed" if died else ""
            killed += died
            if not died:
                break
            again = 0.4
            ranks = setup.other_ranks(ranks)
        wrong += [] if wrong else fit.differences(run)
        setup.say(f"{fit.name}: {'; '.join(story)}")
        if wrong:
            setup.fail(f"{fit.name}: {'; '.join(story)}", run, wrong)
        shutil.rmtree(folder)
    places = ", ".join(f"{number} {place}" for place, number in sorted(setup.tally.items()))
    print(f"{killed} kills in {trials} runs ({places}); {setup.named} of them "
          f"named with their host by mpirun; mpirun itself hung {setup.hung} times, "
          f"and else ended at most {setup.slowest:.1f} s after the kill",
          flush=True)


def can_mount():
    return bool(os.environ.get("ZTP_UNSHARED"))


def disk_trial(setup, fit, folder, for_all):
    """None if the job was done before; else what is wrong."""
    run = folder / "run"
    ranks = setup.draw.randint(2, setup.most_ranks)
    job = Job(setup, ["fit", *fit.arguments, "--out", "run"], ranks, folder)
    after_checkpoint, delay = setup.draw.random() < 0.8, setup.draw.random() * 0.5
    of_first = setup.draw.random()
    if after_checkpoint:
        job.wait_until(lambda: next(run.glob("checkpoint-*"), None), 30)
    job.wait_until(lambda: False, delay)
    begin = time.monotonic()
    filler = None
    if for_all:
        filler = fill(folder)
    else:
        # Only the first rank of a group writes: that of all, or of another group.
        chains = int(fit.arguments[fit.arguments.index("--chains") + 1])
        groups = min(ranks, chains)
        firsts = [next(r for r in range(ranks) if r * groups // ranks == g) for g in range(groups)]
        rank = firsts[int(of_first * len(firsts))]
        process = job.rank_processes().get(rank)
        try:
            if process is not None:
                resource.prlimit(process, resource.RLIMIT_FSIZE, (0, 0))
        except (ProcessLookupError, PermissionError):
            pass
    code, text, wrong = job.end()
    after = time.monotonic() - begin
    if filler:
        filler.unlink()
    if code == 0:
        return None
    setup.slowest = max(setup.slowest, after)
    reason = "No space left on device" if for_all else "File too large"
    line = re.search(rf"^ztp: (?:process \d+ of {ranks}, on {re.escape(socket.gethostname())}: )?"
                     rf"cannot (?:write|finish|create) (?:a temporary file in )?(\S+): {reason}$", text, re.M)
    if code != 6 or not line:
        wrong.append(f"exit code {code}: {text}")
    else:
        setup.tally[re.sub(r"\.\w+\.ztp-partial-\d+", "the run directory", pathlib.Path(line[1]).name)] += 1
    if after > SLOW:
        wrong.append(f"ended {after:.1f} s later")
    others = setup.other_ranks(ranks)
    if not wrong and run.exists():
        wrong = setup.resume(run, others, fit.name)
    elif not wrong:
        again = Job(setup, ["fit", *fit.arguments, "--out", "run"], others, folder)
        code, text, wrong = again.end()
        wrong += [] if code == 0 else [f"fitted again: exit code {code}: {text}"]
    wrong += [] if wrong else fit.differences(run)
    if wrong:
        setup.fail(f"{fit.name}: {'a full disk' if for_all else f'rank {rank} may not write'}, {ranks} ranks, then "
                   f"{others}", run, wrong)
    return wrong


def disks(setup, count):
    setup.tally.clear()
    setup.slowest = 0.0
    done, full = 0, 0
    while done < count:
        fit = setup.fits[done % len(setup.fits)]
        for_all = can_mount() and done // len(setup.fits) % 2 == 0
        folder = setup.folder / "disk"
        folder.mkdir()
        if for_all:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", folder], check=True)
        try:
            if disk_trial(setup, fit, folder, for_all) is not None:
                done += 1
                full += for_all
        finally:
            if for_all:
                subprocess.run(["umount", folder], check=True)
            shutil.rmtree(folder)
    files = ", ".join(f"{number} times {file}" for file, number in sorted(setup.tally.items()))
    print(f"{done} failing writes ({full} full disks, {done - full} limits of one rank; could not write: {files}); the "
          f"job ended at most {setup.slowest:.1f} s later", flush=True)


def stops(setup, count):
    setup.tally.clear()
    setup.slowest = 0.0
    done, tried = 0, 0
    while done < count:
        fit = setup.long_fits[done % len(setup.long_fits)]
        tried += 1
        if tried > 5 * count:
            setup.fail("stops", pathlib.Path("none"), ["the fits are done before the signal comes"])
            break
        number = [signal.SIGTERM, signal.SIGUSR1][done % 2]
        to_all = done // 2 % 2 == 0
        folder = setup.folder / "stop"
        folder.mkdir()
        run = folder / "run"
        ranks = setup.draw.randint(2, setup.most_ranks)
        rank, delay = setup.draw.randrange(ranks), setup.draw.random() * 0.7
        job = Job(setup, ["fit", *fit.arguments, "--out", "run"], ranks, folder,
                  PATIENT if to_all and number == signal.SIGTERM else {})

        def samples():
            try:
                return (run / "trace.tsv").read_text().count("\n") > 3
            except OSError:
                return False
        job.wait_until(samples, 30)
        job.wait_until(lambda: False, delay * fit.seconds.get(ranks, 1.0) / 2)
        target = job.process.pid if to_all else job.rank_processes().get(rank)
        begin = time.monotonic()
        if target is not None and job.runs():
            try:
                os.kill(target, number)
            except ProcessLookupError:
                pass
        code, text, wrong = job.end()
        setup.say(f"{fit.name}: {number.name} to {'mpirun' if to_all else f'rank {rank}'} of {ranks}: exit code {code} "
                  f"after {time.monotonic() - begin:.1f} s, {where(run)}")
        if is_complete(run):  # done before
            shutil.rmtree(folder)
            continue
        after = time.monotonic() - begin
        setup.slowest = max(setup.slowest, after)
        whom = "mpirun" if to_all else "one rank"
        setup.tally[f"{number.name} to {whom}"] += 1
        done += 1
        # mpirun that was told to end has an exit code of its own.
        if code not in ([1, 143] if to_all and number == signal.SIGTERM else [128 + number]):
            wrong.append(f"exit code {code}: {text}")
        if "To continue: ztp resume run" not in text:
            wrong.append(f"does not say how to go on: {text}")
        if json.loads((run / "status.json").read_text())["status"] != "interrupted":
            wrong.append("the status is not interrupted")
        chains_begun = {int(line.split("\t")[0]) + 1 for line in (run / "trace.tsv").read_text().splitlines()[1:]}
        for chain in chains_begun:
            if not [*run.glob(f"checkpoint-{chain}-?.bin"), *run.glob(f"chain-{chain}.bin")]:
                wrong.append(f"chain {chain} has no checkpoint")
        others = setup.other_ranks(ranks)
        wrong += [] if wrong else setup.resume(run, others, fit.name)
        wrong += [] if wrong else fit.differences(run)
        if wrong:
            setup.fail(f"{fit.name}: {number.name} to {whom}, {ranks} ranks, then {others}", run, wrong)
        shutil.rmtree(folder)
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(setup.tally.items()))
    print(f"{done} stops ({kinds}); the job ended at most {setup.slowest:.1f} s later", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how many ranks to kill (100)")
    parser.add_argument("--disks", type=int, default=20, help="how many writes to let fail (20)")
    parser.add_argument("--stops", type=int, default=16, help="how many jobs to stop (16)")
    parser.add_argument("--ranks", type=int, default=7, help="the most ranks of a job (7)")
    parser.add_argument("--kinds", default="shared,groups,online",
                        help="shared: ranks share one chain; groups: four chains; online: two, ones in their file")
    parser.add_argument("--seed", type=int, default=20190117)
    parser.add_argument("--program", default=str(HERE / "build" / "release" / "ztp"))
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--verbose", action="store_true", help="print a line for each trial")
    parser.add_argument("--keep", help="copy run directories that went wrong into this folder")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    if not shutil.which(options.mpirun) or not (pathlib.Path(options.program).parent / "libztp_mpi.so").exists():
        print("no mpirun, or no libztp_mpi.so beside the program")
        return 77
    # Mounts are then seen by nobody else, and go with the process.
    if options.disks > 0 and not os.environ.get("ZTP_UNSHARED") and os.geteuid() == 0 and shutil.which("unshare"):
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0:
            os.environ["ZTP_UNSHARED"] = "1"
            os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])
    with tempfile.TemporaryDirectory(prefix="ztp-kill-ranks-") as name:
        setup = Setup(options, pathlib.Path(name))
        begin = time.monotonic()
        for work, count in [(kills, options.kills), (disks, options.disks), (stops, options.stops)]:
            if count > 0:
                work(setup, count)
        print(f"{setup.wrong} trials went wrong; {(time.monotonic() - begin) / 60:.1f} minutes")
    return 1 if setup.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
