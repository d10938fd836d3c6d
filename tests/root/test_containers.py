#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""JVMs in containers: other pid and mount namespaces, another uid, a root that is read-only, a libjvm only they see."""
from container_judge import check_recording, check_row
from hp_cgroup import make_cgroup
from idle_jvms import *

ID = "0123456789abcdef" * 4
UID = 12345
# Its root is a file system of its own: the host's /usr and /etc, the JDK under a path that the host has not, its own /tmp; all read-only but that.
CONTAINER = """set -e; r=$1 jdk=$2 classes=$3 cgroup=$4 user=$5; shift 5
    echo $$ > "$cgroup/cgroup.procs"
    mount -t tmpfs none $r; mkdir -p $r/usr $r/etc $r/dev $r/proc $r/tmp $r/hidden/jdk $r/hidden/classes
    for d in lib lib64 bin; do ln -s usr/$d $r/$d; done
    for d in usr etc dev; do mount --bind /$d $r/$d; mount -o remount,ro,bind $r/$d; done
    mount --bind "$jdk" $r/hidden/jdk; mount --bind "$classes" $r/hidden/classes
    mount -t proc proc $r/proc; mount -t tmpfs -o mode=1777 none $r/tmp; mount -o remount,ro $r
    exec chroot --userspec=$user:$user $r "$@" """


def nested_cgroup(*names):
    path = None
    for name in names:
        path = make_cgroup(name, path)
    return path


def contained(version, cgroup, *program):
    """A JVM in a container; its pid here."""
    home, classes = os.path.realpath(jdk(version)), temp_dir()
    os.chmod(classes, 0o755)
    for path in glob.glob(os.path.join(WORKLOADS, "*.class")):
        shutil.copy(path, classes)
    outer = start(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", CONTAINER, "sh", temp_dir(), home, classes,
                   cgroup, UID, "/hidden/jdk/bin/java", "-Xmx64m", "-cp", "/hidden/classes", *program])
    try:
        outer.wait_text("ready", timeout=60)
    except Failed:
        code = outer.popen.wait()
        outer.finish(code=code)
        skip(f"no such container can be made here (exit code {code})")
    pid = children(outer.pid)[0]
    cleanup(wait_until, lambda: not os.path.exists(f"/proc/{pid}"), 10, "the container to end")
    cleanup(os.kill, pid, signal.SIGKILL)
    return pid


def described(name, image):
    """What dockerd keeps of it, where it keeps it."""
    directory = f"/var/lib/docker/containers/{ID}"
    if os.path.exists(directory):
        skip("there is such a container")
    above = directory
    while not os.path.exists(os.path.dirname(above)):
        above = os.path.dirname(above)
    os.makedirs(directory)
    cleanup(shutil.rmtree, above)
    with open(os.path.join(directory, "config.v2.json"), "w", encoding="utf-8") as file:
        json.dump({"State": {"Running": True}, "ID": ID, "Config": {"Image": image}, "Name": "/" + name}, file)


def check_container(version):
    need_root()
    described("shop", "acme/shop:3")
    pid = contained(version, nested_cgroup(f"hostprof-{os.getpid()}.slice", f"docker-{ID}.scope"), "Chain", 60)
    check_row(pid, UID, ID, "shop", "acme/shop:3")
    expect(not os.path.exists("/hidden"), "the host has this path, too")
    check_recording(pid, ID, "shop", "acme/shop:3")


for version in TRIED:
    def in_a_container(version=version):
        check_container(version)
    in_a_container.__name__ = f"in_a_container_{version}"
    test(in_a_container)


@test
def an_agent_in_a_container():
    """Copied into its own /tmp, by version, and loaded."""
    need_root()
    pid = contained(17, nested_cgroup(f"hostprof-{os.getpid()}.slice", f"libpod-{ID}.scope"), "Chain", 60)
    expect_equal(json_of("status", pid)["container"], ID, "id")
    agent_dir = temp_dir()
    shutil.copy(AGENT, agent_dir)
    attach(pid, "--agent", os.path.join(agent_dir, "libhostprof-agent.so"))
    agent_is_there(pid)
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        expect_match(r"(?m)/tmp/libhostprof-agent-[0-9a-f]{16}\.so$", maps.read(), "mappings")


main()
