# SPDX-License-Identifier: Apache-2.0
"""The second judge: what the JVM itself says is at the bottom of each Java thread's stack."""
import re

from hp import *
from judge import is_java, name_of

# The thread id is called nid, and since JDK 21 also stands behind the thread's number.
HEAD = re.compile(r'^"(?P<name>.*)" .*?(?:#\d+ \[|\bnid=)(?P<tid>0x[0-9a-f]+|\d+)\b')
FRAME = re.compile(r"^\s+at ([^()]+)\(")


def dump_threads(home, pid):
    """tid → (name, methods from the thread's first on), as `jcmd PID Thread.print` has it."""
    text = run([os.path.join(home, "bin", "jcmd"), pid, "Thread.print"], code=0).out
    threads, methods = {}, []
    for line in text.splitlines():
        head, frame = HEAD.match(line), FRAME.match(line)
        if head:
            methods = []
            threads[int(head["tid"], 0)] = (head["name"], methods)
        elif line.startswith('"') or "Mounted virtual thread" in line:
            methods = []  # of none; the carrier's methods come before those of what it carries
        elif frame:
            methods.insert(0, without_numbers(frame.group(1)))
    return {tid: entry for tid, entry in threads.items() if entry[1]}


def without_numbers(method):
    """Hidden classes have other numbers, or none, in either's names."""
    return re.sub(r"(\$\$Lambda|\$\$FastClass|LambdaForm\$\w+)[^.]*(?:\.0x[0-9a-f]+)?", r"\1",
                  method.replace("/0x", ".0x"))


def first_methods(methods):
    """
    The methods that no sample of the thread can lack: those of java.lang.Thread that lead to its task,
    and the task's own. Of a thread that is its own task that is one.
    """
    found = []
    for method in methods:
        found.append(method)
        if not method.startswith("java.lang.Thread."):
            break
    return found


def tid_of(line):
    return int(re.search(r"tid=(\d+)\]$", line.thread).group(1))


def is_at_its_end(line):
    """Of a thread that runs Java: it has not called its first method yet, or has left it."""
    return not any(is_java(frame) or frame == "call_stub" for frame in line.frames)


def without_its_start(line, threads):
    """What the JVM says that the line's Java frames must begin with, if they do not; else None."""
    tid = tid_of(line)
    java = [frame for frame in line.frames if is_java(frame)]
    if tid not in threads:
        return None
    if not java:
        return None if is_at_its_end(line) else first_methods(threads[tid][1])
    # A thread that has not come to its task yet has fewer.
    wanted = first_methods(threads[tid][1])[:len(java)]
    came = [without_numbers(name_of(frame)) for frame in java[:len(wanted)]]
    # What a compiled method has inlined is no frame of its own here.
    for index, frame in enumerate(java[:len(wanted)]):
        if frame.endswith(("_[j]", "_[1]")):
            return None if came[:index + 1] == wanted[:index + 1] else wanted
    return None if came == wanted else wanted
