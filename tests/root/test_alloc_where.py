#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocations of JVMs wherever they are: in a cgroup, below a target, in containers; with an agent and without."""
import codemap
from hp import *
from hp_cgroup import enter, make_cgroup

SECONDS = 4
# Of what such a JVM allocates its own class is nearly all; the rest are its start's and the agent's.
OWN_SHARE = 0.9
STACK = re.compile(r".*;java\.lang\.Thread\.run(?:With)?(?:;java\.lang\.Thread\.run)?;(Alloc\d\d)\.run;\1\.make00;\1")
# Of its stacks, at least; test_alloc_crowd.py says what the others are.
WHOLE_SHARE = 0.95
AGENTS = {"agent": (), "outside": ("--agent=never",)}


def with_and_without_agent(function):
    """A function as two tests; it is given what record is to be told of agents."""
    for name, args in AGENTS.items():
        def one(args=args):
            need_root()
            function(args)
        one.__name__ = f"{function.__name__}_{name}"
        test(one)
    return function


def argv(home, classes, number):
    return [os.path.join(home, "bin/java"), "-Xmx32m", "-XX:+UseSerialGC", "-cp", classes, f"Alloc{number:02}", 600]


def maker(classes, number, prefix=(), **more):
    jvm = start([*prefix, *argv(jdk(17), classes, number)], **more)
    return jvm.wait_text("ready")


def let_allocate(recorder, pids, agent):
    """A JVM that is starting is tried for its agent again, ever more seldom."""
    for pid in pids if not agent else ():
        try:
            wait_until(lambda: codemap.find(pid), 60, f"the agent in {pid}, one of {pids}")
        except Failed:
            recorder.end()
            tell_said(recorder)
            raise
    time.sleep(SECONDS)


def tell_said(recorder):
    said = recorder.popen.stderr.read().decode() if recorder.popen.stderr else ""
    print("".join(f"# {line}\n" for line in said.splitlines()), end="")


def check(path, pid, number):
    """Its own class with its own chain, and nobody else's."""
    name = f"Alloc{number:02}"
    lines = of_pid(collapsed(path, "--event", "alloc"), pid)
    bytes_of = collections.Counter()
    for line in of_pid(collapsed(path, "--event", "alloc", "--total"), pid):
        bytes_of[line.frames[-1]] += line.count
    own = [line for line in lines if line.frames[-1] == name]
    print(f"# {name}: {total(own)} of {total(lines)} samples, {bytes_of[name] / 1e6:.0f} MB")
    expect(total(own) > 50, f"{name}: {total(own)} samples of its class; {bytes_of.most_common(4)}")
    expect(bytes_of[name] > OWN_SHARE * bytes_of.total(), f"{name}: {bytes_of.most_common(4)}")
    whole = total([line for line in own if STACK.fullmatch(";".join(line.frames))])
    expect(whole > WHOLE_SHARE * total(own), f"{name}: {whole} of {total(own)} stacks are whole, not {own[:3]}")


# --- cgroups --------------------------------------------------------------------------------


@with_and_without_agent
def in_a_cgroup(agent):
    """JVMs that are there, that come there by a start or a move; none of them has a CPU sample. Not those beside it."""
    name = f"hostprof-test-{os.getpid()}"
    cgroup, beside = make_cgroup(name), make_cgroup(f"{name}-beside")
    below, classes = make_cgroup("below", cgroup), numbered_classes("Alloc00", 4)
    jvms = [maker(classes, 0, preexec_fn=lambda: enter(cgroup)), maker(classes, 1, preexec_fn=lambda: enter(beside)),
            maker(classes, 2, preexec_fn=lambda: enter(beside))]
    recorder = Recorder("-e", "alloc=64k", "--cgroup", cgroup, *agent)
    jvms.append(maker(classes, 3, preexec_fn=lambda: enter(below)))
    enter(cgroup, jvms[2].pid)
    time.sleep(1)  # until the move is noticed
    let_allocate(recorder, [jvms[number].pid for number in (0, 2, 3)], agent)
    path = recorder.end()
    tell_said(recorder)
    for number in (0, 2, 3):
        check(path, jvms[number].pid, number)
    expect_equal(of_pid(collapsed(path), jvms[1].pid), [], "samples of the JVM beside the cgroup")
    with open(f"/proc/{jvms[1].pid}/maps", encoding="utf-8") as maps:
        expect_not_in("libhostprof-agent", maps.read(), "mappings of the JVM beside the cgroup")


@with_and_without_agent
def below_a_target(agent):
    """A command whose child is the JVM."""
    classes, pid_file, path = numbered_classes("Alloc00", 1), temp_path("pid"), temp_path("x.jfr")
    recorder = start([HOSTPROF, "record", "-e", "alloc=64k", *agent, "-o", path, "--", "sh", "-c",
                      'pid=$1; shift; "$@" >/dev/null 2>&1 & echo $! >"$pid"; wait', "sh", pid_file,
                      *argv(jdk(17), classes, 0)])
    wait_until(lambda: os.path.exists(pid_file) and os.path.getsize(pid_file), 30, "the JVM")
    with open(pid_file, encoding="ascii") as file:
        pid = int(file.read())
    cleanup(os.kill, pid, signal.SIGKILL)
    time.sleep(1)  # its start
    let_allocate(recorder, [pid], agent)
    recorder.signal(signal.SIGINT)
    recorder.finish(code=None)
    check(path, pid, 0)


# --- containers -----------------------------------------------------------------------------

# Their file systems: what is bound into a directory, and an overlay of the host's own.
BOUND = """set -e; r=$1 jdk=$2 classes=$3; shift 3
    mkdir -p $r/usr $r/etc $r/opt/jdk $r/opt/classes $r/proc $r/dev $r/tmp
    for d in lib lib64 bin; do ln -s usr/$d $r/$d; done
    mount --bind /usr $r/usr; mount --bind /etc $r/etc; mount --bind /dev $r/dev
    mount --bind "$jdk" $r/opt/jdk; mount --bind "$classes" $r/opt/classes
    mount -t proc proc $r/proc; exec chroot $r "$@" """
OVERLAY = """set -e; r=$1 jdk=$2 classes=$3; shift 3
    mkdir -p $r; mount -t tmpfs none $r; mkdir $r/up $r/work $r/all
    mount -t overlay none -o lowerdir=/,upperdir=$r/up,workdir=$r/work $r/all || exit 77; r=$r/all
    mkdir -p $r/opt/jdk $r/opt/classes; cp -r "$classes"/. $r/opt/classes
    rmdir $r/opt/jdk; cp -rs "$jdk" $r/opt/jdk
    mount -t tmpfs none $r/tmp; mount -t proc proc $r/proc; mount --bind /dev $r/dev; exec chroot $r "$@" """


def container(script, classes, number):
    """A JVM in mount and pid namespaces of its own; its pid."""
    home = os.path.realpath(jdk(17))
    outer = start(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh", temp_dir(), home,
                   classes, *argv("/opt/jdk", "/opt/classes", number)])
    try:
        outer.wait_text("ready")
    except Failed:
        reasons = {77: "no overlay can be mounted", 127: "this JDK needs more of the host than its directory"}
        code = outer.popen.wait()
        if code not in reasons:
            raise
        outer.finish(code=code)
        skip(reasons[code])
    with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="ascii") as file:
        pid = int(file.read())
    cleanup(os.kill, pid, signal.SIGKILL)
    return pid


def contained(script, agent):
    """Two of them share the files, and with that the inodes that are probed; and one that is no target."""
    classes = numbered_classes("Alloc00", 3)
    pids = [container(script, classes, number) for number in range(3)]
    recorder = Recorder("-e", "alloc=64k", "-p", f"{pids[0]},{pids[1]}", *agent)
    let_allocate(recorder, pids[:2], agent)
    agents = [set(re.findall(r"\S*libhostprof-agent\S*", open(f"/proc/{pid}/maps", encoding="utf-8").read()))
              for pid in pids]
    path = recorder.end()
    for number in (0, 1):
        check(path, pids[number], number)
        expect_equal(len(agents[number]), 0 if agent else 1, "libraries of an agent")
        for name in agents[number]:
            expect_match(r"libhostprof-agent-[0-9a-f]{16}\.so", name, "the copy in the container")
    expect_equal(agents[2], set(), "libraries of an agent where there is no target")
    expect_equal(of_pid(collapsed(path), pids[2]), [], "samples of a JVM that is no target")


@with_and_without_agent
def in_a_root_of_its_own(agent):
    contained(BOUND, agent)


@with_and_without_agent
def in_an_overlay(agent):
    contained(OVERLAY, agent)


main(lanes=2)
