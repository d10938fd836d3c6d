# SPDX-License-Identifier: Apache-2.0
"""JVMs that idle, for the tests of attaching and listing: one test per JDK, other users, what is left."""
from hp import *

NOBODY = 65534


# Without one of those that `make setup` installs its tests are skipped, not left out.
TRIED = [version for version in JDKS if version in SETUP_JDKS or find_jdk(version)]


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
    argv = [*prefix, os.path.join(home, "bin", "java"), "-Xmx32m", *flags, "-cp", classes, "Idle", 600]
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


__all__ = [name for name in list(globals()) if not name.startswith("_")]
