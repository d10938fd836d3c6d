# SPDX-License-Identifier: Apache-2.0
"""The third judge: of two Java frames, one directly below the other, the class files say whether the one calls the other."""
import collections
import glob
import os
import re

from java_calls import is_hidden, owner_of
from judge import is_java, name_of

# Between two Java frames these lead from one to the other.
LEADS = re.compile(r"I2C/C2I adapters|\[?(?:vtable|itable) (?:stub|chunks?).*|StubRoutines.*")
# Made while the program runs: by the JDK for lambdas, proxies, method handles and reflection, and by programs.
MADE = re.compile(r".*(?:/0x[0-9a-f]+|\.0x[0-9a-f]+|\$Proxy\d+|\$\$FastClass.*)$")
# Who calls whatever a method handle, a reflective object or the JVM itself stands for.
CALLS_ANY = re.compile(r"java\.lang\.invoke\.|java\.lang\.reflect\.(?:Method|Constructor)\.|(?:jdk\.internal|sun)\.reflect\.|"
                       r"java\.lang\.Class(?:Loader)?\.(?:newInstance|loadClass)|jdk\.internal\.vm\.Continuation\.enter")
# A yield ends where the virtual thread was entered, its frames being in the heap (generate_cont_doYield() in cpu/x86).
ENDS = {("jdk.internal.vm.Continuation.run", "jdk.internal.vm.Continuation.doYield")}
POLYMORPHIC = re.compile(r"java\.lang\.invoke\.(?:MethodHandle|VarHandle)\.")


def jars_of(pid):
    """The class path of a JVM: what its command line and its open files say."""
    with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
        words = file.read().split("\0")
    found = [part for word, value in zip(words, words[1:]) if word in ("-cp", "-classpath", "--class-path", "--upgrade-module-path")
             for part in value.split(":")]
    for entry in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            path = os.readlink(entry)
        except OSError:
            continue
        if path.endswith(".jar"):
            found.append(path)
    return ":".join(dict.fromkeys(found))


def method_of(frame):
    """A[j] to CLASS.METHOD without arguments."""
    return re.sub(r"\(.*", "", name_of(frame))


def is_made(method):
    """Whether its class has no file that could be read."""
    owner = owner_of(method)
    return bool(MADE.match(owner)) or is_hidden(owner)


def pairs_of(frames):
    """(caller, callee) of Java frames without anything between but what leads from one to the other."""
    above = None
    for frame in frames:
        if is_java(frame):
            method = method_of(frame)
            if above:
                yield above, method
            above = method
        elif not LEADS.fullmatch(name_of(frame)):
            above = None


class Pairs:
    """What a JVM's class files say of pairs of frames."""

    def __init__(self, calls):
        self.calls = calls
        self.known = {}
        self.counts = collections.Counter()

    def load(self, stacks):
        """Ask for all that these need at once."""
        wanted = {pair for frames in stacks for pair in pairs_of(frames)}
        self.calls.load(sorted({owner_of(method) for pair in wanted for method in pair if not is_made(method)}))
        self.calls.load_for([pair for pair in wanted if not any(map(is_made, pair))])

    def wrong(self, line):
        """A pair of this stack that cannot be, as text, or ""."""
        found = ""
        for pair in pairs_of(line.frames):
            if pair not in self.known:
                self.known[pair] = self._judge(*pair)
            self.counts[self.known[pair]] += line.count
            if self.known[pair] == "wrong":
                found = f"{pair[0]} cannot call {pair[1]}"
        return found

    def _judge(self, caller, callee):
        """right, wrong, or why nobody can say."""
        if is_made(caller) or is_made(callee):
            return "made at run time"
        if (caller, callee) in ENDS or CALLS_ANY.match(caller) or callee.endswith(".<clinit>"):
            return "calls anything"
        if caller not in self.calls.callees or callee not in self.calls.callees:
            return "no class file"
        if self.calls.direct(caller, callee):
            return "right"
        called = self.calls.callees[caller]
        if any(POLYMORPHIC.match(one) for one in called) or "(indy)" in called:
            return "calls a method handle"
        return "wrong"
