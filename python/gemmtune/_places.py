"""Where the programs and libraries of this package are."""

from __future__ import annotations

from pathlib import Path

from .errors import Error

_PACKAGE = Path(__file__).resolve().parent


def _file(folder: str, name: str) -> Path:
    path = _PACKAGE / folder / name
    if not path.is_file():
        raise Error(f"{path} is missing: install the wheel of gemmtune again")
    return path


def program() -> Path:
    """The gemm-tune command. Raises Error if the installation lacks it."""
    return _file("_bin", "gemm-tune")


def cublas_library() -> Path:
    """libgemmtune_cublas.so. Raises Error if the installation lacks it."""
    return _file("_lib", "libgemmtune_cublas.so")
