"""A fake GPU, a fake cuBLAS and results that were tuned for them, in this process."""

from __future__ import annotations

import ctypes
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest


class Gpu:
    """What tests/python/fixture.cc has."""

    def __init__(self, path: str, folder: Path) -> None:
        self.library = ctypes.CDLL(path)
        pointer = ctypes.c_void_p
        self.library.gemmtune_fixture_make.argtypes = (ctypes.c_char_p,)
        self.library.gemmtune_fixture_sgemm.argtypes = (ctypes.c_int, pointer, pointer, pointer)
        self.library.gemmtune_fixture_cublas_calls.restype = ctypes.c_uint64
        self.library.gemmtune_fixture_launches.restype = ctypes.c_uint64
        self.library.gemmtune_fixture_stream.restype = ctypes.c_void_p
        self.library.gemmtune_fixture_make(str(folder).encode())
        self.folder = folder

    def sgemm(self, m: int, a: int, b: int, c: int) -> None:
        """C = A B by cuBLAS: m x 24 x 24, all column-major."""
        assert self.library.gemmtune_fixture_sgemm(m, a, b, c) == 0

    def cublas_calls(self) -> int:
        return int(self.library.gemmtune_fixture_cublas_calls())

    def stream(self) -> int:
        return int(self.library.gemmtune_fixture_stream())

    def launches(self) -> int:
        return int(self.library.gemmtune_fixture_launches())


@pytest.fixture(scope="session")
def _fake_gpu(tmp_path_factory: pytest.TempPathFactory) -> Gpu:
    path = os.environ.get("GEMM_TUNE_TEST_FIXTURE")
    if not path:
        pytest.skip("GEMM_TUNE_TEST_FIXTURE does not name the library of tests/python/fixture.cc")
    return Gpu(path, tmp_path_factory.mktemp("tuned"))


@pytest.fixture
def gpu(_fake_gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """The fake GPU, with its results in the place of the usual ones."""
    monkeypatch.setenv("GEMM_TUNE_DB", str(_fake_gpu.folder / "tuned.db"))
    monkeypatch.setenv("GEMM_TUNE_CACHE_DIR", str(_fake_gpu.folder / "cache"))
    monkeypatch.setenv("GEMM_TUNE_NVRTC", "/nowhere")
    return _fake_gpu


@pytest.fixture
def torch_stand_in(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module in PyTorch's place, for the parts that only look at its names."""
    torch = types.ModuleType("torch")
    torch.version = types.SimpleNamespace(cuda="13.0")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    return torch


@pytest.fixture
def disabled_afterwards() -> Iterator[None]:
    """Ends what a test has enabled, and forgets what it counted."""
    yield
    import gemmtune.torch

    gemmtune.torch.disable()
    gemmtune.torch._process.folder = None
