#!/usr/bin/env python3
"""Measures kernels that are lent to problems that nobody tuned.

usage: lent_times.py draw --model NAME --type TYPE --rows LEAST:MOST [--columns LEAST:MOST] [--inputs LEAST:MOST]
                          [--product forward|activations|weights|scores|values|keys] [--shipped] [--math MODE]
                          [--epilogue PARTS] [--count N] [--seed N] SUITE
       lent_times.py add BENCH...
       lent_times.py report --model NAME PROGRAM

draw writes a suite of layers whose outputs and inputs are drawn at random as layers of models go, and do not ship for
the model in this type. With --columns there are so many outputs, as routers of experts and heads have them, with
--inputs so many inputs, too, as multilayer perceptrons have them, and with --shipped both are of layers that ship, with
other numbers of rows. The products are a layer's results (forward), or the gradients of what it reads (activations) or
of its weights; or a batch's, as attention is computed by: of scores, of values by them, or of the gradients of keys,
whose rows are tokens. `gemm-tune bench --suite SUITE --seconds 0.1 --json-file BENCH`
measures them on a card that has tuned nothing: own kernels are those that the program lends. To see what it does not
lend, too, build one whose least leads (src/dispatch/estimated_lead.h) are 0.

add puts what lent kernels took in such files into tests/unit/dispatch/lent_times_MODEL.tsv, or
lent_times_without_workspace_MODEL.tsv for `bench --cublaslt-workspace 0`. Kernels of problems that are there already
stay. Unit tests hold what is lent against these files.

report asks PROGRAM, a gemm-tune, what it lends to the problems of the first of these files, and says how far ahead of
cuBLASLt's best and of its first algorithm those kernels were that were timed. --model is part of the name: H200.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import random
import statistics
import subprocess

from renew_times import bench_of, fail
from ship_results import TUNED, rows_of

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LENT = "borrowed"  # the provenance of such kernels
FEW_COLUMNS = 256  # as src/dispatch/product_kind.h
TIMES = ("own", "vendor_best", "vendor_first")
HEAD = ("# Problems whose n and k were drawn at random and that nobody tuned: the kernel that was lent, its time,\n"
        "# that of cuBLASLt's fastest algorithm and that of its heuristic's first one, in us (tools/lent_times.py).\n")


# ---- draw


# The layout of each product of a layer, its sizes by the layer's rows, outputs and inputs, and back: which of m, n and
# k the latter two are.
PRODUCTS = {
    "forward": ("tnt", lambda rows, outputs, inputs: (rows, outputs, inputs), (1, 2)),
    "activations": ("ttt", lambda rows, outputs, inputs: (rows, inputs, outputs), (2, 1)),
    "weights": ("ntt", lambda rows, outputs, inputs: (outputs, inputs, rows), (0, 1)),
}

# The same of attention in batches, by its tokens and a head's width: scores, values by them, and the gradients of keys
# and values.
ATTENTION = {
    "scores": ("tnt", lambda tokens, head: (tokens, tokens, head)),
    "values": ("ttt", lambda tokens, head: (tokens, head, tokens)),
    "keys": ("ntt", lambda tokens, head: (tokens, head, tokens)),
}
HEADS = (32, 40, 64, 64, 64, 80, 96, 128)
MOST_TOKENS = 4096
MOST_ENTRIES = 1 << 14
MOST_ELEMENTS = 120_000_000  # of A, B and C of all entries
MOST_PRODUCTS = 15_000_000_000  # m n k of all entries


def shipped_sizes(model, kind, batches):
    """m, n and k of all problems of a kind, as keys begin, that ship for a model."""
    names = [name for name in sorted(os.listdir(TUNED)) if model.lower() in name]
    if len(names) != 1:
        fail(f"{len(names)} models that results ship for are called {model}; see {TUNED}")
    problems = {row["problem"] for row in rows_of(os.path.join(TUNED, names[0]))}
    return {tuple(map(int, problem.split("/")[4].split("x"))) for problem in problems
            if problem.startswith(kind) and ("/batch=" in problem) == batches}


def layer(draw):
    """Outputs and inputs: as many, heads beside, wider, deeper, or some of a width."""
    width = 64 * draw.randrange(5, 128)
    return draw.choice([
        lambda: (width, width),
        lambda: (width + draw.choice([256, 512, 1024, 2048]), width),
        lambda: (64 * int(width * draw.uniform(2, 7.5) / 64), width),
        lambda: (width, 64 * int(width * draw.uniform(2, 5) / 64)),
        lambda: (32 * draw.randrange(2, 129), width),
    ])()


def width_of(draw, least, most):
    """So many: a power of two, a multiple of 8, or any."""
    width = round(math.exp(draw.uniform(math.log(least), math.log(most))))
    width = draw.choice([width, (width + 7) // 8 * 8, 1 << (width - 1).bit_length()])
    return min(width, most)


def narrow_layer(draw, columns, inputs):
    """Outputs of so many, and inputs of so many or of a model's width."""
    outputs = width_of(draw, *columns)
    return outputs, width_of(draw, *inputs) if inputs else 64 * draw.randrange(5, 128)


def rows_between(draw, least, most):
    rows = round(math.exp(draw.uniform(math.log(least), math.log(most))))
    up = (rows + 31) // 32 * 32
    return up if up <= most and draw.random() < 0.4 else rows


def range_of(option, text):
    try:
        least, most = (int(size) for size in text.split(":"))
    except ValueError:
        fail(f"{option} is LEAST:MOST, as in 1:128, not {text}")
    if not 1 <= least <= most:
        fail(f"{option} is LEAST:MOST, both 1 at least, not {text}")
    return least, most


def to_choose(args, kind, shipped, *ranges):
    """What --shipped draws from: the pairs of sizes of those that ship that are in such ranges."""
    pairs = sorted(sizes for sizes in shipped if all(
        not some or some[0] <= size <= some[1] for size, some in zip(sizes, ranges)))
    if args.shipped and not pairs:
        fail(f"nothing of {kind} ships with such sizes")
    return pairs


def draw_layer(args, draw, kind):
    """A function that draws m, n, k and entries of a layer's product; None for one that ships and is not wanted."""
    rows = range_of("--rows", args.rows)
    columns = range_of("--columns", args.columns) if args.columns else None
    inputs = range_of("--inputs", args.inputs) if args.inputs else None
    if inputs and not columns:
        fail("--inputs goes with --columns")
    _, sizes_of, places = PRODUCTS[args.product]
    shipped = {tuple(sizes[place] for place in places) for sizes in shipped_sizes(args.model, kind, batches=False)}
    layers = to_choose(args, kind, shipped, columns, inputs)

    def one():
        of_rows = rows_between(draw, *rows)
        if args.shipped:
            return *sizes_of(of_rows, *draw.choice(layers)), 1
        outputs, of_inputs = narrow_layer(draw, columns, inputs) if columns else layer(draw)
        return None if (outputs, of_inputs) in shipped else (*sizes_of(of_rows, outputs, of_inputs), 1)

    return one


def draw_attention(args, draw, kind):
    """The same of a batch, whose rows are tokens; never None."""
    if args.columns or args.inputs:
        fail(f"--columns and --inputs are of layers, not of {args.product}")
    tokens = range_of("--rows", args.rows)
    if tokens[1] > MOST_TOKENS:
        fail(f"--rows is up to {MOST_TOKENS} of attention, not {args.rows}")
    _, sizes_of = ATTENTION[args.product]
    of_entries = {(sizes[0], head) for sizes in shipped_sizes(args.model, kind, batches=True)
                  for head in sizes[1:] if sizes == sizes_of(sizes[0], head)}
    shipped = to_choose(args, kind, of_entries, tokens)

    def one():
        of_entry = draw.choice(shipped) if args.shipped else (width_of(draw, *tokens), draw.choice(HEADS))
        m, n, k = sizes_of(*of_entry)
        most = min(MOST_ENTRIES, MOST_ELEMENTS // (m * n + m * k + n * k), MOST_PRODUCTS // (m * n * k))
        return m, n, k, width_of(draw, 2, most)

    return one


def draw_suite(args):
    if args.count < 1:
        fail("--count is 1 at least")
    draw = random.Random(args.seed)
    layout = {**PRODUCTS, **ATTENTION}[args.product][0]
    kind = f"{args.type}/{'i32' if args.type == 'i8' else 'f32'}/{args.math}/{layout}/"
    one = (draw_attention if args.product in ATTENTION else draw_layer)(args, draw, kind)
    problems = []
    while len(problems) < args.count:
        drawn = one()
        if drawn is None:  # it ships
            continue
        m, n, k, batch = drawn
        problem = {"group": "drawn", "dtype": args.type, "math": args.math, "layout": layout, "m": m, "n": n, "k": k}
        if batch > 1:
            problem["batch"] = batch
        if args.epilogue:
            problem["epilogue"] = args.epilogue
        problems.append(problem)
    which = f"ship for the {args.model} with other rows" if args.shipped else f"do not ship for the {args.model}"
    about = f"layers drawn at random (seed {args.seed}), {args.rows} rows, that {which}"
    if args.product in ATTENTION:
        about = f"{args.product} of attention drawn at random (seed {args.seed}), {args.rows} tokens"
    with open(args.suite, "w", encoding="utf-8") as out:
        json.dump({"suite": "drawn", "about": about, "problems": problems}, out, indent=1)
    print(f"{len(problems)} problems to {args.suite}")


# ---- add


def table_of(model, without_workspace=False):
    name = "lent_times_without_workspace" if without_workspace else "lent_times"
    return os.path.join(ROOT, "tests", "unit", "dispatch", f"{name}_{model.lower()}.tsv")


def read_table(path):
    """{(problem, kernel): [own, best and first time]}; nothing of a file that does not exist."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    return {(problem, kernel): [float(time) for time in times] for problem, kernel, *times in rows}


def lent_rows(path):
    """The table, and its new lines, of a file of `bench`."""
    bench = bench_of(path)
    model = bench["device"]["name"].removeprefix("NVIDIA ").split()[0]
    rows = {(row["text"], row["own"]["config"]): [round(row[time]["median_us"], 2) for time in TIMES]
            for row in bench["rows"]
            if all(row.get(time) for time in TIMES) and row["own"]["provenance"] == LENT}
    return table_of(model, bench["vendor_workspace_bytes"] == 0), rows


def add(args):
    new = collections.defaultdict(dict)
    for path in args.files:
        table, rows = lent_rows(path)
        new[table].update(rows)
    for table, rows in new.items():
        known = read_table(table)
        rows = {key: times for key, times in rows.items() if key not in known}
        exists = os.path.exists(table)
        with open(table, "a", encoding="utf-8") as out:
            if not exists:
                out.write(HEAD)
            for (problem, kernel), times in sorted(rows.items()):
                out.write("\t".join([problem, kernel, *(f"{time:.2f}" for time in times)]) + "\n")
        print(f"{len(rows)} kernels added to {table}, which had {len(known)}")


# ---- report


def lent_by(program, model, problem):
    """The kernel that a program lends to a problem; None where it is cuBLASLt's."""
    dtype, _, math_mode, layout, shape, *rest = problem.split("/")
    command = [program, "explain", "--json", "--shape", shape, "--type", dtype, "--math", math_mode, "--layout", layout,
               "--device", model]
    for part in rest:
        name, _, value = part.partition("=")
        command += ["--" + name, value]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        fail(f"{program}: {error.strerror}")
    if done.returncode != 0:
        fail(f"{problem}: {done.stderr.strip()}")
    chosen = json.loads(done.stdout)["chosen"]
    return f"{chosen['strategy']} {chosen['config']}" if chosen and chosen["route"] == "kernel" else None


def kind_of(problem):
    dtype, _, math_mode, layout, shape, *rest = problem.split("/")
    scale = next((part for part in rest if "scale" in part), "").removeprefix("epilogue=").split(",")[0]
    rows, columns, _ = (int(size) for size in shape.split("x"))
    most = next((most for most in (16, 128, 512, 2048) if rows <= most), 1 << 31)
    narrow = "few columns" if columns <= FEW_COLUMNS and columns < rows and dtype in ("bf16", "f16", "f32") else ""
    if "/batch=" in problem:
        narrow = "batch"
    order = "" if layout == "tnt" else layout
    return " ".join(filter(None, [dtype, "" if math_mode == "ieee" else math_mode, order, scale, narrow])), most


def report(args):
    path = table_of(args.model)
    times = read_table(path)
    if not times:
        fail(f"there is no {path}; `lent_times.py add` makes one")
    problems = list(dict.fromkeys(problem for problem, _ in times))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        kernels = dict(zip(problems, pool.map(lambda problem: lent_by(args.program, args.model, problem), problems)))
    groups = collections.defaultdict(list)
    for problem in problems:
        groups[kind_of(problem)].append(problem)
    groups[("all", 1 << 31)] = problems
    columns = "".join(f"{name:>8}" for name in ("best", "least", "first", "least"))
    print(f"{'type':32}{'rows to':>9}{'problems':>10}{'lent':>6}{'timed':>7}{columns}")
    for (kind, most), members in sorted(groups.items(), key=lambda item: (item[0][0] == "all", item[0])):
        lent = [(problem, kernels[problem]) for problem in members if kernels[problem]]
        timed = [times[key] for key in lent if key in times]
        line = f"{kind:32}{most if most < 1 << 31 else '':>9}{len(members):>10}{len(lent):>6}{len(timed):>7}"
        for i in (1, 2):
            ratios = [row[i] / row[0] for row in timed]
            line += f"{statistics.geometric_mean(ratios):>8.3f}{min(ratios):>8.3f}" if ratios else f"{'-':>8}{'-':>8}"
        print(line)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("draw")
    command.add_argument("--model", required=True)
    command.add_argument("--type", required=True, choices=["f32", "f16", "bf16", "e4m3", "e5m2", "i8"])
    command.add_argument("--math", default="ieee")
    command.add_argument("--rows", required=True)
    command.add_argument("--columns")
    command.add_argument("--inputs")
    command.add_argument("--product", default="forward", choices=[*PRODUCTS, *ATTENTION])
    command.add_argument("--shipped", action="store_true")
    command.add_argument("--count", type=int, default=100)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--epilogue")
    command.add_argument("suite")
    command.set_defaults(run=draw_suite)
    command = commands.add_parser("add")
    command.add_argument("files", nargs="+", metavar="BENCH")
    command.set_defaults(run=add)
    command = commands.add_parser("report")
    command.add_argument("--model", required=True)
    command.add_argument("program")
    command.set_defaults(run=report)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
