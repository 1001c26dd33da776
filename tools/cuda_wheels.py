#!/usr/bin/env python3
"""Puts CUDA headers and NVRTC from NVIDIA's Python packages into a folder: <folder>/include and lib.

usage: cuda_wheels.py FOLDER PART...      parts: runtime nvrtc nvml cublas

Only headers are kept, and the libraries that gemm-tune opens at run time. The packages are pinned to
one CUDA release. Runs the pip of the same Python; nothing is installed into that Python.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

# CUDA 13.0 update 2. cuBLAS is by far the largest (420 MB) and no smaller package has its header, so it
# comes only where no toolkit has it.
PACKAGES = {
    "runtime": ["nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.88"],
    "nvrtc": ["nvidia-cuda-nvrtc==13.0.88"],
    "nvml": ["nvidia-nvml-dev==13.0.87"],
    "cublas": ["nvidia-cublas==13.0.2.14"],
}
PREFIX = "nvidia/cu13/"


def has_gpu():
    return os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg")


def wanted(member, part):
    """The path under FOLDER that a file of a package goes to, or None."""
    if not member.startswith(PREFIX) or member.endswith("/"):
        return None
    path = member[len(PREFIX):]
    if path.startswith("include/"):
        return path
    name = os.path.basename(path)
    if path.startswith("lib/") and ".so" in name and ".alt." not in name:
        # The compiler is of use anywhere, cuBLAS only with a GPU; nobody opens the CUDA runtime.
        if part == "nvrtc" or (part == "cublas" and has_gpu()):
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
        try:
            fetch(part, folder)
        except (subprocess.CalledProcessError, OSError, zipfile.BadZipFile) as error:
            print(f"{' '.join(PACKAGES[part])}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
