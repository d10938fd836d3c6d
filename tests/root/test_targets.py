#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who is sampled: a cgroup and nobody beside it, not hostprof, not a process that got a target's pid."""
import ctypes
import shutil

from hp import *
from hp_cgroup import enter, make_cgroup

FREQUENCY = 499
SAMPLES = 150


def burner_in(cgroup):
    return native("burn", 120, preexec_fn=lambda: enter(cgroup))


@test
def a_cgroup_and_nobody_else():
    need_root()
    name = f"hostprof-test-{os.getpid()}"
    cgroup = make_cgroup(name)
    below, beside = make_cgroup("below", cgroup), make_cgroup(f"{name}-beside")
    wanted = [burner_in(cgroup), burner_in(below)]
    others = [burner_in(beside), native("burn", 120)]
    recorder = Recorder("-F", FREQUENCY, "--cgroup", cgroup)
    for burner in wanted + others:
        let_run(burner.pid, FREQUENCY, {"burn": SAMPLES})
    lines = collapsed(recorder.end())
    for burner in wanted:
        came = total(of_pid(lines, burner.pid))
        expect(came >= SAMPLES, f"only {came} samples of {burner.pid}, which is in the cgroup")
    strangers = {line.process for line in lines} - {f"burn-{burner.pid}" for burner in wanted}
    expect_equal(strangers, set(), "processes that are not in the cgroup")


@test
def hostprof_is_not_in_its_own_profile():
    need_root()
    native("burn", 120, 2)
    recorder = Recorder("-F", 9973)
    # Its threads: the loop, which drains the rings, and those that read symbols.
    wait_until(lambda: cpu_seconds(recorder.pid) > 0.3, 90, "hostprof's own CPU time")
    lines = collapsed(recorder.end())
    expect(total(lines) > 1000, f"only {total(lines)} samples")
    expect_equal(total(of_pid(lines, recorder.pid)), 0, "samples of hostprof")


@test
def a_recording_ends_with_its_processes():
    """Not with the first of them; what they did until then is there."""
    need_root()
    burners = [native("burn", 120), native("burn", 120)]
    recorder = Recorder("-F", FREQUENCY, "-p", ",".join(str(burner.pid) for burner in burners))
    for burner in burners:
        let_run(burner.pid, FREQUENCY, {"burn": SAMPLES})
        expect(recorder.running(), "hostprof has ended before its processes")
        burner.signal(signal.SIGKILL)
        burner.popen.wait()
    wait_until(lambda: not recorder.running(), 30, "the end of the recording")
    lines = collapsed(recorder.end())
    for burner in burners:
        came = total(of_pid(lines, burner.pid))
        expect(came >= SAMPLES, f"only {came} samples of {burner.pid}")


# linux/sched.h: struct clone_args
CLONE_ARGS = ("flags pidfd child_tid parent_tid exit_signal stack stack_size tls set_tid "
              "set_tid_size").split()
SYS_CLONE3 = 435


class CloneArgs(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in CLONE_ARGS]


def start_with_pid(pid, argv):
    """A child that runs ARGV as process PID, which must be free; killed when the test is over."""
    wanted = ctypes.c_int(pid)
    args = CloneArgs(exit_signal=signal.SIGCHLD, set_tid=ctypes.addressof(wanted), set_tid_size=1)
    libc = ctypes.CDLL(None, use_errno=True)
    # In the child the address space is a copy: nothing but the exec may be done there.
    came = libc.syscall(SYS_CLONE3, ctypes.byref(args), ctypes.sizeof(args))
    if came == 0:
        try:
            os.execv(argv[0], argv)
        finally:
            os._exit(127)
    if came < 0:
        skip(f"no process can be given the pid {pid}: {os.strerror(ctypes.get_errno())}")
    cleanup(os.waitpid, pid, 0)
    cleanup(os.kill, pid, signal.SIGKILL)


@test
def a_pid_that_is_used_again():
    """The process that had it was the target."""
    need_root()
    other = os.path.join(temp_dir(), "reborn")
    shutil.copy(os.path.join(WORKLOADS, "burn"), other)
    first, other_target = native("burn", 120), start(["sleep", "120"])
    recorder = Recorder("-F", FREQUENCY, "-p", f"{first.pid},{other_target.pid}")
    let_run(first.pid, FREQUENCY, {"burn": SAMPLES})
    first.signal(signal.SIGKILL)
    first.popen.wait()
    start_with_pid(first.pid, [other, "120"])
    wait_until(lambda: thread_seconds(first.pid, "reborn") > 1, 90, "CPU time of the second one")
    lines = collapsed(recorder.end())
    expect_equal({line.process for line in lines}, {f"burn-{first.pid}"}, "whose samples there are")
    expect(total(lines) >= SAMPLES, f"only {total(lines)} samples")


main()
