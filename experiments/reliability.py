#!/usr/bin/env python3
"""What docs/reliability.md reports: fits that are killed, starved of disk space and left alone for a million sweeps.

  experiments/reliability.py kills --count 200     SIGKILL at random moments, resumed, compared byte for byte
  experiments/reliability.py full --count 100      a disk that is full at random moments (root, or user namespaces)
  experiments/reliability.py sweeps --count 1000000    memory of a tiny model in a million sweeps
  experiments/reliability.py threads           tests/cli/threads.sh: eight threads; --program of the thread sanitizer
  experiments/reliability.py inputs            tests/bad_inputs: how many, and that each gets its message
  experiments/reliability.py report           the figures of docs/reliability.md, from build/reliability, build/fuzz-out

Each prints a line for a trial that went wrong and exits with 1 if there was one. --program names the ztp to try. Exit
77: cannot be done on this machine.
"""
import argparse
import filecmp
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[1]
RESULTS = HERE / "build" / "reliability"
SEED = 20190117
os.environ["SOURCE_DATE_EPOCH"] = "1547683200"  # draws.nc tells when the fit began, and is compared byte for byte


class Fit:
    """A fit that is done again and again, each time into a directory of its own, and must always end alike."""

    def __init__(self, program, name, arguments, folder):
        self.program, self.name, self.folder = program, name, folder
        self.arguments = arguments
        self.whole = folder / f"{name}-whole"
        begin = time.time()
        self.run(["fit", *arguments, "--out", self.whole])
        self.seconds = time.time() - begin
        self.expected = self.predictions(self.whole)

    def wait(self, process, longest, whole):
        """Waits that long, or until the fit is done, which then tells how long a whole fit takes."""
        begin = time.time()
        try:
            process.wait(longest)
            if whole:
                self.seconds = min(self.seconds, time.time() - begin)
        except subprocess.TimeoutExpired:
            pass

    def command(self, *arguments):
        return [self.program, *map(str, arguments)]

    def run(self, arguments):
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(self.command(*arguments))}: exit code {done.returncode}: {done.stderr}")
        return done.stdout

    def start(self, arguments):
        return subprocess.Popen(self.command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def predictions(self, run):
        return self.run(["predict", run, self.whole / "test.tsv"])

    def differences(self, run):
        """What of a finished run is not as in the one that nothing happened to."""
        wrong = [name for name in ["draws.nc", "means.nc", "cells.tsv", "test.tsv"]
                 if not filecmp.cmp(self.whole / name, run / name, shallow=False)]
        if self.predictions(run) != self.expected:
            wrong.append("predictions")
        if trace(run) != trace(self.whole):
            wrong.append("trace.tsv")
        left = [p.name for p in [*run.parent.glob(f".{run.name}.ztp-partial*"), *run.glob("*.partial*"),
                                 *run.glob("checkpoint-*"), *run.glob("draws.log")]]
        return wrong + [f"left behind: {name}" for name in left]


def trace(run):
    """The trace without its seconds."""
    return [line.split("\t")[:2] + line.split("\t")[3:] for line in (run / "trace.tsv").read_text().splitlines()]


def first_rows(run):
    """The first row of each chain in the trace. Its seconds tell a chain that went on from one that began again."""
    rows = {}
    for line in (run / "trace.tsv").read_text().splitlines()[1:]:
        rows.setdefault(int(line.split("\t")[0]), line)
    return rows


def make_data(program, folder):
    """Users and items in four blocks over a few days, friends within blocks; as text and as a tensor file."""
    draw = random.Random(SEED)
    ones, friends = ["#user\titem\tday"], ["#user\tuser"]
    for user in range(80):
        for item in range(60):
            for day in range(6):
                if draw.random() < (0.25 if user % 4 == item % 4 else 0.01):
                    ones.append(f"u{user}\ti{item}\td{day}")
        for friend in range(user):
            if draw.random() < (0.4 if user % 4 == friend % 4 else 0.02):
                friends.append(f"u{user}\tu{friend}")
    (folder / "ones.tsv").write_text("\n".join(ones) + "\n")
    (folder / "friends.tsv").write_text("\n".join(friends) + "\n")
    subprocess.run([program, "convert", folder / "ones.tsv", folder / "ones.ztpt"], check=True, capture_output=True)


def work_folder():
    """A folder in memory, if there is one: hundreds of fits need not wait for a disk."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)


def fits(program, folder):
    """A batch fit of two chains, and an online fit from a tensor file; both with a network."""
    make_data(program, folder)
    both = ["--network", f"user={folder}/friends.tsv", "--holdout", 0.1, "--threads", 2]
    return [
        Fit(program, "batch", [folder / "ones.tsv", *both, "--rank", 12, "--sweeps", 150, "--chains", 2,
                               "--learn", "dirichlet", "--checkpoint", 7], folder),
        Fit(program, "online", [folder / "ones.ztpt", *both, "--rank", 12, "--sweeps", 600, "--chains", 2,
                                "--method", "online", "--checkpoint", 40], folder),
    ]


def where_killed(run):
    if not run.exists():
        return "before the run began"
    checkpoints = list(run.glob("checkpoint-*.bin")) + list(run.glob("chain-?.bin"))
    if not checkpoints:
        return "before its first checkpoint"
    if any("partial" in p.name for p in run.iterdir()):
        return "while it wrote a file"
    if (run / "chain-2.bin").exists():
        return "after its last sweep"
    return "while it sampled"


def kills(options):
    """Each trial: a fit is killed at a random moment and resumed with other threads; half are killed again."""
    draw = random.Random(SEED)
    places, wrong, done = {}, 0, {}
    with work_folder() as name:
        folder = pathlib.Path(name)
        for fit in fits(options.program, folder):
            run, killed = folder / "run", 0
            while killed < options.count // 2:
                shutil.rmtree(run, ignore_errors=True)
                process = fit.start(["fit", *fit.arguments, "--out", run])
                at_once = 0
                while True:
                    # Up to a quarter longer than the whole fit took: its last moments are met as often as the others.
                    fit.wait(process, draw.random() * 1.25 * fit.seconds, at_once == 0)
                    process.kill()
                    errors = process.communicate()[1]
                    if process.returncode == -signal.SIGKILL:
                        at_once += 1
                        place = where_killed(run)
                        places[place] = places.get(place, 0) + 1
                    elif process.returncode != 0:
                        wrong += 1
                        print(f"{fit.name}: exit code {process.returncode}: {errors}")
                        break
                    go_on = ["fit", *fit.arguments, "--out", run]
                    if run.exists():
                        go_on = ["resume", run, "--threads", draw.choice([1, 2, 3])]
                    if at_once == 0 or at_once == 2 or draw.random() < 0.5:
                        break
                    process = fit.start(go_on)
                if at_once == 0:
                    continue  # it was done before the kill
                fit.run(go_on)
                killed += at_once
                differences = fit.differences(run)
                if differences:
                    wrong += 1
                    print(f"{fit.name}: killed {at_once} times, then not the same: {', '.join(differences)}")
            done[fit.name] = killed
    text = ", ".join(f"{count} {place}" for place, count in sorted(places.items()))
    print(f"{sum(done.values())} kills ({text}), {wrong} of the fits not the same in the end")
    record("kills", [("fit", "kills"), *done.items()], [("killed", "times"), *sorted(places.items())],
           [("wrong", wrong)])
    return 1 if wrong else 0


def fill(folder):
    """Takes all that is left of a file system."""
    path = folder / "filler"
    with open(path, "wb", buffering=0) as file:
        for size in [1 << 20, 1 << 16, 1 << 12]:
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                pass
    return path


def full(options):
    """Each trial: a fit finds the disk full after its first checkpoint, and is resumed when there is room again."""
    if not os.environ.get("ZTP_UNSHARED"):  # mounts are then seen by nobody else, and go with the process
        unshare = ["unshare", "-m" if os.geteuid() == 0 else "-Urm"]
        if not shutil.which("unshare") or subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
            print("cannot mount a file system of its own")
            return 77
        return subprocess.run([*unshare, sys.executable, *sys.argv], env={**os.environ, "ZTP_UNSHARED": "1"}).returncode
    draw = random.Random(SEED)
    told, intact, trials, files = 0, 0, 0, {}
    with work_folder() as name:
        folder = pathlib.Path(name)
        disk = folder / "disk"
        disk.mkdir()
        for fit in fits(options.program, folder):
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", disk]).returncode != 0:
                return 77
            try:
                for _ in range(options.count // 2):
                    while not full_trial(fit, disk, draw, files):
                        pass  # it was done before the disk was full
                    trials += 1
                    told += fit.told
                    intact += fit.intact
            finally:
                subprocess.run(["umount", disk], check=True)
    text = ", ".join(f"{count} times {file}" for file, count in sorted(files.items()))
    print(f"{trials} full disks ({text}): {told} clear errors, {intact} intact checkpoints")
    record("full", [("trials", trials), ("clear errors", told), ("intact checkpoints", intact)],
           [("could not write", "times"), *sorted(files.items())])
    return 0 if told == trials == intact else 1


def full_trial(fit, disk, draw, files):
    run = disk / "run"
    shutil.rmtree(run, ignore_errors=True)
    process = fit.start(["fit", *fit.arguments, "--out", run])
    while process.poll() is None and not list(run.glob("checkpoint-*.bin")):
        time.sleep(0.001)
    fit.wait(process, draw.random() * fit.seconds, True)
    filler = fill(disk)
    errors = process.communicate()[1]
    lines = [line for line in errors.splitlines() if line.startswith("ztp: ")]
    filler.unlink()
    if process.returncode == 0:
        return False
    pattern = re.compile(r"ztp: cannot (?:write|finish|create) (\S+): No space left on device")
    match = pattern.fullmatch(lines[0]) if len(lines) == 1 else None
    fit.told = int(process.returncode == 6 and match is not None)
    if not fit.told:
        print(f"{fit.name}: exit code {process.returncode}: {errors}")
    else:
        file = pathlib.Path(match[1]).name
        files[file] = files.get(file, 0) + 1
    before = first_rows(run)
    saved = {int(re.search(r"-(\d+)", path.name)[1]) - 1
             for path in [*run.glob("checkpoint-*.bin"), *run.glob("chain-*.bin")]}
    process = fit.start(["resume", run])
    errors = process.communicate()[1]
    differences = [errors] if process.returncode != 0 or "damaged" in errors else fit.differences(run)
    after = first_rows(run)
    differences += [f"chain {chain + 1} began again instead of going on"
                    for chain in sorted(saved) if after.get(chain) != before.get(chain)]
    fit.intact = int(not differences)
    if differences:
        print(f"{fit.name}: resumed, not the same: {', '.join(differences)}")
    return True


def sweeps(options):
    """Resident memory at the same points of the way, as the system tells it."""
    with work_folder() as name:
        folder = pathlib.Path(name)
        make_data(options.program, folder)
        lines = (folder / "ones.tsv").read_text().splitlines()
        tiny = [line for line in lines if line.startswith("#") or int(line[1:].split("\t")[0]) < 12]
        (folder / "tiny.tsv").write_text("\n".join(tiny) + "\n")
        run = folder / "run"
        begin = time.time()
        process = subprocess.Popen(
            [options.program, "fit", str(folder / "tiny.tsv"), "--rank", "3", "--sweeps", str(options.count),
             "--chains", "1", "--threads", "1", "--sampler", "plain", "--checkpoint", "2s", "--out", str(run)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        samples = []
        while process.poll() is None:
            memory = resident(process.pid)
            if memory and (run / "trace.tsv").exists():
                samples.append((last_sweep(run), memory))
            time.sleep(0.1)
        if process.returncode != 0:
            sys.exit(f"the fit failed with exit code {process.returncode}")
        seconds = time.time() - begin
    sampling = [(at, memory) for at, memory in samples if 0 < at < options.count]
    rows = []
    for part in [0.01, 0.1, 0.25, 0.5, 0.75, 0.99]:
        at, memory = min(sampling, key=lambda sample: abs(sample[0] - part * options.count))
        rows.append((at, memory // 1024))
    later = [memory for at, memory in sampling if at >= 0.01 * options.count]
    growth = max(later) - later[0]
    print(f"{options.count} sweeps in {seconds:.0f} s: " + ", ".join(f"{at}: {kib} KiB" for at, kib in rows) +
          f"; at most {growth // 1024} KiB more than after the first hundredth")
    record("sweeps", [("sweeps", options.count), ("seconds", round(seconds)), ("growth_kib", growth // 1024)],
           [("sweep", "resident KiB"), *rows])
    return 0 if growth <= 256 * 1024 else 1


def resident(process):
    try:
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def last_sweep(run):
    with open(run / "trace.tsv", "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 4096))
        lines = file.read().split(b"\n")
    fields = lines[-2].split(b"\t") if len(lines) > 1 else []
    return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else 0


def record(name, *tables):
    """Tables one after the other, with an empty line between them: for the report, and only if it is asked for."""
    if "--record" not in sys.argv:
        return
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = "\n".join("".join("\t".join(map(str, row)) + "\n" for row in table) for table in tables)
    (RESULTS / f"{name}.tsv").write_text(text)


def threads(options):
    """Under the thread sanitizer a report of it is a failure."""
    begin = time.time()
    done = subprocess.run(["sh", HERE / "tests" / "cli" / "threads.sh", options.program, HERE], capture_output=True,
                          text=True)
    symbols = subprocess.run(["nm", "-D", options.program], capture_output=True, text=True).stdout
    sanitized = "__tsan_init" in symbols
    print(done.stdout.strip(), "(thread sanitizer)" if sanitized else "(no thread sanitizer)")
    record("threads", [("fits", 14), ("thread sanitizer", "yes" if sanitized else "no"), ("exit code", done.returncode),
                       ("seconds", round(time.time() - begin))])
    return done.returncode


def inputs(options):
    done = subprocess.run([sys.executable, HERE / "tests" / "cli" / "bad_inputs.py", options.program, HERE],
                          capture_output=True, text=True)
    print(done.stdout.strip().splitlines()[-1])
    record("inputs", [("result", done.stdout.strip().splitlines()[-1])])
    return done.returncode


def tables(name):
    text = (RESULTS / f"{name}.tsv").read_text()
    return [[line.split("\t") for line in part.splitlines()] for part in text.split("\n\n")]


def report(_):
    """Puts what was measured between the marks of the page, and the rows into docs/tables."""
    killed, places, wrong = tables("kills")
    counts, files = tables("full")
    length, _ = tables("sweeps")
    threaded = dict(tables("threads")[0])
    fuzzed = [line.split("\t") for line in (HERE / "build" / "fuzz-out" / "figures.tsv").read_text().splitlines()]
    executions = [int(row[1]) for row in fuzzed[1:]]
    listed = lambda rows: ", ".join(f"{row[0]} {row[1]}" for row in rows)  # noqa: E731
    parts = {
        "kills": f"{sum(int(row[1]) for row in killed[1:])} kills ({listed(killed[1:])}): {listed(places[1:])}. "
        f"Fits not the same in the end: {wrong[0][1]}.",
        "full": f"{counts[0][1]} full disks: {counts[1][1]} {counts[1][0]}, {counts[2][1]} {counts[2][0]}. "
        f"What could not be written: {listed(files[1:])}.",
        "sweeps": f"{int(length[0][1]):,} sweeps in {length[1][1]} s; at most {length[2][1]} KiB more than after the "
        "first hundredth.",
        "threads": f"{threaded['fits']} fits, thread sanitizer: {threaded['thread sanitizer']}, "
        f"exit code {threaded['exit code']}.",
        "inputs": tables("inputs")[0][0][1] + ".",
        "fuzz": f"{sum(executions):,} executions over {len(executions)} targets "
        f"({min(executions):,} to {max(executions):,} each), {sum(int(row[-1]) for row in fuzzed[1:])} failures.",
    }
    for name in ("kills", "full", "sweeps"):
        shutil.copy(RESULTS / f"{name}.tsv", HERE / "docs" / "tables" / f"reliability-{name}.tsv")
    shutil.copy(HERE / "build" / "fuzz-out" / "figures.tsv", HERE / "docs" / "tables" / "fuzz.tsv")
    page = HERE / "docs" / "reliability.md"
    text = page.read_text()
    for name, body in parts.items():
        marked = f"<!-- {name} -->\n{body}\n<!-- end -->"
        text = re.sub(rf"<!-- {name} -->.*?<!-- end -->", lambda _, new=marked: new, text, flags=re.S)
    page.write_text(text)
    print(f"{page}: figures written")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = {action.__name__: action for action in [kills, full, sweeps, threads, inputs, report]}
    parser.add_argument("what", choices=actions)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--record", action="store_true", help="write figures for the report into build/reliability")
    parser.add_argument("--program", default=str(HERE / "build" / "release" / "ztp"))
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    return actions[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
