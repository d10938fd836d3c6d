# SPDX-License-Identifier: Apache-2.0
"""Copies of the sources that may be broken, how they are compiled, and how a unit test is run."""
import functools
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
BUILD = BUILD if BUILD.is_absolute() else ROOT / BUILD
JAVA_HOME = os.environ.get("JAVA_HOME_BUILD", "/usr/lib/jvm/default-java")
VERSION = re.search(r"^VERSION\s*:=\s*(\S+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE).group(1)
COPIED = ("bpf", "userspace", "jvmagent", "vmlinux", "scripts", "tests")
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O0", "-w", "-Iuserspace", "-Ibpf", "-Ijvmagent", "-Itests",
         "-Itests/unit", f"-I{BUILD}/gen", "-isystem", f"{JAVA_HOME}/include", "-isystem", f"{JAVA_HOME}/include/linux",
         f'-DHOSTPROF_VERSION="{VERSION}"', '-DHOSTPROF_LIBDIR="/usr/local/lib"']
CC = shlex.split(os.environ.get("CC", "gcc"))
LDLIBS = shlex.split(os.environ.get("LDLIBS", ""))
# A broken walk may not end; a test takes up to 20 s on a machine that has other work.
TEST_SECONDS = 60
MEMORY_BYTES = 12 << 30


class Broken(Exception):
    """The mutant says nothing: it does not apply or does not compile."""


def copy_tree(to):
    for name in COPIED:
        source, target = ROOT / name, to / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def read_rule(path):
    """The files that a .d file of the compiler names, below the root of the tree."""
    rule = path.read_text(encoding="utf-8").replace("\\\n", " ").partition("\n")[0]
    return {os.path.relpath(w, ROOT) if os.path.isabs(w) else w for w in rule.split()[1:]}


def limit():
    """Of a mutant that asks for memory without end."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@functools.lru_cache(maxsize=None)
def container():
    """
    Namespaces where they can be had: a mutant that sends a signal must not hit others, nor may one that
    renames its output put a file in the place of /dev/null. The shell is the first process, so that a
    test has a parent.
    """
    argv = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
            "sh", "-c", 'mount --rbind /dev /dev && mount -o remount,bind,ro /dev; "$@"; exit $?', "sh"]
    return argv if os.geteuid() == 0 and not subprocess.run(argv + ["true"], check=False).returncode else []


def run_test(argv, cwd, seconds=TEST_SECONDS, contained=True, **environment):
    """What failed: names of test functions, or how the program ended; empty when all is well."""
    # HOSTPROF_BUILD is for a script: where the programs are that it needs.
    env = {**os.environ, "HOSTPROF_BUILD": str(BUILD), **environment}
    argv = container() * contained + argv
    with subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, preexec_fn=limit, start_new_session=True) as done:
        try:
            text = done.communicate(timeout=seconds)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            os.killpg(done.pid, signal.SIGKILL)
            return ["no end"]
    if done.returncode == 0:
        return []
    failed = sorted(set(re.findall(r"\[  FAILED  \] (\w+)$", text, re.MULTILINE)))
    return failed or [f"exit code {done.returncode}"]
