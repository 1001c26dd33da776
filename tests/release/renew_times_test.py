"""tools/renew_times.py on a copy of itself, so that it writes into a folder of its own."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(sys.argv.pop(1)) / "tools"


def shipped(problem, strategy, config, us):
    return {"gemm_tune": 5, "problem": problem, "device": {"uuid": "shipped-nvidia-h9", "name": "NVIDIA H9"},
            "strategy": strategy, "config": config, "compiler_version": "13.0", "registers": 99,
            "outcome": "vendor" if strategy == "cublaslt" else "ok",
            "timings": [{"measured_at": "2026-01-01", "median_us": us, "final_round": True, "power_w": 700}]}


def side(us, config, samples=3):
    return {"median_us": us, "ci_low_us": us - 1, "ci_high_us": us + 1, "config": config,
            "samples_us": [us - 1, us, us + 1][:samples], "sm_clock_mhz": 1980}


def bench(*rows, name="NVIDIA H9", warm=False, beta=0.0):
    return {"tool_version": "0.1.0", "device": {"name": name, "driver_version": 13000}, "warm": warm, "beta": beta,
            "rows": list(rows)}


def row(text, own, vendor, first=None):
    return {"text": text, "own": own, "vendor_best": vendor, "vendor_first": first}


class RenewTimes(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        (self.root / "tools").mkdir()
        (self.root / "db" / "tuned").mkdir(parents=True)
        for name in ("ship_results.py", "renew_times.py"):
            shutil.copy(TOOLS / name, self.root / "tools")
        self.shipped = self.root / "db" / "tuned" / "nvidia_h9.jsonl"
        rows = [shipped(p, s, c, us) for p in ("p", "q") for s, c, us in (("cublaslt", "rank=0", 10), ("tiled", "a=1", 8))]
        self.shipped.write_text("".join(json.dumps(r) + "\n" for r in rows))

    def tearDown(self):
        shutil.rmtree(self.root)

    def renew(self, *benches):
        paths = []
        for i, content in enumerate(benches):
            paths.append(self.root / f"bench{i}.json")
            paths[-1].write_text(content if isinstance(content, str) else json.dumps(content))
        return subprocess.run([sys.executable, self.root / "tools" / "renew_times.py", *paths], capture_output=True,
                              text=True, check=False)

    def rows(self):
        return [json.loads(line) for line in self.shipped.read_text().splitlines()]

    def test_both_times_and_the_algorithm_become_those_of_the_file(self):
        done = self.renew(bench(row("p", side(7, "tiled a=1"), side(9, "rank=3"))))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("times of 1 of 2 problems renewed", done.stdout)
        rows = self.rows()
        self.assertEqual([(r["config"], r["timings"][0]["median_us"]) for r in rows],
                         [("rank=3", 9), ("a=1", 7), ("rank=0", 10), ("a=1", 8)])
        own = rows[1]
        self.assertEqual(own["registers"], 99)
        self.assertEqual(own["run"]["compiler_version"], "13.0")
        timing = own["timings"][0]
        self.assertEqual((timing["samples_us"], timing["sample_count"], timing["min_us"]), ([6, 7, 8], 3, 6))
        self.assertEqual((timing["sm_clock_median_mhz"], timing["power_w"]), (1980, None))
        self.assertGreater(timing["measured_at"], "2026-01-01")

    def test_the_heuristics_first_algorithm_comes_with_what_takes_its_place(self):
        self.renew(bench(row("p", side(10, "tiled a=1"), side(9, "rank=3"), side(11, "rank=0 a"))))
        self.assertEqual([(r["config"], r["timings"][0]["median_us"]) for r in self.rows()[:3]],
                         [("rank=0 a", 11), ("rank=3", 9), ("a=1", 10)])

    def test_other_kernels_and_too_few_turns_are_left_as_they_are(self):
        before = self.shipped.read_text()
        done = self.renew(bench(row("p", side(7, "tiled a=2"), side(9, "rank=3")), row("r", side(7, "tiled a=1"), side(9, "rank=3"))),
                          bench(row("q", side(7, "tiled a=1", samples=2), side(9, "rank=3")), row("q", None, None)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("times of 0 of 2", done.stdout)
        self.assertIn("3 others", done.stdout)
        self.assertEqual(self.shipped.read_text(), before)

    def test_what_cannot_be_used_changes_nothing(self):
        before = self.shipped.read_text()
        good = bench(row("p", side(7, "tiled a=1"), side(9, "rank=3")))
        for bad, message in (("hello", "not what"), ({"rows": []}, "not what"), (bench(warm=True), "in cache"),
                             (bench(beta=0.5), "in cache"), (bench(name="NVIDIA Z1"), "nothing ships for NVIDIA Z1")):
            done = self.renew(good, bad)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
            self.assertEqual(self.shipped.read_text(), before)


if __name__ == "__main__":
    unittest.main()
