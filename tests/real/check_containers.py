#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-containers: a JVM in a container of a real docker, and of a real podman: found, unwound, named, labelled.

usage: check_containers.py [NAME…]

A runtime that is not there (Debian's docker.io; podman and runc) is skipped. Where no daemon of docker answers, one is started.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "root"))

from container_judge import check_recording, check_row
from hp import *

UID, NAME, IMAGE = 12345, f"hostprof-test-{os.getpid()}", "localhost/hostprof-test:1"
DOCKER = "/usr/bin/docker"
MOUNTS = ("/usr:/usr:ro", "/etc:/etc:ro")


def image_tar():
    """A root that has nothing but places for what is bound into it."""
    root, tar = temp_dir(), temp_path("image.tar")
    for name in ("usr", "etc", "tmp", "opt/jdk", "opt/classes"):
        os.makedirs(os.path.join(root, name))
    for name in ("bin", "lib", "lib64"):
        os.symlink(f"usr/{name}", os.path.join(root, name))
    run(["tar", "-C", root, "-cf", tar, "."], code=0)
    return tar


def classes():
    place = temp_dir()
    os.chmod(place, 0o755)
    for path in glob.glob(os.path.join(WORKLOADS, "*.class")):
        shutil.copy(path, place)
    return place


def arguments(version):
    mounts = [*MOUNTS, f"{os.path.realpath(jdk(version))}:/opt/jdk:ro", f"{classes()}:/opt/classes:ro"]
    return ["-d", "--name", NAME, "--network", "none", "--read-only", "--tmpfs", "/tmp", "--user", f"{UID}:{UID}",
            *[part for mount in mounts for part in ("-v", mount)],
            IMAGE, "/opt/jdk/bin/java", "-Xmx64m", "-cp", "/opt/classes", "Chain", "90"]


def check_jvm(runtime, version, *more):
    """RUNTIME: the command and its options; MORE: options of `run`."""
    run([*runtime, "import", image_tar(), IMAGE], timeout=120, code=0)
    cleanup(run, [*runtime, "rmi", "-f", IMAGE])
    number = run([*runtime, "run", *more, *arguments(version)], timeout=120, code=0).out.split()[-1]
    cleanup(run, [*runtime, "rm", "-f", NAME])
    pid = int(run([*runtime, "inspect", "-f", "{{.State.Pid}}", NAME], code=0).out)
    wait_until(lambda: "ready" in run([*runtime, "logs", NAME]).out, 60, "the JVM")
    check_row(pid, UID, number, NAME, IMAGE)
    check_recording(pid, number, NAME, IMAGE)


def daemon():
    """A docker that answers: its command."""
    if not os.path.exists(DOCKER):
        skip("no docker")
    if run([DOCKER, "info"]).code == 0:
        return [DOCKER]
    if not os.path.exists("/usr/sbin/dockerd"):
        skip("no dockerd")
    place = temp_dir()
    socket = f"unix://{place}/socket"
    it = start(["/usr/sbin/dockerd", "--exec-root", f"{place}/exec", "-p", f"{place}/pid", "-H", socket, "--iptables=false", "--ip6tables=false",
                "--bridge=none", "--exec-opt", "native.cgroupdriver=cgroupfs"], stderr=subprocess.DEVNULL)
    cleanup(it.finish)
    cleanup(it.signal, signal.SIGTERM)
    wait_until(lambda: run([DOCKER, "-H", socket, "info"]).code == 0, 30, "dockerd")
    return [DOCKER, "-H", socket]


@test
def docker():
    need_root()
    check_jvm(daemon(), 17)


@test
def podman():
    need_root()
    if not shutil.which("podman") or not shutil.which("runc"):
        skip("no podman with runc")
    check_jvm(["podman", "--runtime", "runc", "--cgroup-manager", "cgroupfs"], 17, "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000")


main()
