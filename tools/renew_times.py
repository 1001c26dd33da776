#!/usr/bin/env python3
"""Puts the times of a `bench` in the place of those in db/tuned/, which comes with the program.

usage: renew_times.py BENCH...

BENCH are files that `gemm-tune bench --json-file` wrote on a GPU model that results ship for. Of each problem whose
own kernel in the file is the one that ships, the times become those of the file: the kernel's, cuBLASLt's best with
the algorithm that took it, and that of its heuristic's first algorithm where it is needed. Problems of other kernels
are left as they are, and counted. The models' files are written whole or not at all. Files of operands in cache
(--warm) or of another beta are refused.
"""

import argparse
import datetime
import json
import os
import sys

from ship_results import shipped_of, write

FEWEST_SAMPLES = 3


def fail(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def bench_of(path):
    """What `gemm-tune bench --json-file` wrote of operands from memory and a beta of 0, as results that ship are."""
    try:
        with open(path, encoding="utf-8") as text:
            bench = json.load(text)
        bench["rows"], bench["device"]["name"]  # every file has them
        sides = bench["warm"], bench["beta"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"{path}: not what `gemm-tune bench --json-file` writes: {error!r}")
    if any(sides):
        fail(f"{path}: of operands in cache or another beta; results that ship are of neither")
    return bench


def run_of(path, bench):
    ended = datetime.datetime.fromtimestamp(os.path.getmtime(path), datetime.timezone.utc)
    return {"started_at": ended.strftime("%Y-%m-%dT%H:%M:%S.000Z"), "tool_version": bench["tool_version"],
            "compiler_version": "", "driver_version": bench["device"].get("driver_version", 0), "options": "bench"}


def renewed(row, side, run):
    run = {**run, "compiler_version": row["compiler_version"]}
    timing = {**row["timings"][-1], "measured_at": run["started_at"], "run": run, "final_round": True,
              "started_early": False, "baseline_median_us": None, "sm_clock_min_mhz": None, "power_w": None,
              "throttle_reasons": 0, "sm_clock_median_mhz": side.get("sm_clock_mhz"), "min_us": min(side["samples_us"]),
              "sample_count": len(side["samples_us"])}
    timing.update({key: side[key] for key in ("median_us", "ci_low_us", "ci_high_us", "samples_us")})
    return {**row, "timings": [timing], "run": run, "updated_at": run["started_at"]}


def renew(pair, row, run):
    """The pair with the row's times; None where they are of another kernel, or of too few turns."""
    own, vendor = row.get("own"), row.get("vendor_best")
    if not own or not vendor or own["config"] != pair["own"]["strategy"] + " " + pair["own"]["config"]:
        return None
    if min(len(own["samples_us"]), len(vendor["samples_us"])) < FEWEST_SAMPLES:
        return None
    algorithms = {"vendor": vendor, "first": row.get("vendor_first")}
    return {"own": renewed(pair["own"], own, run),
            **{key: {**renewed(pair["vendor"], side, run), "config": side["config"]}
               for key, side in algorithms.items() if side}}


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("files", nargs="+", metavar="BENCH")
    benches = {}
    for path in parser.parse_args().files:
        bench = bench_of(path)
        run = run_of(path, bench)
        benches.setdefault(bench["device"]["name"], []).extend((row, run) for row in bench["rows"])
    ships = {model: shipped_of(model) for model in sorted(benches)}
    for model, (_, problems) in ships.items():
        if not problems:
            fail(f"nothing ships for {model}")
    for model, (path, problems) in ships.items():
        rows = benches[model]
        pairs = [(row["text"], renew(problems[row["text"]], row, run)) for row, run in rows if row["text"] in problems]
        new = {problem: pair for problem, pair in pairs if pair}
        if new:
            write(path, model, {**problems, **new})
        print(f"{model}: times of {len(new)} of {len(problems)} problems renewed in {path}; "
              f"{len(pairs) - len(new)} others of the files are of other kernels or too few turns")


if __name__ == "__main__":
    main()
