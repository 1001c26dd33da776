"""The command of the package, and what calls it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gemmtune
from gemmtune import _command, _places


@pytest.fixture(autouse=True)
def _own_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not those of who runs the tests."""
    monkeypatch.delenv("GEMM_TUNE_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_command_of_the_environment_is_gemm_tune() -> None:
    script = Path(sys.executable).parent / "gemm-tune"
    done = subprocess.run([script, "--version"], capture_output=True, text=True)
    assert done.stdout == f"gemm-tune {gemmtune.__version__}\n"
    done = subprocess.run([script, "no-such-command"], capture_output=True, text=True)
    assert done.returncode == 2


def test_the_command_finds_its_library() -> None:
    script = Path(sys.executable).parent / "gemm-tune"
    done = subprocess.run([script, "run", "--", "true"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "no product was seen" in done.stderr


def test_what_the_command_refuses_is_an_error_with_its_words() -> None:
    with pytest.raises(gemmtune.UsageError, match="no-such-command"):
        _command.run(["no-such-command"])
    with pytest.raises(ValueError, match="needs three sizes"):
        _command.run(["query", "--shape", "1x2"])


def test_an_installation_that_lacks_a_file_says_which(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_places, "_PACKAGE", tmp_path)
    with pytest.raises(gemmtune.Error, match="gemm-tune is missing: install the wheel"):
        gemmtune.query((8, 8, 8))


def test_shipped_results_are_found() -> None:
    results = gemmtune.query((5120, 5120, 4096), arch="sm_90")
    assert results
    best = results[0].best
    assert best is not None
    assert best.provenance == "measured"
    assert best.time_us is not None and best.time_us > 0
    assert best.strategy and best.config
    assert results[0].key == "f32/f32/ieee/ttt/5120x5120x4096"
    assert results[0].vendor_best is not None


def test_what_is_not_stored_is_an_empty_answer() -> None:
    assert gemmtune.query(gemmtune.Problem(3, 5, 7, type="f16")) == []


def test_explanations() -> None:
    problem = gemmtune.Problem(5120, 5120, 4096)
    explanation = gemmtune.explain(problem, device="H200")
    assert explanation.key == "f32/f32/ieee/ttt/5120x5120x4096"
    assert explanation.chosen.route == "kernel"
    without = gemmtune.explain(gemmtune.Problem(3, 5, 7), device="H200", vendor=False)
    assert without.chosen.route == "kernel"
    assert without.chosen.reason
    with pytest.raises(gemmtune.Error, match="nothing computes e4m3/f32/ieee/tnt/64x64x64 on .*4090"):
        gemmtune.explain(
            gemmtune.Problem(64, 64, 64, type="e4m3", layout="tnt"), device="4090", vendor=False
        )


def test_problems_that_are_none() -> None:
    with pytest.raises(gemmtune.UsageError, match="at least 1"):
        gemmtune.query((0, 8, 8))
    with pytest.raises(gemmtune.UsageError, match=r"\(m, n, k\)"):
        gemmtune.query((8, 8))
    with pytest.raises(gemmtune.UsageError, match="f99"):
        gemmtune.query(gemmtune.Problem(8, 8, 8, type="f99"))
    with pytest.raises(gemmtune.UsageError, match="either a problem or a suite"):
        gemmtune.tune()


def test_tuning_without_a_gpu_predicts(tmp_path: Path) -> None:
    try:
        tuned = gemmtune.tune((256, 192, 128), arch="sm_80", candidates=2, db=tmp_path / "tuned.db")
    except gemmtune.UsageError as error:
        if "NVRTC" in str(error):
            pytest.skip("there is no NVRTC")
        raise
    assert len(tuned) == 1
    assert tuned[0].best is not None
    assert tuned[0].best.arch.startswith("sm_80")
    assert gemmtune.query((256, 192, 128), db=tmp_path / "tuned.db")


def test_devices_reach_the_command() -> None:
    with pytest.raises(gemmtune.UsageError, match="--device and --devices"):
        gemmtune.tune((64, 64, 64), device=0, devices=[0, 1])
    with pytest.raises(gemmtune.UsageError, match="--devices 7,x"):
        gemmtune.tune((64, 64, 64), devices="7,x")


def test_stubs_and_marker_are_installed() -> None:
    package = Path(gemmtune.__file__).parent
    assert (package / "py.typed").is_file()
    assert (package / "_core.pyi").is_file()
    assert shutil.which("gemm-tune", path=str(Path(sys.executable).parent))
