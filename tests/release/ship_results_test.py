"""tools/ship_results.py on a copy of itself, so that it writes into a folder of its own."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)) / "tools" / "ship_results.py"


def row(problem, strategy, us, outcome=None, at="2026-02-01", final=True, name="NVIDIA H9", config="c",
        version=5):
    outcome = outcome or ("vendor" if strategy == "cublaslt" else "ok")
    rounds = [{"measured_at": at, "median_us": us, "final_round": final}]
    return {"gemm_tune": version, "problem": problem, "device": {"uuid": "GPU-1", "name": name}, "strategy": strategy, "config": config,
            "outcome": outcome, "timings": rounds}


class ShipResults(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        (self.root / "tools").mkdir()
        (self.root / "db" / "tuned").mkdir(parents=True)
        self.tool = shutil.copy(TOOL, self.root / "tools")
        self.shipped = self.root / "db" / "tuned" / "nvidia_h9.jsonl"

    def tearDown(self):
        shutil.rmtree(self.root)

    def export(self, rows, name="new.jsonl"):
        path = self.root / name
        with (gzip.open if name.endswith(".gz") else open)(path, "wt") as out:
            out.writelines(json.dumps(r) + "\n" for r in rows)
        return str(path)

    def ship(self, *arguments):
        return subprocess.run([sys.executable, self.tool, *arguments], capture_output=True, text=True)

    def rows(self):
        return [json.loads(line) for line in self.shipped.read_text().splitlines()]

    def test_the_fastest_of_both_sides(self):
        done = self.ship(self.export([row("p", "cublaslt", 12), row("p", "cublaslt", 10), row("p", "naive", 9),
                                      row("p", "tiled", 8), row("p", "wrong", 1, outcome="wrong_result"),
                                      row("p", "search", 2, final=False), row("alone", "tiled", 1)], "new.jsonl.gz"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 1 problems taken, 0 -> 1", done.stdout)
        rows = self.rows()
        self.assertEqual([r["timings"][0]["median_us"] for r in rows], [10, 8])
        self.assertEqual([r["device"]["uuid"] for r in rows], ["shipped-nvidia-h9"] * 2)

    def test_a_worse_ratio_replaces_nothing_and_a_better_one_both_rows(self):
        self.ship(self.export([row("p", "cublaslt", 10), row("p", "tiled", 8), row("q", "cublaslt", 5), row("q", "tiled", 5)]))
        before = self.shipped.read_text()
        done = self.ship(self.export([row("p", "cublaslt", 9), row("p", "tiled", 7.5)]))
        self.assertIn("0 of 1 problems taken", done.stdout)
        self.assertEqual(self.shipped.read_text(), before)
        done = self.ship(self.export([row("p", "cublaslt", 12), row("p", "tiled", 9)]))
        self.assertEqual([r["timings"][0]["median_us"] for r in self.rows()], [12, 9, 5, 5])
        self.assertIn("slower than before: p 8.00 -> 9.00 us", done.stdout)
        done = self.ship(self.export([row("p", "cublaslt", 12), row("p", "tiled", 8.5)]))
        self.assertNotIn("slower", done.stdout)

    def test_early_starts_count_1_us_more(self):
        self.ship(self.export([row("p", "cublaslt", 10), row("p", "wgmma_tma", 9, version=4)]))
        self.ship(self.export([row("p", "cublaslt", 10), row("p", "wgmma_tma", 10.1)]))
        self.assertEqual(self.rows()[1]["timings"][0]["median_us"], 9)
        self.ship(self.export([row("p", "cublaslt", 10), row("p", "wgmma_tma", 9.9)]))
        self.assertEqual(self.rows()[1]["timings"][0]["median_us"], 9.9)
        early = row("p", "wgmma_tma", 9.5)
        early["timings"][0]["started_early"] = True
        self.ship(self.export([row("p", "cublaslt", 10), early]))
        self.assertEqual(self.rows()[1]["timings"][0]["median_us"], 9.9)

    def test_the_heuristics_first_algorithm_where_something_faster_takes_its_place(self):
        def times(own, best, first):
            self.shipped.unlink(missing_ok=True)
            self.ship(self.export([row("p", "cublaslt", first, config="rank=0 a"), row("p", "tiled", own),
                                   row("p", "cublaslt", best, config="rank=10 b")]))
            self.ship(self.export([row("q", "cublaslt", 5, config="rank=0 a"), row("q", "tiled", 4)]))
            return [r["timings"][0]["median_us"] for r in self.rows() if r["problem"] == "p"]

        self.assertEqual(times(own=11, best=10, first=12), [12, 10, 11])
        self.assertEqual(times(own=10, best=10.05, first=12), [12, 10.05, 10])
        self.assertEqual(times(own=9, best=10, first=12), [10, 9])
        self.assertEqual(times(own=11, best=10, first=10.05), [10, 11])

    def test_replace_takes_a_worse_ratio_too(self):
        self.ship(self.export([row("p", "cublaslt", 10), row("p", "tiled", 8), row("q", "cublaslt", 5), row("q", "tiled", 5)]))
        done = self.ship("--replace", self.export([row("p", "cublaslt", 9), row("p", "tiled", 7.5), row("q", "tiled", 1)]))
        self.assertIn("1 of 1 problems taken", done.stdout)
        self.assertEqual([r["timings"][0]["median_us"] for r in self.rows()], [9, 7.5, 5, 5])

    def test_sides_of_two_files_are_not_compared(self):
        self.ship(self.export([row("p", "cublaslt", 10), row("p", "tiled", 8)]),
                  self.export([row("p", "cublaslt", 20), row("p", "tiled", 17)], "other.jsonl"))
        self.assertEqual([r["timings"][0]["median_us"] for r in self.rows()], [10, 8])

    def test_choice_of_device_and_time(self):
        path = self.export([row("p", "cublaslt", 10, at="2026-01-01"), row("p", "tiled", 8, at="2026-01-01")])
        for arguments in (["--since", "2026-02", path], ["--device", "H8", path]):
            done = self.ship(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no final round", done.stderr)
        self.assertFalse(self.shipped.exists())

    def test_what_is_no_export(self):
        path = self.root / "text.jsonl"
        path.write_text("hello\n")
        done = self.ship(str(path))
        self.assertEqual(done.returncode, 1)
        self.assertIn("text.jsonl:1", done.stderr)
        self.assertEqual(os.listdir(self.shipped.parent), [])


if __name__ == "__main__":
    unittest.main()
