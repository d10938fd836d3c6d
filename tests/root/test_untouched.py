#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A JVM that lets nobody in, of another user: whole stacks, and nothing is done to it.

The program is one made at random, so that its stacks can be judged (test_random.py).
"""
import random

import gates
from hp import *
from random_judge import LineJudge, compiled, judge_pid, print_row
from random_program import Program

NOBODY = 65534
# Of the JVM: on a busy machine they take long.
CPU_SECONDS = 6
TRACED_SECONDS = 3
# Samples and bad ones by version, of the tests that ran in this process.
cells = {}
FLAGS = ["-Xrs", "-XX:+DisableAttachMechanism", "-XX:-UsePerfData"]
# Whatever reaches into another process, or tells it something.
FORBIDDEN = ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal",
             "connect", "ptrace", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
             "setns"]
OPENS = ["open", "openat", "openat2", "creat", "mkdir", "mkdirat", "mknod", "mknodat", "unlink",
         "unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat"]
READS = ["process_vm_readv"]
WRITING = r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND"

seed = int(os.environ.get("HOSTPROF_SEED") or random.randrange(2**31))


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def start_shy(version, directory):
    """The JVM, its output in files of its own."""
    home = jdk(version)
    allowed = ["--enable-native-access=ALL-UNNAMED"] if version > 21 else []
    place = os.path.join(directory, "cwd")
    os.mkdir(place)
    os.chown(place, NOBODY, NOBODY)
    errors = open(os.path.join(directory, "stderr"), "wb")  # closed with the process
    cleanup(errors.close)
    jvm = start([f"{home}/bin/java", "-Xmx64m", "-XX:+UseSerialGC", *FLAGS, *allowed, "-cp", directory,
                 "made.Plan", f"{directory}/libmade.so", 500], stdin=subprocess.PIPE, cwd=place,
                stderr=errors, preexec_fn=become_nobody)
    return jvm.wait_text("ready")


def file_mappings(pid):
    """What of files is mapped where; the code that is compiled meanwhile is in no file."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return [row.rstrip("\n") for row in maps if re.search(r" /\S|\[vdso\]", row)]


def state_of(jvm, directory):
    """All that a visitor might change."""
    with open(f"/proc/{jvm.pid}/status", encoding="utf-8") as status:
        masks = re.findall(r"^(?:Sig\w+|TracerPid|Uid):.*$", status.read(), re.MULTILINE)
    files = [name for place in (f"{directory}/cwd", "/tmp") for name in sorted(os.listdir(place))
             if re.search(rf"\.(?:attach_pid|java_pid){jvm.pid}$", name) or place != "/tmp"]
    return {"mappings": file_mappings(jvm.pid), "signals and tracer": masks, "files": files,
            "stdout": jvm.text, "stderr": os.path.getsize(f"{directory}/stderr")}


def record_traced(jvm):
    """What strace sees of a hostprof that records the whole host."""
    path, log = temp_path("x.jfr"), temp_path("strace")
    recorder = start(["strace", "-f", "--seccomp-bpf", "--decode-fds=pidfd", "-o", log,
                      "-e", f"trace={','.join(FORBIDDEN + OPENS + READS)}", HOSTPROF, "record", "-F", 997,
                      "--max-depth", 2048, "-d", TRACED_SECONDS, "-o", path],
                     stderr=subprocess.PIPE)
    recorder.finish(120)
    with open(log, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def expect_untouched(calls, jvm, directory):
    """Of all that hostprof asked of the kernel."""
    expect(len(calls) > 20, f"strace saw only {len(calls)} calls")
    # kill(pid, 0) asks whether a process is alive; of this one not even that is asked. Who forks its brokers, and its
    # readers, are ended by a signal: processes that are in the trace themselves, or gone.
    own = "|".join({call.split()[0] for call in calls} - {str(jvm.pid)})
    bad = [call for call in calls if re.match(rf"\d+ +(?:{'|'.join(FORBIDDEN)})\(", call) and
           not re.match(rf"\d+ +kill\((?:(?!{jvm.pid},)\d+, 0\)|(?:{own}), SIGKILL)", call) and
           not re.match(rf"\d+ +pidfd_send_signal\(\d+<(?:pid:(?:{own})|anon_inode:\[pidfd\])>, SIGKILL,", call)]
    expect(not bad, f"hostprof reached for others: {bad[:5]}")
    expect(any(f"process_vm_readv({jvm.pid}," in call for call in calls),
           "the JVM's memory was never read: the test proves nothing")
    places = rf"/proc/{jvm.pid}/|{re.escape(directory)}|\.(?:attach|java)_pid"
    # Bytes of its memory are no places; strace shows the first of what was read.
    calls = [call for call in calls if re.search(places, call) and not re.match(r"\d+ +process_vm_readv\(", call)]
    bad = [call for call in calls if re.search(WRITING, call) or not re.match(r"\d+ +open", call)]
    expect(not bad, f"hostprof wrote where the JVM is: {bad[:5]}")


def leaves_alone(version):
    need_root()
    if not shutil.which("strace"):
        skip("no strace on this host")
    print(f"# again with HOSTPROF_SEED={seed}")
    program = Program(seed, deep=False)
    directory = compiled(program, temp_dir())
    os.chmod(directory, 0o755)
    jvm = start_shy(version, directory)
    before = state_of(jvm, directory)
    calls = record_traced(jvm)
    expect_untouched(calls, jvm, directory)
    # Below strace hostprof is too slow for the first samples of deep stacks: whole they must be without.
    recorder = Recorder("-F", 997, "--max-depth", 2048)
    until = cpu_seconds(jvm.pid) + CPU_SECONDS
    wait_until(lambda: cpu_seconds(jvm.pid) >= until, 150, "CPU time of the JVM", step=0.1)
    path = recorder.end()
    expect_equal(state_of(jvm, directory), before, "state of the JVM")
    row = judge_pid(LineJudge(program, directory), collapsed(path, "--annotate", "-t"), jvm.pid)
    print_row(f"JDK {version}", row)
    lost = gates.dropped(read_json(recorder.stats_path))
    count, bad = row.kinds.total() + lost, row.kinds["bad"] + lost
    cells[version] = count, bad
    print(f"# {bad} of {count} are bad, {lost} of them lost, late or dropped; at most {gates.most_bad(count)}")
    expect(count > 300 * CPU_SECONDS, f"only {count} samples")
    expect(bad <= gates.most_bad(count), f"{bad} of {count} are bad")
    jvm.popen.stdin.close()
    said = jvm.finish()
    expect_equal(said, before["stdout"], "what it printed")


@test
def untouched_17():
    leaves_alone(17)


@test
def untouched_25():
    leaves_alone(25)


@test
def sum_over_both_jvms():
    if not cells:
        skip("nothing was recorded")
    count, bad = (sum(column) for column in zip(*cells.values()))
    most = gates.most_bad_of_suite(count)
    expect(bad <= most, f"{bad} of {count} are bad, at most {most}")


main()
