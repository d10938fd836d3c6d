# SPDX-License-Identifier: Apache-2.0
"""What hostprof takes of memory while it records: its resident pages, and its BPF maps."""
import collections
import os
import re
import threading
import time

from hp_expect import expect
from hp_process import family, status_of

MB = 1 << 20


def status_bytes(pid, name):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return 1024 * int(re.search(rf"^{name}:\s+(\d+)", status.read(), re.MULTILINE).group(1))


def map_descriptors(pid):
    """Descriptors of BPF maps, one of each map."""
    maps = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            if os.readlink(f"/proc/{pid}/fd/{fd}") != "anon_inode:bpf-map":
                continue
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as info:
                maps[re.search(r"map_id:\s+(\d+)", info.read()).group(1)] = fd
        except OSError:
            pass
    return list(maps.values())


def map_bytes(pid, descriptors):
    """What the kernel accounts for them: memlock."""
    total_bytes = 0
    for fd in descriptors:
        with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as info:
            total_bytes += int(re.search(r"memlock:\s+(\d+)", info.read()).group(1))
    return total_bytes


def mapped_bytes(pid):
    """The part of its RSS that is pages of BPF maps: these are the map's, counted there."""
    sums, inside = 0, False
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as smaps:
        for line in smaps:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                inside = "anon_inode:bpf-map" in line
            elif inside and line.startswith("Rss:"):
                sums += 1024 * int(line.split()[1])
    return sums


def helpers_rss_bytes(pid):
    """Of hostprof's brokers, readers and who starts them: processes below it that have its name."""
    rows = [status_of(f"/proc/{child}") for child in family(pid)[1:]]
    return sum(1024 * int(row["VmRSS"].split()[0]) for row in rows if row.get("Name", "").startswith("hostprof-") and "VmRSS" in row)


class MemoryWatch(threading.Thread):
    """Polls a process every 50 ms, or STEP seconds: its RSS, and the bytes of its BPF maps. With HELPERS theirs is in the RSS, too."""

    Poll = collections.namedtuple("Poll", "at rss maps shared")

    def __init__(self, pid, step=0.05, helpers=False):
        super().__init__(daemon=True)
        self.pid, self.step, self.helpers = pid, step, helpers
        self.polls, self.over = [], threading.Event()
        self.start()

    def run(self):
        maps, begin = [], time.monotonic()
        while not self.over.wait(self.step):
            try:
                now = time.monotonic() - begin
                if now < 3 or not maps:
                    maps = map_descriptors(self.pid)
                rss = status_bytes(self.pid, "VmRSS") + (helpers_rss_bytes(self.pid) if self.helpers else 0)
                self.polls.append(self.Poll(now, rss, map_bytes(self.pid, maps), mapped_bytes(self.pid)))
            except (OSError, AttributeError):  # it has ended
                return

    def finish(self):
        self.over.set()
        self.join()
        expect(len(self.polls) > 20, f"only {len(self.polls)} polls")
        return max(self.polls, key=together)


def together(poll):
    """A page of a map that the process has mapped is one page."""
    return poll.rss - poll.shared + poll.maps


def expect_within(peak, limit):
    print(f"# peak at {peak.at:.1f} s: RSS {peak.rss / MB:.1f} MB (of it {peak.shared / MB:.1f} MB are "
          f"pages of maps), maps {peak.maps / MB:.1f} MB, together {together(peak) / MB:.1f} of {limit / MB:.0f} MB", flush=True)
    expect(together(peak) <= limit, "over the memory limit")
