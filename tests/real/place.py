# SPDX-License-Identifier: Apache-2.0
"""Where `make check-real` keeps what it fetched, and small helpers about files."""
import os
import shutil
import sys

REAL = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(REAL), "root"))

from hp import BUILD  # noqa: E402  (the path is set above)

PLACE = os.path.join(BUILD, "real")


def write_file(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


__all__ = ["BUILD", "REAL", "PLACE", "os", "shutil", "write_file"]
