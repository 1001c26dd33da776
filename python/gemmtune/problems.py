"""Problems, as the command line states them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from .errors import UsageError

__all__ = ["Problem"]


@dataclass(frozen=True)
class Problem:
    """C = activation(A B + bias), with A of m x k and B of k x n. docs/cli.md has the values.

    None stands for the command's default: f32 operands, row-major, packed, aligned to 256 bytes.
    """

    m: int
    n: int
    k: int
    type: str | None = None  # f32, f16, bf16, e4m3, e5m2 or i8, of A and B
    out: str | None = None  # of C
    acc: str | None = None  # of the sums
    math: str | None = None  # ieee; of f32 operands tf32, 3xtf32, bf16x6, bf16x9, f16; of e4m3 and e5m2 fast_accum
    layout: str | None = None  # of A, B and C: t for row-major, n for column-major
    lda: int | None = None
    ldb: int | None = None
    ldc: int | None = None
    batch: int | None = None
    align: int | None = None  # bytes
    epilogue: str | None = None

    def arguments(self) -> list[str]:
        """The command's options. Raises UsageError for sizes below 1."""
        if min(self.m, self.n, self.k) < 1:
            raise UsageError(f"m, n and k have to be at least 1, not {self.m}, {self.n}, {self.k}")
        options = [f"--shape={self.m}x{self.n}x{self.k}"]
        for option in fields(self)[3:]:
            value = getattr(self, option.name)
            if value is not None:
                options.append(f"--{option.name}={value}")
        return options


def as_problem(problem: Problem | Iterable[int]) -> Problem:
    """A problem of m, n and k, where it is none yet."""
    if isinstance(problem, Problem):
        return problem
    sizes = tuple(problem)
    if len(sizes) != 3:
        raise UsageError(f"a problem is (m, n, k) or gemmtune.Problem, not {sizes!r}")
    return Problem(*sizes)
