"""tools/restamp_results.py on a copy of itself, with two programs that answer as gemm-tune does."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)) / "tools" / "restamp_results.py"

# Keeps imported lines as the database; KERNELS is {config: (source hash, PTX)} of this version.
PROGRAM = """#!/usr/bin/env python3
import json, sys
KERNELS = %r
arguments, database = sys.argv[1:-2], sys.argv[-1]
if arguments[:2] == ["db", "import"]:
    open(database, "w").write(open(arguments[2]).read())
    sys.exit()
rows = [json.loads(line) for line in open(database)]
records = [{**row, "id": i} for i, row in enumerate(rows) if row["strategy"] != "cublaslt"]
if arguments[0] == "list":
    print(json.dumps({"problems": records}))
else:
    record = next(r for r in records if str(r["id"]) == arguments[1])
    if record["config"] not in KERNELS:
        sys.exit("illegal")
    source, ptx = KERNELS[record["config"]]
    print(json.dumps({"source_hash": source, **({"ptx": ptx} if "--ptx" in arguments else {})}))
"""

# Two variables in the order of their places, and a function of some type that is called.
CALLED = ".func _ZN5roundILi%sEEEf(.param .b32 _ZN5roundILi%sEEEf_param_0);\ncall _ZN5roundILi%sEEEf;\n"
NAMED = ".shared .align 16 .b8 _ZZ4%s4rows[64];\n.shared .b8 _ZZ4%s4left[4];\nmov.u32 %%r1, _ZZ4%s4rows;\n"
UNUSED = ".global .align 4 .u32 _ZN3fooE = 3;\n"
USED = ".global .align 4 .u32 %s = 3;\nld.global.u32 %%r1, [%s];\n"
OLD = {"same": ("s", "ret;"), "text": ("t0", "// a\nret;  // b\n\n" + UNUSED), "code": ("c0", "ret;"),
       "read": ("r0", USED % ("a", "a")), "stale": ("x1", "ret;"), "named": ("n0", NAMED % ("copy", "copy", "copy")),
       "called": ("f0", CALLED % (1, 1, 1)), "other": ("o0", NAMED % ("copy", "copy", "copy"))}
NEW = {"same": ("s", "ret;"), "text": ("t1", "// c\nret;\n"), "code": ("c1", "add; ret;"),
       "read": ("r1", USED % ("b", "b")), "stale": ("x2", "ret;"),
       "called": ("f1", CALLED % (2, 2, 2)), "named": ("n1", UNUSED + NAMED % ("made", "made", "made")),
       "other": ("o1", (NAMED % ("made", "made", "made")).replace("r1, _ZZ4made4rows", "r1, _ZZ4made4left"))}


class RestampResults(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        (self.root / "tools").mkdir()
        (self.root / "db" / "tuned").mkdir(parents=True)
        self.tool = shutil.copy(TOOL, self.root / "tools")
        self.shipped = self.root / "db" / "tuned" / "nvidia_h9.jsonl"

    def tearDown(self):
        shutil.rmtree(self.root)

    def ship(self, *kernels):
        rows = [{"problem": f"p{i}", "arch": "sm_90", "strategy": "tiled", "config": config, "source_hash": source}
                for i, (config, source) in enumerate(kernels)]
        rows.append({"problem": "p0", "arch": "sm_90", "strategy": "cublaslt", "config": "algo=1", "source_hash": ""})
        self.shipped.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))

    def program(self, name, kernels):
        path = self.root / name
        path.write_text(PROGRAM % kernels)
        path.chmod(0o755)
        return str(path)

    def restamp(self, old, new):
        return subprocess.run([sys.executable, self.tool, self.program("old", old), self.program("new", new)],
                              capture_output=True, text=True)

    def hashes(self):
        return [json.loads(line)["source_hash"] for line in self.shipped.read_text().splitlines()]

    def test_only_equal_code_gets_the_new_hash(self):
        self.ship(("same", "s"), ("text", "t0"), ("text", "t0"), ("code", "c0"), ("stale", "x0"), ("read", "r0"))
        done = self.restamp(OLD, NEW)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.hashes(), ["s", "t1", "t1", "c0", "x0", "r0", ""])
        self.assertIn("other code now: p3 tiled code", done.stdout)
        self.assertIn("other code now: p5 tiled read", done.stdout)
        self.assertIn("stale before: p4 tiled stale", done.stdout)
        self.assertIn("5 kernels, 2 results have a new hash", done.stdout)

    def test_names_are_no_code_but_which_one_is_meant_is(self):
        self.ship(("named", "n0"), ("called", "f0"), ("other", "o0"))
        done = self.restamp(OLD, NEW)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.hashes(), ["n1", "f1", "o0", ""])

    def test_a_second_time_changes_nothing(self):
        self.ship(("same", "s"), ("text", "t0"))
        self.restamp(OLD, NEW)
        before = self.shipped.read_text()
        done = self.restamp(NEW, NEW)
        self.assertIn("0 results have a new hash", done.stdout)
        self.assertEqual(self.shipped.read_text(), before)

    def test_a_program_that_fails_leaves_the_file_as_it_was(self):
        self.ship(("text", "t0"), ("gone", "g0"))
        before = self.shipped.read_text()
        done = self.restamp({**OLD, "gone": ("g0", "ret;")}, NEW)
        self.assertEqual(done.returncode, 1)
        self.assertIn("illegal", done.stderr)
        self.assertEqual(self.shipped.read_text(), before)


if __name__ == "__main__":
    unittest.main()
