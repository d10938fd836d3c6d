#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attaching: it works across users and namespaces, and refuses where a signal would do harm."""
import socket
import stat

import codemap
from hp import *

NOBODY = 65534
VERSIONS = [8, 11, 17, 21, 25, 26, 27, 28]


def installed():
    """The JDKs of this machine."""
    found = []
    for version in VERSIONS:
        try:
            found.append((version, jdk(version)))
        except Exception:
            continue
    return found


def for_each_jdk(function):
    """FUNCTION as one test per JDK of this machine, under its name and the version."""
    for version, home in installed():
        def one(home=home):
            need_root()
            function(home)
        one.__name__ = f"{function.__name__}_{version}"
        test(one)
    return function


def public_dir():
    """A directory that every user may look into, with the workloads and an agent."""
    path = temp_dir()
    os.chmod(path, 0o755)
    for name in ("Idle.class",):
        shutil.copy(os.path.join(WORKLOADS, name), path)
    shutil.copy(AGENT, path)
    return path


def idle(home, *flags, prefix=(), classes=WORKLOADS, **more):
    """Start Idle, behind the commands of PREFIX, which must exec it or be its parent."""
    argv = [*prefix, os.path.join(home, "bin", "java"), "-Xmx32m", *flags, "-cp", classes, "Idle", 60]
    jvm = start(argv, **more)
    cleanup(remove_socket, jvm.pid)
    return jvm.wait_text("ready")


def remove_socket(pid):
    if os.path.lexists(socket_path(pid)):
        os.unlink(socket_path(pid))


def as_nobody():
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def status(pid):
    return json_of("status", pid)


def agent_is_there(pid):
    """Loaded; another recording of this host may use it at the same time."""
    expect_in(status(pid)["agent"], ("idle", "active"), "agent")


def attach(pid, *args, **more):
    return hostprof("attach", pid, *args, **more)


def lives_on(jvm):
    """It still does its work and was not made to print its threads."""
    jvm.text = ""
    jvm.wait_text("tick", timeout=10)
    expect_not_in("Full thread dump", jvm.text, "the JVM's output")


def socket_path(pid):
    return f"/tmp/.java_pid{pid}"


def no_trigger_left(pid, ns_pid=None):
    name = f".attach_pid{ns_pid or pid}"
    for place in (f"/proc/{pid}/root/tmp", f"/proc/{pid}/cwd"):
        expect(not os.path.lexists(os.path.join(place, name)), f"{place}/{name} was left behind")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def java_below(pid):
    """The java process at or under PID."""
    def find(at):
        try:
            if os.readlink(f"/proc/{at}/exe").endswith("/java"):
                return at
            return next(filter(None, map(find, children(at))), None)
        except OSError:
            return None
    return wait_until(lambda: find(pid), what="a java process")


# --- it works -------------------------------------------------------------------------------


@for_each_jdk
def attach_again_and_detach(home):
    jvm = idle(home)
    attach(jvm.pid)
    no_trigger_left(jvm.pid)
    agent_is_there(jvm.pid)
    attach(jvm.pid)
    agent_is_there(jvm.pid)
    hostprof("detach", jvm.pid)
    expect_equal(status(jvm.pid)["agent"], "none", "agent after detach")
    lives_on(jvm)


@for_each_jdk
def another_users_jvm(home):
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
                   os.path.join(jdk(17), "bin/java"), "-Xmx32m", "-cp", classes, "Idle", 60])
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
                   os.path.join(jdk(17), "bin/java"), "-Xmx32m", "-cp", place, "Idle", 60])
    try:
        outer.wait_text("ready")
    except Failed:
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
        exec chroot $r /opt/jdk/bin/java -Xmx32m -cp /opt/classes Idle 60"""
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


@for_each_jdk
def a_jvm_that_is_still_starting(home):
    """Tried from the first moment on: each try attaches, or says why not and does no harm."""
    for delay in range(0, 60, 6):
        jvm = start([os.path.join(home, "bin", "java"), "-Xmx32m", "-cp", WORKLOADS, "Idle", 60])
        time.sleep(delay / 1000)
        wait_until(lambda: attach(jvm.pid, code=None).code == 0, what="attach")
        jvm.wait_text("tick 3")
        expect_not_in("Full thread dump", jvm.text, "the JVM's output")
        agent_is_there(jvm.pid)
        jvm.stop()


# --- it refuses and does no harm ------------------------------------------------------------


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


@for_each_jdk
def attach_mechanism_disabled(home):
    refused(idle(home, "-XX:+DisableAttachMechanism"), "-XX:+DisableAttachMechanism")


@for_each_jdk
def dynamic_agents_disabled(home):
    if home == dict(installed()).get(8):
        skip("JDK 8 has no such flag")
    refused(idle(home, "-XX:-EnableDynamicAgentLoading"), "-XX:-EnableDynamicAgentLoading")


@for_each_jdk
def reduced_signals(home):
    """SIGQUIT would kill it; its listener runs from the start, so that none is needed."""
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


@for_each_jdk
def a_jvm_that_opens_no_socket(home):
    jvm = without_listener(home)
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
    client.popen.wait(5)
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


@for_each_jdk
def a_copy_that_a_jvm_forked(home):
    """It has the JVM's handlers and descriptors, but nobody in it answers."""
    libjvm = glob.glob(os.path.join(home, "**/server/libjvm.so"), recursive=True)[0]
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


# --- listing --------------------------------------------------------------------------------


def rows():
    return {row["pid"]: row for row in json_of("list")}


@test
def twenty_jvms():
    need_root()
    homes = [home for _, home in installed()]
    classes = temp_dir()
    jvms = {}
    with open(os.path.join(WORKLOADS, "Named00.class"), "rb") as file:
        code = file.read()
    for i in range(20):
        name = f"Named{i:02}"
        with open(os.path.join(classes, name + ".class"), "wb") as file:
            file.write(code.replace(b"Named00", name.encode()))
        jvm = start([os.path.join(homes[i % len(homes)], "bin/java"), "-Xmx24m", "-XX:+UseSerialGC",
                     "-cp", classes, name, 120])
        jvms[jvm.pid] = (name, homes[i % len(homes)], jvm)
    for _, _, jvm in jvms.values():
        jvm.wait_text("ready", timeout=60)
    began = time.monotonic()
    listed = rows()
    took = time.monotonic() - began
    for pid, (name, home, _) in jvms.items():
        expect(pid in listed, f"pid {pid} is not listed")
        expect_equal(listed[pid]["main_class"], name, f"main class of {pid}")
        expect_equal(listed[pid]["can_attach"], True, f"can_attach of {pid}")
        with open(os.path.join(home, "release"), encoding="utf-8") as file:
            version = re.search(r'^JAVA_VERSION="([^"]*)"', file.read(), re.MULTILINE).group(1)
        expect_in(version, listed[pid]["version"], f"version of {pid}")
    print(f"# 20 JVMs listed in {took * 1000:.0f} ms")
    expect_equal(list(listed), sorted(listed), "order of pids")


@test
def main_classes():
    need_root()
    home = jdk(17)
    place = temp_dir()
    jar = os.path.join(place, "my app.jar")
    run([os.path.join(home, "bin/jar"), "--create", "--file", jar, "--main-class", "Idle", "-C",
         WORKLOADS, "Idle.class"], code=0)
    arguments = os.path.join(place, "arguments")
    with open(arguments, "w", encoding="ascii") as file:
        file.write(f"-Xmx32m -cp {WORKLOADS} Idle\n")
    source = os.path.join(place, "Hello.java")
    with open(source, "w", encoding="ascii") as file:
        file.write("""public class Hello { public static void main(String[] a) throws Exception {
            System.out.println("ready"); Thread.sleep(60_000); } }""")
    cases = [
        (["-cp", WORKLOADS, "-Dx=y", "--add-modules", "java.base", "Idle", "60"], "Idle"),
        (["-jar", jar, "60"], "my app.jar"),
        ([f"@{arguments}", "60"], "Idle"),
        ([source], source),
    ]
    for args, wanted in cases:
        jvm = start([os.path.join(home, "bin/java"), *args]).wait_text("ready")
        expect_equal(status(jvm.pid)["main_class"], wanted, f"main class of java {args}")


@test
def a_library_that_was_replaced_on_disk():
    """After an upgrade the mapped file has no name any more."""
    need_root()
    home = os.path.join(temp_dir(), "jdk")
    shutil.copytree(os.path.realpath(jdk(17)), home, symlinks=True,
                    ignore=shutil.ignore_patterns("jmods", "src.zip", "man"))
    jvm = idle(home)
    os.unlink(os.path.join(home, "lib/server/libjvm.so"))
    row = rows()[jvm.pid]
    expect_match(r"^17\.", row["version"], "version")
    expect_equal(row["can_attach"], True, "can_attach")
    attach(jvm.pid)
    agent_is_there(jvm.pid)


main()
