"""How often rules err, on the same simulated boots: nspatch's beside those of others.

    python3 -m venv target/venv && target/venv/bin/pip install numpy scipy apache-otava
    target/venv/bin/python benches/rules.py

Prints a table in Markdown; docs/statistics.md carries it. The model is one of logs: a boot's level is the side's level and the
build's and the boot's noise, a repeat adds its own. A wild boot is slowed by 0 to 100 %.

- benchstat: Mann-Whitney's U over 10 boots a side, p < 0.05
- hyperfine: Welch's t over 10 boots a side, p < 0.05, as its welch_ttest.py does
- Otava: a series of 32 boots of the baseline followed by 32 of the candidate; any change point counts
"""

import json
import subprocess
import sys

import numpy as np
from scipy import stats

PAIRS, REPEATS, RUNS = 32, 5, 2000
THRESHOLD = 0.05
CLAIMS = {"regressed", "improved", "changed-but-smaller"}


def side(rng, runs, level, boot, repeat=0.02, wild=0.0, build=0.0):
    """Logs of ns: runs x boots x repeats."""
    y = np.log(level * 1e6) + build * rng.standard_normal((runs, 1, 1))
    y = y + boot * rng.standard_normal((runs, PAIRS, 1)) + repeat * rng.standard_normal((runs, PAIRS, REPEATS))
    hit = rng.random((runs, PAIRS, 1)) < wild
    return y + hit * np.log1p(rng.random((runs, PAIRS, 1)))


def nspatch(a, b, threshold, floor):
    """The verdict and the number of pairs of each comparison."""
    ns = lambda side: np.exp(side).astype(np.int64).tolist()
    lines = (
        json.dumps({"looks": "wall", "threshold": threshold, "layout_floor": floor, "baseline": one, "candidate": other})
        for one, other in zip(ns(a), ns(b))
    )
    command = ["cargo", "run", "--quiet", "--release", "--example", "judge"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    pairs = [line.split() for line in done.stdout.splitlines()]
    return [verdict for verdict, _ in pairs], [int(count) for _, count in pairs]


def medians(a, boots):
    return np.median(a[:, :boots], axis=2)


def benchstat(a, b):
    return stats.mannwhitneyu(medians(a, 10), medians(b, 10), axis=1).pvalue < 0.05


def hyperfine(a, b):
    return stats.ttest_ind(np.exp(medians(a, 10)), np.exp(medians(b, 10)), axis=1, equal_var=False).pvalue < 0.05


def otava(a, b, runs=200):
    try:
        from otava.analysis import compute_change_points
    except ImportError:
        return None
    series = np.exp(np.concatenate([medians(a, PAIRS), medians(b, PAIRS)], axis=1))[:runs]
    return [len(compute_change_points([float(x) for x in one])[0]) > 0 for one in series]


def rate(flags):
    return "-" if flags is None else f"{100 * np.mean(flags):.2f} %"


def row(rng, name, change, threshold=THRESHOLD, floor=0.0, **noise):
    build = {"build": noise.pop("rebuilt", 0.0)}
    a = side(rng, RUNS, 1.0, **noise, **build)
    b = side(rng, RUNS, change, **noise, **build)
    verdicts, pairs = nspatch(a, b, threshold, floor)
    own = [verdict in CLAIMS for verdict in verdicts]
    same = [verdict == "no-difference" for verdict in verdicts]
    cells = [name, rate(own), rate(same), f"{np.mean(pairs):.1f}", rate(benchstat(a, b)), rate(hyperfine(a, b)), rate(otava(a, b))]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    rng = np.random.default_rng(20260102)
    print(f"{RUNS} comparisons a row (Otava: 200), threshold {THRESHOLD:.0%}", file=sys.stderr)
    print("| boots | nspatch: changed | nspatch: no difference | pairs | benchstat | hyperfine, Welch | Otava |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for boot in [0.01, 0.03, 0.05, 0.2]:
        row(rng, f"unchanged, noise {boot:.0%}", 1.0, boot=boot)
    row(rng, "unchanged, noise 3 %, 5 % wild boots", 1.0, boot=0.03, wild=0.05)
    row(rng, "unchanged, noise 1 %, rebuilt with 1 %", 1.0, boot=0.01, rebuilt=0.01)
    floor = 3 * 2**0.5 * 0.01
    row(rng, f"the same, with its layout floor of {floor:.1%}", 1.0, floor=floor, boot=0.01, rebuilt=0.01)
    for boot, change in [(0.01, 1.011), (0.03, 1.033), (0.05, 1.055), (0.05, 1.1), (0.2, 1.246), (0.2, 10.0)]:
        row(rng, f"{change - 1:.1%} slower, noise {boot:.0%}", change, boot=boot)
    # What can be seen at all, where less than 5 % matters; repeats of 2 % would be more noise than the boots'
    for boot, change in [(0.01, 1.011), (0.03, 1.033)]:
        name = f"{change - 1:.1%} slower, noise {boot:.0%}, threshold 0.1%"
        row(rng, name, change, threshold=0.001, boot=boot, repeat=boot / 4)
    # As long as nobody measured it, a rebuild may move as much as matters
    assumed = {"floor": THRESHOLD}
    row(rng, "unchanged, noise 3 %, rebuilt with 1 %, floor assumed", 1.0, boot=0.03, rebuilt=0.01, **assumed)
    for change in [1.1, 1.2]:
        row(rng, f"{change - 1:.1%} slower, noise 5%, floor assumed", change, boot=0.05, **assumed)


main()
