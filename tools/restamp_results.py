#!/usr/bin/env python3
"""Keeps the results in db/tuned/ valid where a change of the kernels' text left their code as it was.

usage: restamp_results.py OLD NEW [--jobs N]

OLD and NEW are programs from before and after the change. A result is of the source that its
source_hash names, and is stale once the program emits another. Each shipped result that OLD takes for
current is compiled to PTX by both; where both PTX are the same but for comments, mangled names, constants that
nothing reads and sizes of structures that kernels take, it gets NEW's hash. Results that differ are listed:
they have to be tuned anew. Files are written whole or not at all.
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TUNED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "db", "tuned")
VENDOR = "cublaslt"
ATTEMPTS = 5

# What both programs make of a kernel: hashes of their sources, and whether the code is the same.
Compared = collections.namedtuple("Compared", "old new same")


def run(program, database, *arguments):
    command = [program, *arguments, "--db", database]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"restamp_results.py: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def emit(program, database, record, *options):
    return json.loads(run(program, database, "emit", str(record["id"]), "--json", *options))


def with_numbered_names(ptx):
    """Names of variables and functions say what they are declared in, and functions of which types they are."""
    names = dict.fromkeys(re.findall(r"_Z[\w$]+", ptx))
    numbers = {name: f"name_{number}" for number, name in enumerate(names)}
    return re.sub(r"_Z[\w$]+", lambda name: numbers[name[0]], ptx)


def code_of(ptx):
    """PTX without comments, empty lines, mangled names, constants that nothing reads and sizes of parameters."""
    words = collections.Counter(re.findall(r"[\w$]+", ptx))
    lines = (line.partition("//")[0].rstrip() for line in ptx.splitlines())
    code = "\n".join(line for line in lines if line and not is_unused(line, words))
    return with_numbered_names(re.sub(r"(\.param \.align \d+ \.b8 [\w$]+)\[\d+\]", r"\1[]", code))


def is_unused(line, words):
    constant = re.match(r"(?:\.visible |\.weak )?\.(?:global|const) .*?([\w$]+)(?:\[\d*\])?(?: =.*)?;$", line)
    return constant is not None and words[constant[1]] == 1


def have_same_code(programs, database, record):
    """NVRTC does not make the same PTX of one text every time, so texts may have to be compiled again to agree."""
    seen = [set() for _ in programs]
    for _ in range(ATTEMPTS):
        for codes, program in zip(seen, programs):
            codes.add(code_of(emit(program, database, record, "--ptx", "--no-cache")["ptx"]))
        if set.intersection(*seen):
            return True
    return False


def compare(old, new, database, record):
    hashes = [emit(program, database, record)["source_hash"] for program in (old, new)]
    if hashes[0] == hashes[1] or hashes[0] != record["source_hash"]:
        return Compared(*hashes, hashes[0] == hashes[1])
    return Compared(*hashes, have_same_code((old, new), database, record))


def compared_kernels(old, new, path, jobs):
    """{(arch, source_hash): Compared} of the best results of a file."""
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "shipped.db")
        run(old, database, "db", "import", path)
        listed = json.loads(run(old, database, "list", "--json"))["problems"]
        kernels = {(r["arch"], r["source_hash"]): r for r in listed}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            results = pool.map(lambda r: compare(old, new, database, r), kernels.values())
            return dict(zip(kernels, results))


def judge(row, kernels):
    """What becomes of a result: "", "new hash", or why it stays stale."""
    if row["strategy"] == VENDOR:
        return ""
    if (row["arch"], row["source_hash"]) not in kernels:
        return "not the problem's best"
    one = kernels[row["arch"], row["source_hash"]]
    if one.old != row["source_hash"]:
        return "stale before"
    if not one.same:
        return "other code now"
    return "new hash" if one.new != one.old else ""


def restamp(path, kernels):
    """Writes the new hashes, and prints what cannot have one."""
    count = 0
    with open(path, encoding="utf-8") as lines, open(path + ".new", "w", encoding="utf-8") as out:
        for row in map(json.loads, lines):
            verdict = judge(row, kernels)
            if verdict == "new hash":
                count += 1
                row["source_hash"] = kernels[row["arch"], row["source_hash"]].new
            elif verdict:
                print(f"{verdict}: {row['problem']} {row['strategy']} {row['config']}")
            out.write(json.dumps(row, separators=(",", ":")) + "\n")
    os.replace(path + ".new", path)
    print(f"{path}: {len(kernels)} kernels, {count} results have a new hash")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("old")
    parser.add_argument("new")
    options = parser.parse_args()
    for path in sorted(glob.glob(os.path.join(TUNED, "*.jsonl"))):
        restamp(path, compared_kernels(options.old, options.new, path, options.jobs))


if __name__ == "__main__":
    main()
