"""tools/lent_times.py on a copy of itself, so that it writes into a folder of its own."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(sys.argv.pop(1)) / "tools"

# A gemm-tune that lends kernel a=1 to all problems but those of 7 rows.
PROGRAM = """#!/usr/bin/env python3
import json, sys
shape = sys.argv[sys.argv.index("--shape") + 1]
assert sys.argv[sys.argv.index("--device") + 1] == "H9"
lent = {"route": "kernel", "strategy": "tiled", "config": "a=1"}
print(json.dumps({"chosen": {"route": "cublaslt"} if shape.startswith("7x") else lent}))
"""


def side(us, **more):
    return {"median_us": us, **more}


def row(text, own_us, best_us=20, first_us=30, config="tiled a=1", provenance="borrowed"):
    own = side(own_us, config=config, provenance=provenance) if own_us else None
    return {"text": text, "own": own, "vendor_best": side(best_us), "vendor_first": side(first_us)}


def bench(*rows, workspace=1 << 26, warm=False):
    return {"device": {"name": "NVIDIA H9 80GB"}, "vendor_workspace_bytes": workspace, "warm": warm, "beta": 0.0,
            "rows": list(rows)}


class LentTimes(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        (self.root / "tools").mkdir()
        (self.root / "db" / "tuned").mkdir(parents=True)
        self.tables = self.root / "tests" / "unit" / "dispatch"
        self.tables.mkdir(parents=True)
        for name in ("ship_results.py", "renew_times.py", "lent_times.py"):
            shutil.copy(TOOLS / name, self.root / "tools")
        self.suite = self.root / "suite.json"
        self.ship()

    def tearDown(self):
        shutil.rmtree(self.root)

    def ship(self, *problems):
        row = {"gemm_tune": 5, "strategy": "tiled", "device": {"name": "NVIDIA H9"}}
        lines = [json.dumps({**row, "problem": problem}) + "\n" for problem in problems]
        (self.root / "db" / "tuned" / "nvidia_h9.jsonl").write_text("".join(lines))

    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, self.root / "tools" / "lent_times.py", *arguments], capture_output=True,
                              text=True, check=False)

    def draw(self, *more, rows="3:40"):
        done = self.run_tool("draw", "--model", "H9", "--type", "i8", "--rows", rows, *more, self.suite)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(self.suite.read_text())["problems"]

    def add(self, *benches):
        paths = []
        for i, content in enumerate(benches):
            paths.append(self.root / f"bench{i}.json")
            paths[-1].write_text(content if isinstance(content, str) else json.dumps(content))
        return self.run_tool("add", *paths)

    def table(self, name="lent_times_h9.tsv"):
        return [line for line in (self.tables / name).read_text().splitlines() if not line.startswith("#")]

    def test_drawn_problems_have_the_rows_asked_for_and_repeat_with_the_seed(self):
        problems = self.draw("--count", "50", "--seed", "4")
        self.assertEqual(len(problems), 50)
        self.assertTrue(all(3 <= problem["m"] <= 40 for problem in problems))
        self.assertGreater(len({problem["m"] for problem in problems}), 10)
        self.assertEqual(problems, self.draw("--count", "50", "--seed", "4"))
        self.assertNotEqual(problems, self.draw("--count", "50", "--seed", "5"))

    def test_what_ships_is_not_drawn(self):
        sizes = [(problem["n"], problem["k"]) for problem in self.draw("--count", "20")]
        self.ship(*(f"i8/i32/ieee/tnt/1x{n}x{k}" for n, k in sizes[:10]))
        others = [size for size in sizes if size not in sizes[:10]]
        again = [(problem["n"], problem["k"]) for problem in self.draw("--count", str(len(others)))]
        self.assertEqual(again, others)
        self.ship(*(f"bf16/f32/ieee/tnt/1x{n}x{k}" for n, k in sizes[:10]))
        self.assertEqual([(problem["n"], problem["k"]) for problem in self.draw("--count", "20")], sizes)

    def test_columns_are_those_asked_for(self):
        problems = self.draw("--columns", "3:40", "--count", "50")
        self.assertTrue(all(3 <= problem["n"] <= 40 for problem in problems))
        self.assertGreater(len({problem["n"] for problem in problems}), 10)

    def test_a_layers_products_are_those_asked_for(self):
        drawn = {product: self.draw("--columns", "8:32", "--inputs", "64:512", "--product", product, "--count", "40",
                                    rows="1000:9000") for product in ("forward", "activations", "weights")}
        places = {"forward": ("tnt", "mnk"), "activations": ("ttt", "mkn"), "weights": ("ntt", "kmn")}
        for product, (layout, sizes) in places.items():
            for problem in drawn[product]:
                rows, outputs, inputs = (problem[size] for size in sizes)
                self.assertEqual(problem["layout"], layout)
                self.assertTrue(1000 <= rows <= 9000 and 8 <= outputs <= 32 and 64 <= inputs <= 512)

    def test_batches_are_attentions(self):
        for product, layout, tokens in (("scores", "tnt", "mn"), ("values", "ttt", "mk"), ("keys", "ntt", "mk")):
            problems = self.draw("--product", product, "--count", "40", rows="16:600")
            for problem in problems:
                self.assertEqual(problem["layout"], layout)
                self.assertTrue(16 <= problem[tokens[0]] == problem[tokens[1]] <= 600)
                self.assertGreaterEqual(problem["batch"], 2)
            self.assertGreater(len({problem["batch"] for problem in problems}), 10)
        self.ship("i8/i32/ieee/tnt/77x77x64/batch=96", "i8/i32/ieee/tnt/16x2048x7168/batch=64",
                  "i8/i32/ieee/tnt/50x50x64")
        problems = self.draw("--product", "scores", "--shipped", rows="16:600")
        self.assertEqual({(problem["m"], problem["n"], problem["k"]) for problem in problems}, {(77, 77, 64)})
        layers = self.draw("--shipped", "--count", "10")
        self.assertEqual({(problem["n"], problem["k"]) for problem in layers}, {(50, 64)})

    def test_layers_whose_product_ships_are_not_drawn(self):
        arguments = ("--columns", "8:9", "--inputs", "64:65", "--product", "weights")
        layers = {(problem["m"], problem["n"]) for problem in self.draw(*arguments)}
        self.assertEqual(layers, {(8, 64), (8, 65), (9, 64), (9, 65)})
        self.ship("i8/i32/ieee/ntt/8x64x4096", "i8/i32/ieee/ntt/9x65x16384", "i8/i32/ieee/tnt/1x8x65")
        layers = {(problem["m"], problem["n"]) for problem in self.draw(*arguments)}
        self.assertEqual(layers, {(8, 65), (9, 64)})
        layers = {(problem["m"], problem["n"]) for problem in self.draw(*arguments, "--shipped")}
        self.assertEqual(layers, {(8, 64), (9, 65)})

    def test_what_ships_is_drawn_where_that_is_asked_for(self):
        self.ship("i8/i32/ieee/tnt/1x8x64", "i8/i32/ieee/tnt/1x16x64", "bf16/f32/ieee/tnt/1x24x64")
        sizes = {(problem["n"], problem["k"]) for problem in self.draw("--shipped", "--count", "30")}
        self.assertEqual(sizes, {(8, 64), (16, 64)})
        sizes = {(problem["n"], problem["k"]) for problem in self.draw("--shipped", "--columns", "9:20", "--count", "5")}
        self.assertEqual(sizes, {(16, 64)})
        done = self.run_tool("draw", "--model", "H9", "--type", "i8", "--rows", "1:4", "--shipped", "--columns", "99:99",
                             self.suite)
        self.assertIn("nothing of i8/i32/ieee/tnt/ ships", done.stderr)

    def test_an_epilogue_and_a_mode_are_those_of_all(self):
        for problem in self.draw("--epilogue", "scale_row", "--math", "fast_accum", "--count", "3"):
            self.assertEqual((problem["epilogue"], problem["math"]), ("scale_row", "fast_accum"))

    def test_what_cannot_be_drawn_is_refused(self):
        for rows in ("5", "0:4", "5:4", "x:y"):
            done = self.run_tool("draw", "--model", "H9", "--type", "i8", "--rows", rows, self.suite)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("LEAST:MOST", done.stderr)
        done = self.run_tool("draw", "--model", "H9", "--type", "i8", "--rows", "1:4", "--inputs", "8:64", self.suite)
        self.assertIn("--inputs goes with --columns", done.stderr)
        for option in ("--columns", "--inputs"):
            done = self.run_tool("draw", "--model", "H9", "--type", "i8", "--rows", "16:64", "--product", "scores", option,
                                 "8:64", self.suite)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("are of layers, not of scores", done.stderr)
        done = self.run_tool("draw", "--model", "H8", "--type", "i8", "--rows", "1:4", self.suite)
        self.assertIn("0 models", done.stderr)
        self.assertFalse(self.suite.exists())

    def test_lent_kernels_are_added_once(self):
        own = row("c", 10, provenance="measured")
        done = self.add(bench(row("b", 10), row("a", 10.126), own, row("d", None)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.table(), ["a\ttiled a=1\t10.13\t20.00\t30.00", "b\ttiled a=1\t10.00\t20.00\t30.00"])
        done = self.add(bench(row("a", 11), row("a", 12, config="tiled a=2")))
        self.assertIn("1 kernels added", done.stdout)
        self.assertEqual(self.table()[2:], ["a\ttiled a=2\t12.00\t20.00\t30.00"])

    def test_times_without_a_workspace_have_a_file_of_their_own(self):
        self.add(bench(row("a", 10), workspace=0))
        self.assertEqual(len(self.table("lent_times_without_workspace_h9.tsv")), 1)
        self.assertFalse((self.tables / "lent_times_h9.tsv").exists())

    def test_a_file_of_something_else_is_refused_and_nothing_is_added(self):
        for content in ("{", "{}", json.dumps({"rows": []})):
            done = self.add(bench(row("a", 10)), content)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("bench1.json: not what", done.stderr)
        self.assertFalse((self.tables / "lent_times_h9.tsv").exists())

    def test_times_of_operands_in_cache_are_refused(self):
        done = self.add(bench(row("a", 10), warm=True))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("lent_times.py: ", done.stderr)
        self.assertIn("operands in cache", done.stderr)
        self.assertFalse((self.tables / "lent_times_h9.tsv").exists())

    def report(self):
        program = self.root / "gemm-tune"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        return self.run_tool("report", "--model", "H9", program)

    def test_a_report_says_how_far_ahead_lent_kernels_were(self):
        self.add(bench(row("i8/i32/ieee/tnt/8x64x64", 10), row("i8/i32/ieee/tnt/9x64x64", 5),
                       row("i8/i32/ieee/tnt/10x64x64", 5, config="tiled a=2"), row("i8/i32/ieee/tnt/7x64x64", 1),
                       row("f32/f32/ieee/ntt/8x8x4096", 10)))
        done = self.report()
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(lines[1], ["f32", "ntt", "16", "1", "1", "1", "2.000", "2.000", "3.000", "3.000"])
        self.assertEqual(lines[2], ["i8", "16", "4", "3", "2", "2.828", "2.000", "4.243", "3.000"])
        self.assertEqual(lines[3][:4], ["all", "5", "4", "3"])

    def test_a_report_without_times_says_what_to_do(self):
        done = self.report()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("lent_times.py add", done.stderr)


if __name__ == "__main__":
    unittest.main()
