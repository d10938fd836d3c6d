# SPDX-License-Identifier: Apache-2.0
"""JDKs of this machine, and JVMs beside a test."""
import glob
import json
import os
import re

from hp_expect import skip
from hp_process import WORKLOADS, Process, run
from hp_run import ROOT, need_root, temp_dir, test

JDKS = [8, 11, 17, 21, 25, 26, 27, 28]
# What `make setup` leaves on Debian 12: its own, and sid's by scripts/get-jdks.sh.
SETUP_JDKS = [17, 25]
# Where setup and `make check-jdks` put them.
FETCHED = os.path.join(ROOT, ".jdks")


def find_jdk(version):
    """Home of a JDK of this feature version, or None."""
    places = [*os.environ.get("HOSTPROF_JDKS", "").split(":"), "/usr/lib/jvm", FETCHED]
    for place in filter(None, places):
        for home in sorted(glob.glob(os.path.join(place, f"*{version}*"))):
            if os.access(os.path.join(home, "bin", "java"), os.X_OK) and \
               _feature_version(home) == version:
                return home
    return None


def jdk(version):
    """As find_jdk(), but skip the test when there is none."""
    return find_jdk(version) or skip(f"no JDK {version} in /usr/lib/jvm or {FETCHED}")


def _feature_version(home):
    try:
        with open(os.path.join(home, "release"), encoding="utf-8") as release:
            found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release.read(), re.MULTILINE)
    except OSError:
        # Debian's 8 has no such file; get-jdks.sh names directories by their version.
        name = os.path.basename(home)
        return int(name) if name.isdigit() else None
    return int(found.group(1)) if found else None


def _libjvm(home):
    return next(iter(glob.glob(os.path.join(home, "**", "server", "libjvm.so"), recursive=True)), None)


def _debug_file_in(directory, home):
    """Where a debug file of a JDK's libjvm would lie below DIRECTORY."""
    found = re.search(r"Build ID: (..)([0-9a-f]+)", run(["readelf", "-n", _libjvm(home)]).out)
    return os.path.join(directory, ".build-id", found[1], found[2] + ".debug")


def _debug_directory(version):
    """What get-jdks.sh has unpacked of the debug package of a JDK whose libjvm has no symbols; None without one."""
    home = jdk(version)
    for place in filter(None, [*os.environ.get("HOSTPROF_JDKS", "").split(":"), FETCHED]):
        directory = os.path.join(place, "debug", str(version))
        if os.path.exists(_debug_file_in(directory, home)):
            return directory
    return None


def has_tracer(version):
    """Whether allocations can be seen without an agent: only 8 of Debian has its symbols in another package."""
    return version != 8 or os.path.exists(_debug_file_in("/usr/lib/debug", jdk(8))) or bool(_debug_directory(8))


def with_debug_files(version, argv):
    """The command, in a mount namespace of its own whose debug files are those that were fetched for this JDK."""
    directory = _debug_directory(version)
    if not directory:
        return argv
    return ["unshare", "-m", "sh", "-c", f"mkdir -p /usr/lib/debug && mount --bind {directory} /usr/lib/debug && exec \"$@\"",
            "sh", *argv]


def for_each_jdk(versions):
    """A function as one test per version, under its name and the version, which it is given."""
    def register(function):
        for version in versions:
            def one(version=version):
                need_root()
                function(version)
            one.__name__ = f"{function.__name__}_{version}"
            one.alone = getattr(function, "alone", False)
            test(one)
        return function
    return register


# A JVM that runs for a few seconds is not worth its best code: half of its CPU is gone.
SHORT_LIVED = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")


def jfr_tool(version, *args, code=0):
    """What a JDK's own jfr tool says."""
    return run([os.path.join(jdk(version), "bin", "jfr"), *SHORT_LIVED, *args], code=code, timeout=120)


def read_by_jdk(path, *types, version=25, depth=5):
    """Events of these types by the JDK's own reader, which knows what their fields are; so many frames of each."""
    out = jfr_tool(version, "print", "--json", "--stack-depth", str(depth), "--events", ",".join(types), path).out
    return [{"type": event["type"], **event["values"]} for event in json.loads(out)["recording"]["events"]]


def java(version, main_class, *args, flags=(), ready="ready", **more):
    """Start a Java workload; VERSION is a number or a JDK's home. Waits for its "ready"."""
    home = jdk(version) if isinstance(version, int) else version
    more.setdefault("cwd", temp_dir())  # where it leaves its word when it crashes
    process = Process([os.path.join(home, "bin", "java"), *flags, "-cp", WORKLOADS, main_class,
                       *args], **more)
    return process.wait_text(ready) if ready else process


def numbered_classes(name, count):
    """A directory with the workload NAME, whose name ends in 00, under so many numbers: each JVM of a crowd has a class that no other one has."""
    place = temp_dir()
    os.chmod(place, 0o755)
    with open(os.path.join(WORKLOADS, f"{name}.class"), "rb") as file:
        code = file.read()
    for i in range(count):
        other = f"{name.removesuffix('00')}{i:02}"
        with open(os.path.join(place, f"{other}.class"), "wb") as file:
            file.write(code.replace(name.encode(), other.encode()))
    return place
