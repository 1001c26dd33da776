"""Finds the fastest GEMM kernel for a problem on an NVIDIA GPU, and runs it.

gemmtune.torch has PyTorch run on tuned kernels; matmul and Matmul compute products of CUDA arrays; capture,
tune, query and explain are the commands of these names. docs/python.md is the guide.
"""

from importlib.metadata import version as _version

from .capturing import capture
from .errors import Error, UsageError
from .problems import Problem
from .products import Matmul, matmul
from .reports import Captured, Choice, Explanation, Kernel, Report, RunProblem, Tuned
from .tuning import explain, query, tune

__version__ = _version("gemmtune")

__all__ = [
    "Captured",
    "Choice",
    "Error",
    "Explanation",
    "Kernel",
    "Matmul",
    "Problem",
    "Report",
    "RunProblem",
    "Tuned",
    "UsageError",
    "capture",
    "explain",
    "matmul",
    "query",
    "tune",
]
