#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attaching refuses where a signal would do harm, or nobody would answer, and says why."""
import socket

from idle_jvms import *


def refused(jvm, why, code=3, **more):
    """Attaching fails with a sentence, list and status say the same, and the JVM lives."""
    result = attach(jvm.pid, code=code, **more)
    expect_in(why, result.err, "stderr")
    row = status(jvm.pid)
    expect_equal(row["can_attach"], False, "can_attach")
    expect_in(why, row["why_not"], "why_not")
    expect_equal(row["agent"], "none", "agent")
    no_trigger_left(jvm.pid)
    lives_on(jvm)


@for_each_jdk(TRIED)
def attach_mechanism_disabled(version):
    refused(idle(jdk(version), "-XX:+DisableAttachMechanism"), "-XX:+DisableAttachMechanism")


@for_each_jdk(TRIED)
def dynamic_agents_disabled(version):
    if version == 8:
        skip("JDK 8 has no such flag")
    refused(idle(jdk(version), "-XX:-EnableDynamicAgentLoading"), "-XX:-EnableDynamicAgentLoading")


@for_each_jdk(TRIED)
def reduced_signals(version):
    """SIGQUIT would kill it; its listener runs from the start, so that none is needed."""
    home = jdk(version)
    jvm = idle(home, "-Xrs")
    attach(jvm.pid)
    agent_is_there(jvm.pid)
    lives_on(jvm)
    bare = idle(home, "-Xrs")
    os.unlink(socket_path(bare.pid))
    refused(bare, "-Xrs")


@test
def a_foreign_socket_is_refused():
    need_root()
    jvm = idle(jdk(17))
    planted = socket.socket(socket.AF_UNIX)
    planted.bind(socket_path(jvm.pid))
    planted.listen()
    cleanup(planted.close)
    cleanup(os.unlink, socket_path(jvm.pid))
    result = attach(jvm.pid, code=3)
    expect_in("is another process's socket", result.err, "stderr")
    os.chown(socket_path(jvm.pid), NOBODY, NOBODY)
    result = attach(jvm.pid, code=3)
    expect_in("is not a socket of its user 0", result.err, "stderr")
    lives_on(jvm)


@test
def a_stopped_jvm():
    need_root()
    jvm = idle(jdk(17))
    jvm.signal(signal.SIGSTOP)
    wait_until(lambda: " T " in open(f"/proc/{jvm.pid}/stat", encoding="utf-8").read(),
               what="state T")
    began = time.monotonic()
    result = attach(jvm.pid, code=1)
    expect_in("is stopped", result.err, "stderr")
    expect_between(time.monotonic() - began, 0, 2, "seconds until it gave up")
    expect_in("is stopped", status(jvm.pid)["why_not"], "why_not")
    jvm.signal(signal.SIGCONT)
    lives_on(jvm)
    attach(jvm.pid)
    agent_is_there(jvm.pid)


@test
def a_jvm_that_does_not_answer():
    """The listener serves one client at a time: a silent one keeps it from us."""
    need_root()
    jvm = idle(jdk(17))
    attach(jvm.pid)
    silent = socket.socket(socket.AF_UNIX)
    silent.connect(socket_path(jvm.pid))
    cleanup(silent.close)
    began = time.monotonic()
    result = attach(jvm.pid, "--timeout", "700ms", code=1)
    expect_between(time.monotonic() - began, 0.7, 3, "seconds until it gave up")
    expect_in("did not answer in time", result.err, "stderr")
    lives_on(jvm)
    silent.close()
    attach(jvm.pid)


def without_listener(home):
    """A JVM whose listener cannot start: the name of its socket-to-be is taken."""
    jvm = idle(home)
    taken = socket_path(jvm.pid) + ".tmp"
    os.mkdir(taken)
    cleanup(os.rmdir, taken)
    return jvm


@for_each_jdk(TRIED)
def a_jvm_that_opens_no_socket(version):
    jvm = without_listener(jdk(version))
    began = time.monotonic()
    result = attach(jvm.pid, "--timeout", "700ms", code=1)
    expect_between(time.monotonic() - began, 0.7, 3, "seconds until it gave up")
    expect_in("did not open its attach socket in time", result.err, "stderr")
    no_trigger_left(jvm.pid)
    lives_on(jvm)


@test
def interrupted_while_it_waits():
    """What was made in the JVM's directories goes although hostprof has ended."""
    need_root()
    jvm = without_listener(jdk(17))
    trigger = f"/tmp/.attach_pid{jvm.pid}"
    client = start([HOSTPROF, "attach", jvm.pid, "--timeout", "2s"], stderr=subprocess.DEVNULL)
    wait_until(lambda: os.path.exists(trigger), what="the trigger file")
    client.signal(signal.SIGINT)
    client.finish(5, code=None)
    wait_until(lambda: not os.path.exists(trigger), what="no trigger file")
    lives_on(jvm)


@test
def no_such_process():
    need_root()
    for command in ("attach", "detach", "status"):
        result = hostprof(command, 4194300, code=1)
        expect_in("there is no process 4194300", result.err, command)


@test
def no_jvm():
    need_root()
    sleeper = start(["sleep", 60])
    result = attach(sleeper.pid, code=None)
    expect(result.code in (1, 3), f"exit code {result.code}")
    expect_in("is no HotSpot JVM", result.err, "stderr")
    expect(sleeper.running(), "the process was killed")


@for_each_jdk(TRIED)
def a_copy_that_a_jvm_forked(version):
    """It has the JVM's handlers and descriptors, but nobody in it answers."""
    libjvm = glob.glob(os.path.join(jdk(version), "**/server/libjvm.so"), recursive=True)[0]
    jvm = native("forked", libjvm).wait_text("child ")
    cleanup(remove_socket, jvm.pid)
    child = children(jvm.pid)[0]
    attach(jvm.pid, code=0)
    began = time.monotonic()
    expect_in("is a copy that a JVM forked", attach(child, code=3).err, "stderr")
    expect(time.monotonic() - began < 2, "refused at once")
    expect_equal(status(child)["agent"], "none", "agent of the copy")
    expect_in("no agent is loaded", hostprof("detach", child, code=1).err, "stderr")
    agent_is_there(jvm.pid)
    hostprof("detach", jvm.pid)
    expect(jvm.running(), "the JVM lives")


@test
def a_library_that_is_no_agent():
    need_root()
    jvm = idle(jdk(17))
    path = temp_path("libnothing.so")
    with open(path, "w", encoding="ascii") as file:
        file.write("no ELF file\n")
    result = attach(jvm.pid, "--agent", path, code=1)
    expect_in("did not load the agent", result.err, "stderr")
    lives_on(jvm)


@test
def without_root():
    need_root()
    jvm = idle(jdk(17))
    place = public_dir()
    program = os.path.join(place, "hostprof")
    shutil.copy(HOSTPROF, program)
    result = run([*as_nobody(), program, "attach", jvm.pid])
    expect_equal(result.code, 3, "exit code")
    expect_match(r"run as root", result.err, "stderr")
    lives_on(jvm)


main(lanes=3)
