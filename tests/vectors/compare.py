"""Writes compare.json: what scipy says of some samples, for the tests of src/compare. Made with scipy 1.10 or later:

    python3 tests/vectors/compare.py > tests/vectors/compare.json
"""

import json

import numpy as np
import scipy
from scipy import stats

LEVELS = [0.95, 0.99, 0.994, 0.998, 0.9975]


def log_ratios(rng, pairs, change, spread):
    return [float(x) for x in np.log(change) + spread * rng.standard_normal(pairs)]


def vector(ratios, level):
    """The paired t test of log ratios, its interval, and the Hodges-Lehmann estimate."""
    x = np.array(ratios)
    test = stats.ttest_1samp(x, 0.0)
    interval = stats.t.interval(level, len(x) - 1, loc=x.mean(), scale=stats.sem(x))
    walsh = [(x[i] + x[j]) / 2 for i in range(len(x)) for j in range(i, len(x))]
    return {
        "ratios": ratios,
        "level": level,
        "p": float(test.pvalue),
        "low": float(interval[0]),
        "high": float(interval[1]),
        "estimate": float(np.median(walsh)),
    }


def main():
    rng = np.random.default_rng(20260102)
    vectors = [
        vector(log_ratios(rng, pairs, change, spread), level)
        for pairs in [2, 3, 4, 6, 8, 12, 16, 32]
        for change, spread in [(1.0, 0.001), (1.0, 0.2), (1.02, 0.01), (0.02, 0.3)]
        for level in LEVELS
    ]
    p = [float(x) for x in np.sort(rng.uniform(size=40) ** 3)]
    believed = [bool(x) for x in stats.false_discovery_control(p) <= 0.05]
    lines = ",\n".join(json.dumps(one) for one in vectors)
    many = json.dumps({"p": p, "believed": believed})
    print(f'{{"scipy": "{scipy.__version__}", "many": {many},\n"vectors": [\n{lines}\n]}}')


main()
