# SPDX-License-Identifier: Apache-2.0
"""A consumer of the agent's shared memory (jvmagent/codemap.h), written a second time.

It trusts what it reads; the tests of the agent use it to see what the agent does, apart from
hostprof's own reader. As a program: `codemap.py PID hold` takes the lease and renews it until killed.
"""
import ctypes
import mmap
import os
import struct
import sys
import threading
import time

HEADER = 4096
MAGIC = 0x31504D4350545348
LEASE_NS = 3_000_000_000
START, STOP = 1, 2
CODE, THREADS = 1, 2
FLAG_DESCRIPTOR = 4
METHOD, LOAD, UNLOAD, DYNAMIC, GAP, REPLAY_BEGIN, REPLAY_END, THREAD, THREAD_END, THREAD_SEEN = \
    range(1, 11)
SYS_FUTEX, FUTEX_WAKE = 202, 1

_FIELDS = {  # name: (offset, format)
    "magic": (0, "Q"), "ring_bytes": (16, "I"), "agent_build": (20, "I"), "ns_pid": (24, "I"),
    "head": (40, "Q"), "tail": (48, "Q"), "lease_until_ns": (56, "Q"), "lease_pid": (64, "I"),
    "command_seq": (68, "I"), "command": (72, "I"), "want": (76, "I"), "done_seq": (80, "I"),
    "events_on": (84, "I"), "dropped": (88, "Q"), "replays": (96, "Q"), "agent_bytes": (104, "Q"),
    "closed_ns": (120, "Q"), "cannot": (128, "I"),
}


def find(pid):
    """Path of the process's code map, or None."""
    directory = f"/proc/{pid}/fd"
    for name in os.listdir(directory):
        try:
            if os.readlink(f"{directory}/{name}").startswith("/memfd:hostprof-codemap"):
                return f"{directory}/{name}"
        except FileNotFoundError:
            pass
    return None


class CodeMap:
    def __init__(self, pid):
        path = find(pid)
        if not path:
            raise FileNotFoundError(f"no code map in process {pid}")
        with open(path, "r+b", buffering=0) as file:
            self.map = mmap.mmap(file.fileno(), os.fstat(file.fileno()).st_size)
        assert self["magic"] == MAGIC
        self.methods = {}
        self._lock = threading.Lock()
        self._renewing = None

    def __getitem__(self, name):
        at, form = _FIELDS[name]
        return struct.unpack_from(form, self.map, at)[0]

    def __setitem__(self, name, value):
        at, form = _FIELDS[name]
        struct.pack_into(form, self.map, at, value)

    def renew(self):
        self["lease_until_ns"] = time.monotonic_ns() + LEASE_NS

    def take_lease(self):
        """Take the lease, renew it in the background until release()."""
        until = time.monotonic() + 30
        while self["lease_until_ns"] > time.monotonic_ns():
            if time.monotonic() > until:
                raise TimeoutError(f"pid {self['lease_pid']} holds the lease")
            time.sleep(0.1)
        self["lease_pid"] = os.getpid()
        self["tail"] = self["head"]
        self._renewing = threading.Event()
        self.renew()
        threading.Thread(target=self._renew_often, args=(self._renewing,), daemon=True).start()

    def _renew_often(self, stop):
        while not stop.wait(0.3):
            with self._lock:
                if not stop.is_set():
                    self.renew()

    def release(self):
        if self._renewing:
            with self._lock:
                self._renewing.set()
                self["lease_until_ns"] = 0

    def command(self, command, want=CODE | THREADS):
        self["command"] = command
        self["want"] = want
        self["command_seq"] = self["command_seq"] + 1 & 0xFFFFFFFF
        word = ctypes.c_uint32.from_buffer(self.map, _FIELDS["command_seq"][0])
        ctypes.CDLL(None).syscall(SYS_FUTEX, ctypes.byref(word), FUTEX_WAKE, 1, None, None, 0)
        del word

    def read(self):
        """All records written by now: (kind, flags, time_ns, body)."""
        head, tail, ring = self["head"], self["tail"], self["ring_bytes"]
        records = []
        while tail < head:
            at = tail % ring
            if ring - at < 16:
                tail += ring - at
                continue
            size, kind, flags, when = struct.unpack_from("IHHQ", self.map, HEADER + at)
            assert size >= 16 and size % 8 == 0 and at + size <= ring, (size, kind, at)
            if kind:
                records.append((kind, flags, when, self.map[HEADER + at + 16:HEADER + at + size]))
            tail += size
        self["tail"] = tail
        return records

    def read_replay(self, timeout=10):
        """Ask for a replay; the records up to its end."""
        records = []
        self.command(START)
        until = time.monotonic() + timeout
        while not any(kind == REPLAY_END for kind, *_ in records):
            if time.monotonic() > until:
                raise TimeoutError("the agent does not replay")
            records += self.read()
            time.sleep(0.01)
        return records


def descriptor_of(body, flags):
    """The descriptor of a METHOD record; "" when it has none."""
    if not flags & FLAG_DESCRIPTOR:
        return ""
    _, c, n, s, lines = struct.unpack_from("QHHHH", body)
    at = 16 + 4 * lines + c + n + s
    length, = struct.unpack_from("H", body, at)
    return body[at + 2:at + 2 + length].decode()


def method_of(body):
    """(number, class, name, source) of a METHOD record."""
    number, c, n, s, lines = struct.unpack_from("QHHHH", body)
    text = body[16 + 4 * lines:]
    return (number, text[:c].decode(), text[c:c + n].decode(), text[c + n:c + n + s].decode())


def load_of(body):
    """(address, bytes, method number, [(offset, [(method number, bci), …])]) of a LOAD record."""
    address, size, count, method = struct.unpack_from("QIIQ", body)
    at, pcs = 24, []
    for _ in range(count):
        offset, depth = struct.unpack_from("II", body, at)
        at += 8
        frames = [struct.unpack_from("QiI", body, at + 16 * i)[:2] for i in range(depth)]
        at += 16 * depth
        pcs.append((offset, frames))
    return address, size, method, pcs


def thread_of(body):
    """(tid, name, java tid) of a THREAD record."""
    tid, length, java_tid = struct.unpack_from("IIQ", body)
    return tid, body[16:16 + length].decode(), java_tid


def seen_thread_of(body):
    """(JavaThread*, name, java tid) of a THREAD_SEEN record."""
    java_thread, java_tid, length, _ = struct.unpack_from("QQII", body)
    return java_thread, body[24:24 + length].decode(), java_tid


if __name__ == "__main__":
    held = CodeMap(int(sys.argv[1]))
    held.take_lease()
    held.read_replay()
    print("ready", flush=True)
    while True:
        held.read()
        time.sleep(0.05)
