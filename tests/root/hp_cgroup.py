# SPDX-License-Identifier: Apache-2.0
"""Cgroups that a test makes."""
import os

from hp_expect import skip
from hp_run import cleanup


def make_cgroup(name, below=None):
    """A directory in the cgroup2 tree that goes when the test is over."""
    with open("/proc/mounts", encoding="utf-8") as mounts:
        trees = [line.split()[1] for line in mounts if line.split()[2] == "cgroup2"]
    if not trees:
        skip("no cgroup2 tree is mounted")
    path = os.path.join(below or trees[0], name)
    try:
        os.mkdir(path)
    except OSError as error:
        skip(f"no cgroup can be made: {error}")
    cleanup(os.rmdir, path)
    return path


def enter(cgroup, pid=0):
    """This process, or another one, is in it from now on."""
    with open(os.path.join(cgroup, "cgroup.procs"), "w", encoding="ascii") as procs:
        procs.write(str(pid))
