"""How far the virtual clock keeps its word, on real kernels while the host is busy.

    cargo build --release && python3 benches/clock.py --tree debian:6.12 --arch x86_64,arm64

1. Boots of one image with one seed, while as many processes as there are CPUs do nothing but count: do they give the same numbers?
2. 100 comparisons of an image with itself, each by other seeds, between the boots of two runs: does any claim a difference?
3. 100 comparisons of an image with its innocent twin, in which only a function is longer that no benchmark calls: likewise.

The twin is tests/patches/innocent.patch. A comparison gets the looks of the virtual clock, after 3, 6 and 12 pairs, by the rule itself
(examples/judge.rs). The seeds of each are drawn from those that were booted: the comparisons share boots, and are not independent.
Prints a table in Markdown; docs/performance.md carries it.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS, COMPARISONS, AGAIN, PAIRS = 24, 100, 10, 12


def nspatch(args, out, seeds):
    """Runs it with the twin; gives for each architecture the boots by side and seed, and what it noted."""
    command = [args.nspatch, "test", "--tree", args.tree, "--patch", ROOT / "tests/patches/innocent.patch"]
    command += ["--arch", args.arch, "--seeds", str(seeds), "--out", out, "--project", ROOT]
    done = subprocess.run(command, capture_output=True, text=True)
    if not (out / "boots.json").exists():
        raise SystemExit(done.stderr)
    run = json.loads((out / "run.json").read_text())
    boots = json.loads((out / "boots.json").read_text())
    found = {}
    for comparison, booted in zip(run["comparisons"], boots):
        sides = found.setdefault(comparison["arch"], collections.defaultdict(dict))
        for boot in booted:
            # A boot that never gave the same twice is kept as what it is: numbers that differ
            (reading,) = [boot["reading"][kind] for kind in ("read", "unsteady") if kind in boot["reading"]]
            sides[boot["side"]][boot["seed"]] = reading["results"]["benchmarks"]
    return found, done.stderr


def busy():
    """Processes that keep each CPU busy."""
    return [subprocess.Popen(["python3", "-c", "while True: pass"]) for _ in range(os.cpu_count())]


def same_seed(args, folder):
    """For each architecture the boots that were made of one seed, and those that gave what the first one did."""
    runs, noted = [], 0
    load = busy()
    try:
        for number in range(AGAIN):
            found, said = nspatch(args, folder / f"seed-{number}", 1)
            runs.append(found)
            noted += said.count("differ (")
    finally:
        for process in load:
            process.kill()
    for arch in runs[0]:
        for side, image in [("baseline", "an image"), ("candidate", "its twin")]:
            same = sum(run[arch][side] == runs[0][arch][side] for run in runs)
            # Each was made until two gave the same, which is told where it was not the first two
            print(f"| {arch}: boots of {image} with one seed, the host busy | {2 * AGAIN} | {2 * same} equal |", flush=True)
    print(f"| boots of these whose first two turns differed | {4 * AGAIN} | {noted} |", flush=True)


def timed(benchmark):
    repeats = benchmark["outcome"]["measured"]["sample"]["repeats"]
    return [repeat["elapsed_ns"] for repeat in repeats if not repeat["warmup"]]


def judged(one, other, draw):
    """The verdicts of comparisons of two sides, for each benchmark, with seeds drawn anew for each."""
    lines, names = [], []
    seeds = sorted(set(one) & set(other))
    for _ in range(COMPARISONS):
        drawn = draw.sample(seeds, PAIRS)
        for place, benchmark in enumerate(one[seeds[0]]):
            names.append(benchmark["name"])
            sides = [[timed(side[seed][place]) for seed in drawn] for side in (one, other)]
            numbers = {"looks": "virtual", "threshold": 0.01, "layout_floor": 0, "baseline": sides[0], "candidate": sides[1]}
            lines.append(json.dumps(numbers))
    command = ["cargo", "run", "--quiet", "--release", "--example", "judge"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True, cwd=ROOT)
    verdicts = collections.defaultdict(collections.Counter)
    for name, line in zip(names, done.stdout.splitlines()):
        verdicts[name][line.split()[0]] += 1
    return verdicts


def table(arch, what, verdicts):
    for name, counts in verdicts.items():
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
        print(f"| {arch}: {what}, {name} | {COMPARISONS} | {said} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nspatch", default=ROOT / "target/release/nspatch")
    parser.add_argument("--tree", default="debian:6.12")
    parser.add_argument("--arch", default="x86_64,arm64")
    args = parser.parse_args()
    draw = random.Random(1)
    print("| what | how many | said |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        same_seed(args, folder)
        one, _ = nspatch(args, folder / "one", SEEDS)
        other, _ = nspatch(args, folder / "other", SEEDS)
        for arch in one:
            table(arch, "an image with itself", judged(one[arch]["baseline"], other[arch]["baseline"], draw))
            table(arch, "an image with its innocent twin", judged(one[arch]["baseline"], one[arch]["candidate"], draw))


if __name__ == "__main__":
    main()
