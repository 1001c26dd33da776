"""What commands report, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Captured", "Choice", "Explanation", "Kernel", "Report", "RunProblem", "Tuned"]


def _median(time: Mapping[str, Any] | None) -> float | None:
    return None if time is None else float(time["median_us"])


@dataclass(frozen=True)
class RunProblem:
    """A problem of a program that ran on tuned kernels. Times are medians, in microseconds."""

    key: str
    own: bool  # a tuned kernel computes it
    algorithm: bool  # an algorithm of cuBLASLt's that is faster than the program's does
    what: str  # the kernel or the algorithm; or why cuBLAS
    calls: int
    own_calls: int
    algorithm_calls: int
    own_graph_calls: int  # of both, under capture
    handed_on: Mapping[str, int]  # calls that cuBLAS made all the same, by reason
    own_us: float | None
    cublas_us: float | None
    saved_us: float | None  # of all these calls together


@dataclass(frozen=True)
class Report:
    """What a program's products ran on. str() is the text that `gemm-tune run` prints."""

    calls: int
    own_calls: int
    problems: tuple[RunProblem, ...]
    others: Mapping[str, int]  # calls of products that no kernel here computes, by reason
    json: Mapping[str, Any] = field(repr=False)  # all of it; docs/cli.md lists the keys
    text: str = field(repr=False, default="")

    @property
    def saved_us(self) -> float:
        """Time saved by the problems of which both sides were timed."""
        return sum(problem.saved_us or 0.0 for problem in self.problems)

    def __str__(self) -> str:
        return self.text or "no product was seen\n"

    @staticmethod
    def of(json: Mapping[str, Any], text: str) -> Report:
        """The report of what `gemm-tune run --report` printed, as JSON and as text."""
        problems = tuple(
            RunProblem(
                key=problem["key"],
                own=problem["own"],
                algorithm=problem["algorithm"],
                what=problem["what"],
                calls=problem["calls"],
                own_calls=problem["own_calls"],
                algorithm_calls=problem["algorithm_calls"],
                own_graph_calls=problem["own_graph_calls"],
                handed_on=problem["handed_on"],
                own_us=_median(problem["own_time"]),
                cublas_us=_median(problem["cublas_time"]),
                saved_us=problem["saved_us"],
            )
            for problem in json["problems"]
        )
        others = {other["reason"]: other["calls"] for other in json["others"]}
        return Report(json["calls"], json["own_calls"], problems, others, json, text)


@dataclass(frozen=True)
class Captured:
    """What gemmtune.capture() wrote. The keys of `json` are those of `gemm-tune capture --json`."""

    suite: str | None  # the file; None: there was no problem to write
    calls: int
    keys: tuple[str, ...]  # of the problems, the most time first
    json: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Kernel:
    """A stored candidate. The keys of `json` are those of a candidate in docs/cli.md."""

    strategy: str
    config: str
    arch: str
    provenance: str  # measured, transferred or predicted
    time_us: float | None
    tflops: float | None
    json: Mapping[str, Any] = field(repr=False)

    @staticmethod
    def of(json: Mapping[str, Any] | None) -> Kernel | None:
        """The kernel of a candidate; None of null."""
        if json is None:
            return None
        return Kernel(
            strategy=json["strategy"],
            config=json["config"],
            arch=json["arch"],
            provenance=json["provenance"],
            time_us=json["time_us"],
            tflops=json["tflops"],
            json=json,
        )


@dataclass(frozen=True)
class Tuned:
    """A problem that was tuned, or is stored."""

    key: str
    best: Kernel | None
    vendor_first: Kernel | None  # what cuBLASLt's heuristic names first
    vendor_best: Kernel | None  # the fastest of cuBLASLt's algorithms
    json: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Choice:
    """What the runtime library would run. docs/runtime.md says what decides."""

    route: str  # kernel or cublaslt
    strategy: str | None
    config: str | None
    provenance: str | None
    expected_us: float | None
    reason: str

    @staticmethod
    def of(json: Mapping[str, Any]) -> Choice:
        """The choice of the keys that gemmtune_explain has for one."""
        return Choice(
            json["route"],
            json["strategy"],
            json["config"],
            json["provenance"],
            json["expected_us"],
            json["reason"],
        )


@dataclass(frozen=True)
class Explanation:
    """What the runtime library would run for a problem, and what next if that is not available."""

    key: str
    chosen: Choice
    alternatives: tuple[Choice, ...]
    json: Mapping[str, Any] = field(repr=False)
