#!/usr/bin/env python3
"""How much memory answers need whose draws are larger than that: peaks of predict, evaluate and recommend with all the
memory of the machine, and with --memory. What they print must be the same.

Simulates ones, of which one mode has --rows entities, fits one chain with two draws and asks. Peaks are those of the
whole process (ru_maxrss), pages of mapped files included."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time


def asked(command):
    """What it printed, its peak in bytes, and seconds."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = process.stdout.read()
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: {errors.decode()}")
    return text, usage.ru_maxrss * 1024, time.monotonic() - began


def make_run(args, run):
    ones, made = args.folder / "ones.ztpt", args.folder / "made"
    if not ones.exists():
        subprocess.run([args.program, "simulate", "--dims", f"{args.rows},100000,100", "--ones", str(args.ones),
                        "--rank", "10", "--no-truth", "--force", "--out", str(made)], check=True,
                       stdout=subprocess.DEVNULL)
        # Numbered entities need no labels in memory, and those without ones are there, too.
        with open(made / "tensor.tsv") as tsv, open(args.folder / "ones.tns", "w") as tns:
            tns.writelines(line.replace("\t", " ").replace("\n", " 1\n") for line in tsv if line[0] != "#")
        shutil.rmtree(made)
        subprocess.run([args.program, "convert", str(args.folder / "ones.tns"), str(ones)], check=True)
    subprocess.run([args.program, "fit", str(ones), "--rank", str(args.rank), "--chains", "1", "--sampler", "plain",
                    "--sweeps", "4", "--burn-in", "2", "--draws", "2", "--holdout", "0.001", "--kernel", "cpu",
                    "--threads", str(args.threads), "--out", str(run)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/ztp")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="for the data and the run")
    parser.add_argument("--rows", type=int, default=10_000_000, help="entities of the first mode")
    parser.add_argument("--ones", type=int, default=10_000_000)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--memory", default="400M")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    args.program = str(pathlib.Path(args.program).resolve())
    args.folder.mkdir(parents=True, exist_ok=True)
    run, cells, ones = args.folder / "run", args.folder / "cells.tsv", args.folder / "test.tsv"
    if not run.exists():
        make_run(args, run)
    held_out = [line for line in (run / "test.tsv").read_text().splitlines(True) if line[0] != "#"]
    cells.write_text("".join(held_out[:20_000]))
    ones.write_text("".join([line for line in held_out if line.endswith("\t1\n")][:16]))
    print(f"a draw: {4e-9 * args.rank * (args.rows + 100_100):.2f} GB\n")
    print(f"| | peak | seconds | peak with `--memory {args.memory}` | seconds |\n|---|---|---|---|---|")
    for what in (["predict", run, cells], ["evaluate", run, "--head", "0"],
                 ["evaluate", run, ones, "--ranking", "mode1"], ["recommend", run, "mode1=7"],
                 ["recommend", run, "mode2=7"], ["recommend", run]):
        command = [args.program, *map(str, what), "--threads", str(args.threads), "--kernel", "cpu"]
        text, peak, seconds = asked(command)
        same, least, longer = asked([*command, "--memory", args.memory])
        if same != text:
            sys.exit(f"{' '.join(command)}: another answer with --memory {args.memory}")
        words = " ".join(str(word) for word in what if word != run).replace(str(cells), "CELLS")
        print(f"| `{words.replace(str(ones), 'ONES')}` | {peak / 1e6:.0f} MB | {seconds:.1f} | {least / 1e6:.0f} MB | "
              f"{longer:.1f} |", flush=True)


if __name__ == "__main__":
    main()
