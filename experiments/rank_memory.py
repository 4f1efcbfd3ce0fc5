#!/usr/bin/env python3
"""How much memory each of several processes needs that share a chain, beside one process.

Simulates ones in three modes, fits them with one process and with several, and looks at /proc twenty times a second.
`memory` is what a process cannot do without: its own pages (RssAnon) and memory it shares with other processes of the
job (RssShmem). Pages of mapped files, which the system takes back when it needs room, are in `with files`. `reading`
is what the first process needs until the run directory is there."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

FIELDS = ("RssAnon", "RssShmem", "RssFile")


def resident(pid):
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.split(":")[0] in FIELDS}
    return sizes if len(sizes) == len(FIELDS) else None


def processes_of(program, run):
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words and words[0] == os.fsencode(program) and os.fsencode(run) in words:
            found.append(int(folder.name))
    return found


def fit(args, ranks, run):
    """The peaks of each process, largest first; the peak while the first reads; and the seconds it took."""
    shutil.rmtree(run, ignore_errors=True)
    command = [args.program, "fit", str(args.folder / "ones.ztpt"), "--rank", str(args.rank), "--chains", "1",
               "--sampler", "plain", "--sweeps", str(args.sweeps), "--burn-in", str(args.sweeps - 1), "--draws", "1",
               "--threads", "1" if ranks > 1 else str(args.threads), "--out", str(run)]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    began = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    peaks, reading = {}, 0
    while process.poll() is None:
        for pid in processes_of(args.program, str(run)):
            if sizes := resident(pid):
                needed = sizes["RssAnon"] + sizes["RssShmem"]
                old = peaks.get(pid, (0, 0))
                peaks[pid] = (max(old[0], needed), max(old[1], needed + sizes["RssFile"]))
                if not run.exists():
                    reading = max(reading, needed)  # the first process needs most
        time.sleep(0.05)
    if process.returncode != 0:
        sys.exit(process.stderr.read())
    return sorted(peaks.values(), reverse=True), reading, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/ztp")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="for the data and the runs")
    parser.add_argument("--rows", type=int, default=10_000_000, help="entities of each mode")
    parser.add_argument("--ones", type=int, default=50_000_000)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=4, help="processes")
    parser.add_argument("--sweeps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="of the one process")
    args = parser.parse_args()
    args.program = str(pathlib.Path(args.program).resolve())
    args.folder.mkdir(parents=True, exist_ok=True)
    if not (args.folder / "ones.ztpt").exists():
        made = args.folder / "made"
        subprocess.run([args.program, "simulate", "--dims", ",".join([str(args.rows)] * 3), "--ones", str(args.ones),
                        "--rank", "10", "--no-truth", "--force", "--out", str(made)], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([args.program, "convert", str(made / "tensor.tsv"), str(args.folder / "ones.ztpt")], check=True)
        shutil.rmtree(made)
    said = subprocess.run([args.program, "check", str(args.folder / "ones.ztpt"), "--rank", str(args.rank), "--chains",
                           "1", "--ranks", str(args.ranks)], check=True, capture_output=True, text=True).stdout
    print(next(line for line in said.splitlines() if line.startswith("processes")))
    alone, reading, seconds = fit(args, 1, args.folder / "run")
    print(f"one process: memory {alone[0][0] / 1e9:.2f} GB, with files {alone[0][1] / 1e9:.2f} GB, "
          f"reading {reading / 1e9:.2f} GB; {seconds:.0f} s")
    several, reading, seconds = fit(args, args.ranks, args.folder / "run")
    for memory, with_files in several:
        print(f"of {args.ranks}: memory {memory / 1e9:.2f} GB ({memory / alone[0][0]:.3f} of that), "
              f"with files {with_files / 1e9:.2f} GB ({with_files / alone[0][1]:.3f})")
    print(f"reading {reading / 1e9:.2f} GB; {seconds:.0f} s")
    shutil.rmtree(args.folder / "run")


if __name__ == "__main__":
    main()
