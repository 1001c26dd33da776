#!/usr/bin/env python3
"""Puts CUDA headers and NVRTC from NVIDIA's Python packages into a folder: <folder>/include and lib.

usage: cuda_wheels.py FOLDER PART...      parts: runtime cccl nvrtc nvml cublas

Only headers are kept, and the libraries that gemm-tune opens at run time. The packages are pinned to
one CUDA release. Runs the pip of the same Python; nothing is installed into that Python.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

# CUDA 13.0 update 2, whose NVRTC src/jit/preferred_nvrtc.h prefers. cccl are the C++ core headers
# (nv/target), which cuda_fp16.h includes. cublas is by far the largest (420 MB); tools/setup asks for it
# only where there is a GPU and no cuBLASLt.
PACKAGES = {
    "runtime": ["nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.88"],
    "cccl": ["nvidia-cuda-cccl==13.0.85"],
    "nvrtc": ["nvidia-cuda-nvrtc==13.0.88"],
    "nvml": ["nvidia-nvml-dev==13.0.87"],
    "cublas": ["nvidia-cublas==13.0.2.14"],
}
PREFIX = "nvidia/cu13/"


def wanted(member, part):
    """The path under FOLDER that a file of a package goes to, or None."""
    if not member.startswith(PREFIX) or member.endswith("/"):
        return None
    path = member[len(PREFIX):]
    if path.startswith("include/"):
        return path
    name = os.path.basename(path)
    if path.startswith("lib/") and ".so" in name and ".alt." not in name:
        # Nobody opens the CUDA runtime.
        if part in ("nvrtc", "cublas"):
            return path
    return None


def extract(wheel, part, folder):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            path = wanted(member, part)
            if path is None:
                continue
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            # Whole or not at all: an interrupted run must not look complete.
            with archive.open(member) as source, open(target + ".part", "wb") as out:
                shutil.copyfileobj(source, out)
            os.replace(target + ".part", target)


def fetch(part, folder):
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
             "--disable-pip-version-check", "--dest", temporary, *PACKAGES[part]],
            check=True)
        for wheel in sorted(os.listdir(temporary)):
            extract(os.path.join(temporary, wheel), part, folder)


def main():
    folder, parts = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    for part in parts:
        if part not in PACKAGES:
            print(f"no package is known for CUDA's {part}", file=sys.stderr)
            return 1
        try:
            fetch(part, folder)
        except (subprocess.CalledProcessError, OSError, zipfile.BadZipFile) as error:
            print(f"{' '.join(PACKAGES[part])}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
