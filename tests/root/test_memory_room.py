#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A JVM whose memory cgroup is full: no agent is begun in it, since the kernel would kill the JVM for it."""
from idle_jvms import *

LEFT = 2 << 20
FULL = r"has \d MB left of its memory cgroup; the agent needs 8 MB"


class Cgroup:
    """One of our own below that of the test, of whichever version has the memory controller here."""

    def __init__(self):
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            own = {name: path for row in file for _, names, path in [row.rstrip("\n").split(":", 2)]
                   for name in names.split(",")}
        if "memory" in own:
            place, self.limit, self.usage, self.none = "/sys/fs/cgroup/memory" + own["memory"], \
                "memory.limit_in_bytes", "memory.usage_in_bytes", "-1"
        else:
            place, self.limit, self.usage, self.none = "/sys/fs/cgroup" + own[""], "memory.max", "memory.current", "max"
        self.path = os.path.join(place, f"hostprof-test-{os.getpid()}-{id(self)}")
        try:
            os.mkdir(self.path)
        except OSError as error:
            skip(f"no cgroup can be made: {error}")
        cleanup(self.remove)
        if not os.path.exists(os.path.join(self.path, self.limit)):
            skip("no memory controller can be had here")

    def remove(self):
        # Its processes have ended, but for the kernel's part in it.
        wait_until(lambda: not self.processes(), 10, "an empty cgroup")
        os.rmdir(self.path)

    def processes(self):
        with open(os.path.join(self.path, "cgroup.procs"), encoding="ascii") as file:
            return file.read()

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
            file.write(str(value))

    def enter(self):
        """Words that put what follows them into it."""
        return ["sh", "-c", f'echo $$ > {self.path}/cgroup.procs && exec "$@"', "sh"]

    def fill(self):
        """LEFT bytes are left to it, of its JVM's own memory."""
        with open(os.path.join(self.path, self.usage), encoding="ascii") as file:
            self.write(self.limit, int(file.read()) + LEFT)


def jvm_in(cgroup, version):
    return idle(jdk(version), prefix=cgroup.enter())


@for_each_jdk(SETUP_JDKS)
def attaching_is_refused(version):
    need_root()
    cgroup = Cgroup()
    jvm = jvm_in(cgroup, version)
    cgroup.fill()
    expect_match(FULL, attach(jvm.pid, code=None).err, "stderr")
    expect_match(FULL, status(jvm.pid)["why_not"], "why_not")
    result = hostprof("record", "-e", "alloc", "-d", 1, "-p", jvm.pid, "-o", temp_path("out.jfr"), code=None)
    expect_match(FULL, result.err, "stderr of the recording")
    expect_equal(status(jvm.pid)["agent"], "none", "agent")
    lives_on(jvm)
    cgroup.write(cgroup.limit, cgroup.none)
    attach(jvm.pid)
    agent_is_there(jvm.pid)


@test
def an_agent_that_waits_is_not_begun():
    """It was loaded while there was room; its ring comes with the first recording."""
    need_root()
    cgroup = Cgroup()
    jvm = jvm_in(cgroup, 17)
    attach(jvm.pid)
    cgroup.fill()
    result = hostprof("record", "-e", "alloc", "-d", 1, "-p", jvm.pid, "-o", temp_path("out.jfr"), code=None)
    expect_match(FULL, result.err, "stderr of the recording")
    lives_on(jvm)
    # To end needs no room.
    hostprof("detach", jvm.pid)
    lives_on(jvm)


main(lanes=2)
