#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What jhsdb's classes and gdb say of one thread in core files of a JVM; java_steps --witness starts it.

    witness.py JAVA_HOME PID

A question is a line "walk TID CORE", the answer lines "frame ADDRESS SP NAME", leaf first, and "end"; "silent
WHY" when the two do not have the stack whole. Java frames are by the serviceability agent (Java classes
that know HotSpot's frames by themselves), native ones by gdb; where one hands over to the other, both must
be at the same pc and stack pointer. Nothing of hostprof is asked."""
import collections
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ("", ".code", ".debugger", ".debugger.amd64", ".oops", ".runtime", ".runtime.x86")


class Tool:
    """A process that answers each question with lines up to "end"; it finds the pipe for them in ANSWERS."""

    def __init__(self, command):
        read, write = os.pipe()
        environment = {**os.environ, "ANSWERS": str(write), "DEBUGINFOD_URLS": ""}
        self.process = subprocess.Popen(["sh", "-c", 'exec "$@"', "sh", *command], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment,
                                        pass_fds=(write,))
        os.close(write)
        self.answers = os.fdopen(read)

    def tell(self, line):
        self.process.stdin.write(line + "\n")

    def ask(self, question):
        self.tell(question)
        self.process.stdin.flush()
        lines = []
        for line in self.answers:
            if line == "end\n":
                break
            lines.append(line.split())
        return lines


def start_jhsdb(home):
    exports = [f"--add-exports=jdk.hotspot.agent/sun.jvm.hotspot{p}=ALL-UNNAMED" for p in PACKAGES]
    java = os.path.join(home, "bin", "java")
    return Tool([java, "-XX:TieredStopAtLevel=1", "-Xmx256m", "--add-modules=jdk.hotspot.agent", *exports,
                 os.path.join(HERE, "ServiceabilityFrames.java"), java])


def start_gdb(home):
    return Tool(["gdb", "-nx", "-q", "-batch", "-x", os.path.join(HERE, "gdb_java.py"), os.path.join(home, "bin", "java")])


class Disagree(Exception):
    pass


Java = collections.namedtuple("Java", "pc sp begin end name caller")  # caller: its pc, sp, fp


def java_frames(lines):
    """The Java frames in their order."""
    rows = [(words[0], [int(w, 0) for w in words[1:6]], *words[6:]) for words in lines
            if words[0] in ("frame", "native")]
    error = next((" ".join(words) for words in lines if words[0] == "error"), None)
    if error or not rows:
        raise Disagree(f"jhsdb: {error or 'no frames'}")
    if rows[-1][0] != "native":
        raise Disagree("jhsdb does not come to the thread's call stub")
    return [Java(numbers[0], numbers[1], numbers[3], numbers[4], name[0], rows[i + 1][1][:3])
            for i, (kind, numbers, *name) in enumerate(rows) if kind == "frame"]


def read_maps(pid):
    with open(f"/proc/{pid}/maps", encoding="ascii") as file:
        for line in file:
            fields = line.split(None, 5)
            start, end = (int(a, 16) for a in fields[0].split("-"))
            yield start, end, fields[1], (fields[5:] or [""])[0].strip()


def native_name(pid, pc):
    for start, end, access, path in read_maps(pid):
        if start <= pc < end and "x" in access and path:
            return "N:" + os.path.basename(path)
    raise Disagree("gdb is in code that jhsdb does not know")


def whole_stack(jhsdb, gdb, pid, tid, core):
    """[(pc, sp, name)], leaf first."""
    left = java_frames(jhsdb.ask(f"{tid} {core}"))
    for java in left:
        gdb.tell(f"java {java.sp} {java.begin} {java.end} " + " ".join(str(word) for word in java.caller))
    stack, count = [], len(left)
    for words in gdb.ask(f"walk {core}"):
        if words[0] != "pc":
            raise Disagree("gdb: " + " ".join(words[1:]))
        pc, sp = int(words[1], 0), int(words[2], 0)
        if left and sp == left[0].sp and left[0].begin <= pc < left[0].end:
            stack.append((pc, sp, left.pop(0).name))
        else:
            stack.append((pc, sp, native_name(pid, pc - bool(stack))))
    if left:
        raise Disagree(f"gdb comes to {'none' if len(left) == count else 'some'} of jhsdb's frames")
    return stack


def main():
    home, pid = sys.argv[1:3]
    jhsdb, gdb = start_jhsdb(home), start_gdb(home)
    for line in sys.stdin:
        _, tid, core = line.split()
        try:
            for pc, sp, name in whole_stack(jhsdb, gdb, pid, tid, core):
                print(f"frame {pc:#x} {sp:#x} {name}")
        except Disagree as why:
            print(f"silent {why}")
        print("end", flush=True)


if __name__ == "__main__":
    main()
