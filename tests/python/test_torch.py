"""gemmtune.torch on a fake GPU and a fake cuBLAS; a module stands in for PyTorch."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest
from arrays import Memory
from conftest import Gpu

import gemmtune
import gemmtune.torch

pytestmark = pytest.mark.usefixtures("disabled_afterwards")

SIZE = 24


def column_major(rows: list[list[float]]) -> list[float]:
    return [rows[i][j] for j in range(SIZE) for i in range(SIZE)]


class Product:
    """A B in f32, as cuBLAS has matrices, and what it has to be."""

    def __init__(self) -> None:
        a = [[float((i + 2 * j) % 5 - 2) for j in range(SIZE)] for i in range(SIZE)]
        b = [[float((3 * i + j) % 7 - 3) for j in range(SIZE)] for i in range(SIZE)]
        self.a, self.b = Memory(column_major(a), "f32"), Memory(column_major(b), "f32")
        self.c = Memory([9.0] * SIZE * SIZE, "f32")
        self.expected = column_major(
            [[sum(a[i][k] * b[k][j] for k in range(SIZE)) for j in range(SIZE)] for i in range(SIZE)]
        )

    def call(self, gpu: Gpu) -> None:
        gpu.sgemm(SIZE, self.a.address, self.b.address, self.c.address)

    def is_computed(self) -> bool:
        return self.c.values() == self.expected


def untuned(gpu: Gpu) -> None:
    """One that is not like what was tuned, either."""
    product = Product()
    gpu.sgemm(2, product.a.address, product.b.address, product.c.address)


def test_products_run_on_tuned_kernels_until_disabled(
    gpu: Gpu, torch_stand_in: types.ModuleType
) -> None:
    plain = Product()
    plain.call(gpu)
    assert not plain.is_computed()
    gemmtune.torch.enable(compare=False)
    assert gemmtune.torch.is_enabled()
    own = Product()
    calls = gpu.cublas_calls()
    own.call(gpu)
    assert own.is_computed()
    assert gpu.cublas_calls() == calls
    untuned(gpu)
    assert gpu.cublas_calls() == calls + 1
    report = gemmtune.torch.report()
    assert (report.calls, report.own_calls) == (2, 1)
    problem = report.problems[0]
    assert problem.key == "f32/f32/ieee/ttt/24x24x24"
    assert problem.own and problem.own_calls == 1
    assert problem.what.startswith("naive")
    assert report.problems[1].what == "not tuned"
    assert "1 of 2 products on own kernels" in str(report)
    gemmtune.torch.disable()
    assert not gemmtune.torch.is_enabled()
    after = Product()
    after.call(gpu)
    assert not after.is_computed()
    assert gemmtune.torch.report().calls == 2


def test_times_are_compared_unless_it_is_told_not_to(
    gpu: Gpu, torch_stand_in: types.ModuleType
) -> None:
    with gemmtune.torch.enable() as enabled:
        for _ in range(24):
            Product().call(gpu)
        problem = enabled.report().problems[0]
    assert problem.handed_on["timed"] == 6
    assert problem.own_us == 10.0
    assert problem.saved_us is not None


def test_a_context_disables_at_its_end_but_not_what_was_enabled_before(
    gpu: Gpu, torch_stand_in: types.ModuleType
) -> None:
    with pytest.raises(KeyError), gemmtune.torch.enable(compare=False):
        raise KeyError
    assert not gemmtune.torch.is_enabled()
    gemmtune.torch.enable(compare=False)
    with gemmtune.torch.enable(compare=False):
        pass
    assert gemmtune.torch.is_enabled()
    gemmtune.torch.disable()
    gemmtune.torch.disable()


def test_the_log_gets_a_line_and_the_report(gpu: Gpu, torch_stand_in: types.ModuleType) -> None:
    log = io.StringIO()
    with gemmtune.torch.enable(log, compare=False):
        assert log.getvalue().endswith("libraries\n")
        Product().call(gpu)
    assert "1 of 1 products on own kernels" in log.getvalue()


def test_without_a_database_the_shipped_results_serve(
    gpu: Gpu, torch_stand_in: types.ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GEMM_TUNE_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for _ in range(2):
        gemmtune.torch.enable(compare=False)
        Product().call(gpu)
    report = gemmtune.torch.report()
    assert (report.calls, report.own_calls) == (2, 0)
    assert report.problems[0].what == "not tuned"


def test_a_pack_that_cannot_be_read_changes_nothing(
    gpu: Gpu, torch_stand_in: types.ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(gemmtune.Error, match="app.pack"):
        gemmtune.torch.enable(pack=str(tmp_path / "app.pack"))
    with pytest.raises(gemmtune.UsageError, match="either --pack or --db"):
        gemmtune.torch.enable(pack="app.pack", db="tuned.db")
    assert not gemmtune.torch.is_enabled()


def test_the_environment_of_the_process_stays(gpu: Gpu, torch_stand_in: types.ModuleType) -> None:
    before = dict(os.environ)
    with gemmtune.torch.enable():
        assert dict(os.environ) == before


def test_other_arguments_are_refused_while_it_is_enabled(
    gpu: Gpu, torch_stand_in: types.ModuleType
) -> None:
    gemmtune.torch.enable(compare=False)
    with pytest.raises(gemmtune.Error, match="detach first"):
        gemmtune.torch.enable(deterministic=False)
    gemmtune.torch.disable()
    gemmtune.torch.enable(deterministic=False)


def test_bad_arguments_are_refused_with_what_to_do(
    gpu: Gpu, torch_stand_in: types.ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(gemmtune.UsageError, match="--override is 'maybe'"):
        gemmtune.torch.enable(override="maybe")  # type: ignore[arg-type]
    with pytest.raises(gemmtune.UsageError, match="--f32: unknown split mode 'tf32'"):
        gemmtune.torch.enable(f32="tf32")  # type: ignore[arg-type]
    with pytest.raises(gemmtune.Error, match=r"none\.db"):
        gemmtune.torch.enable(db=str(tmp_path / "none.db"))
    assert not gemmtune.torch.is_enabled()


def test_pytorch_has_to_be_imported_and_to_have_cuda(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch, torch_stand_in: types.ModuleType
) -> None:
    torch_stand_in.version.cuda = None
    with pytest.raises(gemmtune.Error, match="without CUDA"):
        gemmtune.torch.enable()
    monkeypatch.delitem(sys.modules, "torch")
    with pytest.raises(gemmtune.Error, match="import torch"):
        gemmtune.torch.enable()


def test_nothing_is_reported_before_it_was_enabled() -> None:
    with pytest.raises(gemmtune.Error, match=r"enable\(\) first"):
        gemmtune.torch.report()


def test_a_process_without_cublas_is_told_so(tmp_path: Path) -> None:
    program = (
        "import sys, types, gemmtune.torch\n"
        "sys.modules['torch'] = types.SimpleNamespace(version=types.SimpleNamespace(cuda='13'))\n"
        "gemmtune.torch.enable()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "no library that calls cuBLAS is loaded" in done.stderr


def test_a_process_that_is_run_already_is_left_alone(gpu: Gpu) -> None:
    program = (
        "import ctypes, os, sys, types\n"
        "library = ctypes.CDLL(os.environ['GEMM_TUNE_TEST_FIXTURE'])\n"
        "sys.modules['torch'] = types.SimpleNamespace(version=types.SimpleNamespace(cuda='13'))\n"
        "import gemmtune.torch\n"
        "gemmtune.torch.enable()\n"
    )
    command = [Path(sys.executable).parent / "gemm-tune", "run", "--", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "run by gemm-tune run or capture already" in done.stderr


def test_a_forked_child_counts_for_itself(gpu: Gpu, torch_stand_in: types.ModuleType) -> None:
    gemmtune.torch.enable(compare=False)
    Product().call(gpu)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            Product().call(gpu)
            with pytest.raises(gemmtune.Error, match=r"enable\(\) first"):
                gemmtune.torch.report()
            gemmtune.torch.enable(compare=False)
            untuned(gpu)
            code = 0 if gemmtune.torch.report().calls == 1 else 2
            gemmtune.torch._process.folder_of_process().remove()  # os._exit() leaves it
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gemmtune.torch.report().calls == 1


def test_a_log_that_cannot_be_written_leaves_it_as_it_was(
    gpu: Gpu, torch_stand_in: types.ModuleType
) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        gemmtune.torch.enable(Full(), compare=False)
    assert not gemmtune.torch.is_enabled()
    log = io.StringIO()
    with gemmtune.torch.enable(log, compare=False):
        with pytest.raises(OSError, match="no space left"):
            gemmtune.torch.enable(Full(), compare=False)
        assert gemmtune.torch.is_enabled()
    assert log.getvalue().endswith("no product was seen\n")


def test_threads_call_while_it_is_enabled_and_disabled(
    gpu: Gpu, torch_stand_in: types.ModuleType
) -> None:
    ended = threading.Event()
    wrong: list[str] = []

    def call() -> None:
        product = Product()
        while not ended.is_set():
            product.call(gpu)
            if product.c.values() not in ([9.0] * SIZE * SIZE, product.expected):
                wrong.append("another result")

    thread = threading.Thread(target=call)
    thread.start()
    for _ in range(20):
        with gemmtune.torch.enable(compare=False):
            pass
    ended.set()
    thread.join()
    assert not wrong


def test_capture_writes_a_suite_of_what_ran(gpu: Gpu, tmp_path: Path) -> None:
    path = tmp_path / "app.json"
    with gemmtune.capture(path) as captured:
        product = Product()
        for _ in range(3):
            product.call(gpu)
    assert not product.is_computed()
    Product().call(gpu)
    assert captured.result.suite == str(path)
    assert captured.result.calls == 3
    assert captured.result.keys == ("f32/f32/ieee/ttt/24x24x24",)
    assert json.loads(path.read_text())["problems"][0]["count"] == 3
    with gemmtune.capture(path) as again:
        Product().call(gpu)
    assert again.result.calls == 1


def test_a_capture_is_not_ended_by_what_is_of_enable(
    gpu: Gpu, torch_stand_in: types.ModuleType, tmp_path: Path
) -> None:
    with gemmtune.capture(tmp_path / "app.json") as captured:
        Product().call(gpu)
        assert not gemmtune.torch.is_enabled()
        gemmtune.torch.disable()
        with pytest.raises(gemmtune.Error, match="a gemmtune.capture is under way"):
            gemmtune.torch.enable()
        Product().call(gpu)
    assert captured.result.calls == 2


def test_capture_is_refused_where_it_would_see_nothing(
    gpu: Gpu, torch_stand_in: types.ModuleType, tmp_path: Path
) -> None:
    with gemmtune.torch.enable(), pytest.raises(gemmtune.Error, match="is enabled"):
        gemmtune.capture(tmp_path / "app.json").__enter__()
    with pytest.raises(gemmtune.Error, match="no product"), gemmtune.capture(tmp_path / "none.json"):
        pass
    with pytest.raises(KeyError), gemmtune.capture(tmp_path / "none.json"):
        raise KeyError
    assert not (tmp_path / "none.json").exists()
    assert not gemmtune.torch.is_enabled()
