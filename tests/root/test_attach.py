#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attaching: it works across users and namespaces."""
import socket
import stat

import codemap
from idle_jvms import *


@for_each_jdk(TRIED)
def attach_again_and_detach(version):
    jvm = idle(jdk(version))
    attach(jvm.pid)
    no_trigger_left(jvm.pid)
    agent_is_there(jvm.pid)
    attach(jvm.pid)
    agent_is_there(jvm.pid)
    hostprof("detach", jvm.pid)
    expect_equal(status(jvm.pid)["agent"], "none", "agent after detach")
    lives_on(jvm)


@for_each_jdk(TRIED)
def another_users_jvm(version):
    home = jdk(version)
    if not os.access(home, os.R_OK):
        skip("the JDK is not readable for others")
    place = public_dir()
    jvm = idle(home, prefix=as_nobody(), classes=place)
    row = status(jvm.pid)
    expect_equal(row["uid"], NOBODY, "uid")
    expect_equal(row["can_attach"], True, "can_attach")
    attach(jvm.pid, "--agent", os.path.join(place, "libhostprof-agent.so"))
    agent_is_there(jvm.pid)
    expect_equal(os.stat(socket_path(jvm.pid)).st_uid, NOBODY, "owner of the socket")
    no_trigger_left(jvm.pid)
    lives_on(jvm)


@test
@alone
def an_agent_that_its_user_cannot_read_is_copied():
    need_root()
    place = public_dir()
    hidden = os.path.join(temp_dir(), "libhostprof-agent.so")  # the directory has mode 0700
    shutil.copy(AGENT, hidden)
    jvm = idle(jdk(17), prefix=as_nobody(), classes=place)
    attach(jvm.pid, "--agent", hidden)
    agent_is_there(jvm.pid)
    copy = mapped_agent(jvm.pid)
    expect_match(r"^/tmp/libhostprof-agent-[0-9a-f]{16}\.so$", copy, "where the copy is")
    cleanup(os.unlink, copy)
    info = os.stat(copy)
    expect_equal(info.st_uid, NOBODY, "owner of the copy")
    expect_equal(stat.S_IMODE(info.st_mode) & 0o022, 0, "write permission for others")
    with open(copy, "rb") as one, open(AGENT, "rb") as other:
        expect(one.read() == other.read(), "the copy differs from the agent")
    attach(jvm.pid, "--agent", hidden)
    expect_equal(os.stat(copy).st_ino, info.st_ino, "inode of the copy after the second attach")


def mapped_agent(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        return expect_match(r"\S*libhostprof-agent\S*", maps.read(), "mappings").group(0)


@test
@alone
def a_planted_copy_is_not_trusted():
    need_root()
    place = public_dir()
    hidden = os.path.join(temp_dir(), "libhostprof-agent.so")
    shutil.copy(AGENT, hidden)
    jvm = idle(jdk(17), prefix=as_nobody(), classes=place)
    attach(jvm.pid, "--agent", hidden)
    copy = mapped_agent(jvm.pid)
    cleanup(os.unlink, copy)
    jvm.stop()
    os.unlink(copy)
    os.symlink("/etc/passwd", copy)
    os.lchown(copy, NOBODY, NOBODY)
    jvm = idle(jdk(17), prefix=as_nobody(), classes=place)
    attach(jvm.pid, "--agent", hidden)
    expect(stat.S_ISREG(os.lstat(copy).st_mode), "the link was followed or kept")
    agent_is_there(jvm.pid)


@test
def a_stale_socket_does_not_hinder():
    need_root()
    jvm = idle(jdk(17))
    left = socket.socket(socket.AF_UNIX)
    left.bind(socket_path(jvm.pid))  # nobody listens: as a dead JVM leaves it
    left.close()
    attach(jvm.pid)
    agent_is_there(jvm.pid)
    lives_on(jvm)


@test
def options_go_to_the_agent_that_runs():
    """Also when it is another build's, from another place."""
    need_root()
    first = os.path.join(public_dir(), "libhostprof-agent.so")
    jvm = idle(jdk(17), f"-agentpath:{first}")
    agent_is_there(jvm.pid)
    attach(jvm.pid)
    hostprof("detach", jvm.pid)
    expect_equal(status(jvm.pid)["agent"], "none", "agent after detach")
    expect_equal(mapped_agent(jvm.pid), first, "the library")
    lives_on(jvm)


@test
def private_tmp():
    need_root()
    agent_dir = temp_dir()
    shutil.copy(AGENT, agent_dir)
    classes = "/var/tmp/" + os.path.basename(agent_dir)
    shutil.copytree(public_dir(), classes)
    cleanup(shutil.rmtree, classes, True)
    outer = start(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /tmp && exec \"$@\"", "sh",
                   os.path.join(jdk(17), "bin/java"), "-Xmx32m", "-cp", classes, "Idle", 600])
    outer.wait_text("ready")
    pid = java_below(outer.pid)
    attach(pid, "--agent", os.path.join(agent_dir, "libhostprof-agent.so"))
    expect_match(r"^/tmp/libhostprof-agent-[0-9a-f]{16}\.so$", mapped_agent(pid), "the copy")
    expect(os.path.exists(f"/proc/{pid}/root{mapped_agent(pid)}"), "no copy in its own /tmp")
    expect(not os.path.exists(mapped_agent(pid)), "the copy came into our /tmp")
    expect(not os.path.exists(socket_path(pid)), "a socket in our /tmp")
    agent_is_there(pid)
    no_trigger_left(pid)


@test
def pid_namespace():
    need_root()
    outer = start(["unshare", "--pid", "--fork", "--mount-proc", os.path.join(jdk(17), "bin/java"),
                   "-Xmx32m", "-cp", WORKLOADS, "Idle", 60])
    outer.wait_text("ready")
    pid = java_below(outer.pid)
    cleanup(os.kill, pid, signal.SIGKILL)
    attach(pid)
    agent_is_there(pid)
    expect(os.path.exists("/tmp/.java_pid1"), "its socket is not called by its own pid")
    cleanup(os.unlink, "/tmp/.java_pid1")
    no_trigger_left(pid, 1)
    lives_on(outer)


@test
def time_namespace():
    """Its clock is a day ahead, and so has the lease to be, or the agent does nothing."""
    need_root()
    outer = start(["unshare", "--time", "--monotonic", 86400, "--fork",
                   os.path.join(jdk(17), "bin/java"), "-Xmx32m", "-cp", WORKLOADS, "Idle", 60])
    outer.wait_text("ready")
    pid = children(outer.pid)[0]
    cleanup(remove_socket, pid)
    cleanup(os.kill, pid, signal.SIGKILL)
    attach(pid)
    recorder = start([HOSTPROF, "record", "-p", pid, "--agent=always", "-d", 1, "-o",
                      temp_path("out.jfr")], stderr=subprocess.DEVNULL)
    recorder.finish()
    code_map = codemap.CodeMap(pid)
    if code_map["lease_pid"] != recorder.pid:
        skip("another recording of this host has the lease")
    expect_equal(code_map["replays"], 1, "replays")


@test
def user_namespace():
    need_root()
    place = public_dir()
    outer = start([*as_nobody(), "unshare", "--user", "--map-root-user",
                   os.path.join(jdk(17), "bin/java"), "-Xmx32m", "-cp", place, "Idle", 600])
    try:
        outer.wait_text("ready")
    except Failed:
        outer.finish(code=1)
        skip("users may not make namespaces here")
    pid = java_below(outer.pid)
    attach(pid, "--agent", os.path.join(place, "libhostprof-agent.so"))
    agent_is_there(pid)
    lives_on(outer)


@test
def a_root_of_its_own():
    """libjvm.so, the JDK and /tmp are seen through /proc/PID/root only."""
    need_root()
    root = temp_dir()
    script = """set -e; r=$1; shift
        mkdir -p $r/usr $r/etc $r/opt/jdk $r/opt/classes $r/proc $r/dev $r/tmp
        for d in lib lib64 bin; do ln -s usr/$d $r/$d; done
        mount --bind /usr $r/usr; mount --bind /etc $r/etc; mount --bind /dev $r/dev
        mount --bind "$1" $r/opt/jdk; mount --bind "$2" $r/opt/classes
        mount -t proc proc $r/proc
        exec chroot $r /opt/jdk/bin/java -Xmx32m -cp /opt/classes Idle 600"""
    home = os.path.realpath(jdk(17))
    outer = start(["unshare", "-m", "sh", "-c", script, "sh", root, home, WORKLOADS])
    outer.wait_text("ready")
    pid = java_below(outer.pid)
    expect_equal(os.readlink(f"/proc/{pid}/root"), root, "its root")
    expect_match(r"^17\.", status(pid)["version"], "version")
    attach(pid)
    expect_match(r"libhostprof-agent-[0-9a-f]{16}\.so", mapped_agent(pid), "the copy")
    agent_is_there(pid)
    lives_on(outer)


# Runs java in mounts of its own.
IN_MOUNTS = """set -e; java=$1; shift
    mount --bind "$1" /mnt; shift
    for mount; do mount $mount; done
    cd /tmp
    exec "$java" -Xmx32m -cp /mnt Idle 600"""


def in_mounts(*mounts):
    java_path = os.path.join(os.path.realpath(jdk(17)), "bin", "java")
    jvm = start(["unshare", "-m", "sh", "-c", IN_MOUNTS, "sh", java_path, WORKLOADS, *mounts])
    return jvm.wait_text("ready")


@test
def a_jvm_without_room_is_told_before():
    """Where no file can be made or loaded from: `list` and `status` say so, nothing is tried, and attaching says the same."""
    need_root()
    read_only = in_mounts("-t tmpfs -o ro,size=4k tmpfs /tmp")
    no_exec = in_mounts("-t tmpfs -o noexec tmpfs /tmp", "-t tmpfs -o noexec tmpfs /var/tmp", "-t tmpfs -o noexec tmpfs /dev/shm")
    hidden = in_mounts(f"--bind /dev/null {AGENT}", "-t tmpfs -o noexec tmpfs /tmp", "-t tmpfs -o noexec tmpfs /var/tmp",
                       "-t tmpfs -o noexec tmpfs /dev/shm")
    listed = {row["pid"]: row for row in json_of("list")}
    for jvm, why in (read_only, "cannot create .attach_pid"), (hidden, "there is no place for the agent"):
        expect_equal(listed[jvm.pid]["can_attach"], False, "can_attach")
        expect_in(why, listed[jvm.pid]["why_not"], "why not")
        expect_in(why, status(jvm.pid)["why_not"], "why not")
        expect(attach(jvm.pid, code=None).code != 0, "attached all the same")
        left = [name for name in os.listdir(f"/proc/{jvm.pid}/root/tmp") if name != "hsperfdata_root"]
        expect_equal(left, [], "files in its /tmp")
        lives_on(jvm)
    # This one sees our own file, unless that is below the other /tmp.
    if AGENT.startswith("/tmp/"):
        return
    expect_equal(listed[no_exec.pid]["can_attach"], True, f"can_attach: {listed[no_exec.pid]['why_not']}")
    attach(no_exec.pid)
    agent_is_there(no_exec.pid)
    lives_on(no_exec)


@for_each_jdk(TRIED)
def a_jvm_that_is_still_starting(version):
    """Tried from the first moment on: each try attaches, or says why not and does no harm."""
    for delay in range(0, 60, 6):
        jvm = start([os.path.join(jdk(version), "bin", "java"), "-Xmx32m", "-cp", WORKLOADS, "Idle",
                     600])
        time.sleep(delay / 1000)
        wait_until(lambda: attach(jvm.pid, code=None).code == 0, what="attach")
        jvm.wait_text("tick 3")
        expect_not_in("Full thread dump", jvm.text, "the JVM's output")
        agent_is_there(jvm.pid)
        jvm.stop()


main(lanes=3)
