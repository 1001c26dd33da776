#!/usr/bin/env python3
"""Puts results of a tuned database into db/tuned/, which comes with the program.

usage: ship_results.py [--device NAME] [--since TIME] [--replace] EXPORT...

EXPORT are files that `gemm-tune db export` wrote (.gz too). Of each problem on each GPU model the fastest
own kernel and cuBLASLt's fastest algorithm are taken, by their last final rounds; also the algorithm that
its heuristic names first, where one of these beats it though no kernel beats them all. They replace what is
shipped of the problem if own kernel against cuBLASLt does better in them: times of different cards cannot
be compared, what one round says of both can. Those whose own kernel is slower than the one it replaces are
listed: it may be cuBLASLt that was slow, which a `gemm-tune bench` of both on one card tells. --replace
takes worse ones, too: for shipped results of kernels that are not what they were. --device takes results
of models whose name holds NAME only, --since those of final rounds from TIME on (as in the file:
2026-11-24T00:50). The models' files are written whole or not at all; a new one has to be named in
src/shipped/CMakeLists.txt.
"""

import argparse
import gzip
import json
import os
import re
import sys

TUNED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "db", "tuned")
VENDOR = "cublaslt"
FIRST = "rank=0 "  # how the config of the heuristic's first algorithm begins
LEAST_GAIN = 1.01  # dispatch/winner.h's kLeastGain
EARLY_START_US = 1
SAYS_EARLY_STARTS = 5  # lines from this version on


def slug(model):
    return re.sub(r"[^a-z0-9]+", "_", model.lower()).strip("_")


def rows_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                row["gemm_tune"], row["problem"], row["strategy"], row["device"]["name"]  # every row has them
            except (ValueError, KeyError, TypeError) as error:
                sys.exit(f"ship_results.py: {path}:{number}: not a line of `gemm-tune db export`: {error!r}")
            yield row


def final_round(row, since):
    """The last one, or None where the row is not of a verified kernel or of cuBLASLt."""
    if row["outcome"] != ("vendor" if row["strategy"] == VENDOR else "ok"):
        return None
    rounds = [t for t in row.get("timings") or [] if t["final_round"] and t["measured_at"] >= since]
    return max(rounds, key=lambda t: t["measured_at"], default=None)


def side(row):
    return "vendor" if row["strategy"] == VENDOR else "own"


def counted_us(row):
    """As the database counts it (rank_us, docs/database.md)."""
    timing = row["timings"][-1]
    could_start_early = row["gemm_tune"] < SAYS_EARLY_STARTS and row["strategy"].startswith("wgmma")
    return timing["median_us"] + (EARLY_START_US if timing.get("started_early", could_start_early) else 0)


def keep_fastest(problems, row):
    pair = problems.setdefault(row["problem"], {})
    if row["config"].startswith(FIRST):
        pair["first"] = row
    if side(row) not in pair or counted_us(row) < counted_us(pair[side(row)]):
        pair[side(row)] = row


def found_in(paths, device, since):
    """What the files hold: {model: {problem: {"own": row, "vendor": row}}}, each row with one timing."""
    models = {}
    for path in paths:
        of_file = {}  # a file is a session: own kernel and cuBLASLt come from the same
        for row in rows_of(path):
            model = row["device"]["name"]
            last = final_round(row, since)
            if last and device in model:
                keep_fastest(of_file.setdefault(model, {}), {**row, "timings": [last]})
        for model, problems in of_file.items():
            replace_worse(models.setdefault(model, {}), problems)
    return models


def ratio(pair):
    return counted_us(pair["vendor"]) / counted_us(pair["own"]) if "own" in pair and "vendor" in pair else 0


def shipped_rows(pair):
    """The heuristic's first algorithm only where programs get something faster in its place."""
    fastest = min(counted_us(pair["own"]), counted_us(pair["vendor"]))
    if ratio(pair) < LEAST_GAIN and "first" in pair and counted_us(pair["first"]) >= LEAST_GAIN * fastest:
        yield pair["first"]
    yield from (pair["vendor"], pair["own"])


def replace_worse(problems, others, anyway=False):
    """Takes from `others` the complete pairs that are better, or all complete ones. Returns what they replace."""
    better = [p for p, pair in others.items() if ratio(pair) > (0 if anyway else ratio(problems.get(p, {})))]
    replaced = {p: problems.get(p, {}) for p in better}
    problems.update({p: others[p] for p in better})
    return replaced


def slower(replaced, problems):
    """Lines about own kernels that take longer than those that they replace."""
    for problem, pair in sorted(replaced.items()):
        now = counted_us(problems[problem]["own"])
        if "own" in pair and now > counted_us(pair["own"]):
            yield f"  slower than before: {problem} {counted_us(pair['own']):.2f} -> {now:.2f} us"


def shipped_of(model):
    path = os.path.join(TUNED, slug(model) + ".jsonl")
    problems = {}
    for row in rows_of(path) if os.path.exists(path) else ():
        keep_fastest(problems, row)
    return path, problems


def write(path, model, problems):
    rows = [row for _, pair in sorted(problems.items()) for row in shipped_rows(pair)]
    device = {**rows[0]["device"], "uuid": "shipped-" + slug(model).replace("_", "-")}
    with open(path + ".new", "w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps({**row, "device": device}, separators=(",", ":")) + "\n")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--device", default="")
    parser.add_argument("--since", default="")
    parser.add_argument("--replace", action="store_true")
    parser.add_argument("exports", nargs="+")
    options = parser.parse_args()
    models = found_in(options.exports, options.device, options.since)
    if not models:
        sys.exit("ship_results.py: no final round of such a device in these files")
    for model, found in sorted(models.items()):
        path, problems = shipped_of(model)
        before = len(problems)
        replaced = replace_worse(problems, found, options.replace)
        if replaced:
            write(path, model, problems)
        print(f"{model}: {len(replaced)} of {len(found)} problems taken, {before} -> {len(problems)} shipped in {path}")
        for line in slower(replaced, problems):
            print(line)


if __name__ == "__main__":
    main()
