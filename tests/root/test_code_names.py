#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""Names of compiled code read from outside are those that the JVM itself tells (jcmd, JVMTI)."""
import random
import struct

import codemap
from hp import *

# 8 has no Compiler.codelist.
VERSIONS = [version for version in JDKS if version >= 11]
CODE_NAMES = os.path.join(BUILD, "tools", "code_names")

# "12 3 0 java.lang.String.hashCode()I [0x…, 0x… - 0x…]": blob's header, code, end.
NMETHOD = re.compile(r"^ *(\d+) +\d+ +-?\d+ +(\S+\(\S+) "
                     r"\[0x([0-9a-f]+), 0x([0-9a-f]+) - 0x([0-9a-f]+)\]", re.MULTILINE)


def code_list(version, pid):
    """(address, compile id) -> method: of each nmethod its first byte of code and one behind it."""
    text = run([os.path.join(jdk(version), "bin", "jcmd"), pid, "Compiler.codelist"], code=0).out
    found = {}
    for number, method, _, code, end in NMETHOD.findall(text):
        code, end = int(code, 16), int(end, 16)
        for address in (code, random.randrange(code, end)):
            found[address, int(number)] = method
    return found


def names_from_outside(pid, wanted, *how):
    """What code_names says of each (address, compile id)."""
    asked = "".join(f"{address:x} {number}\n" for address, number in wanted)
    done = subprocess.run([CODE_NAMES, str(pid), *how], input=asked.encode(), stdout=subprocess.PIPE,
                          check=True, timeout=60)
    return dict(zip(wanted, done.stdout.decode().splitlines()))


def same_method(text, method):
    """JDK 11 and before: the number of a VM-anonymous class is nowhere in its name."""
    return text in (f"method {method}", f"method {re.sub(r'/0x[0-9a-f]{16}', '', method)}")


def compare(wanted, came, stayed=()):
    """Counts of "right", "wrong", "gone", and of "lost": has no name, but the JVM told of its compile id in STAYED, too. The
    first wrong ones are shown."""
    counts = collections.Counter()
    for key, method in wanted.items():
        if same_method(came[key], method):
            counts["right"] += 1
        elif came[key].startswith("none"):
            counts["lost" if key[1] in stayed else "gone"] += 1
        else:
            counts["wrong"] += 1
            if counts["wrong"] <= 5:
                print(f"#   {key[0]:x} {key[1]}: {came[key]!r}, the JVM says {method}")
    return counts


@for_each_jdk(VERSIONS)
def names_are_those_of_the_jvm(version):
    """Everything compiled: some thousand methods, lambdas and native wrappers among them. A collection may throw away half of it
    at once from JDK 20 on: what -Xcomp made and nobody has called since (nmethod::is_cold() in share/code/nmethod.cpp)."""
    jvm = java(version, "Churn", 600, flags=["-Xcomp", "-Xmx64m"], ready=None)
    jvm.wait_text("ready", timeout=120)
    wanted = code_list(version, jvm.pid)
    came = names_from_outside(jvm.pid, list(wanted))
    stayed = {number for _, number in code_list(version, jvm.pid)}
    counts = compare(wanted, came, stayed)
    print(f"# JDK {version}: {counts['right']} right, {counts['gone']} gone, {counts['wrong']} wrong, {counts['lost']} lost")
    expect(counts["right"] > 1000, f"only {counts['right']} names")
    expect_equal(counts["wrong"], 0, "wrong names")
    expect_equal(counts["lost"], 0, "code that is there and has no name")
    other = names_from_outside(jvm.pid, [(address, number + 1) for address, number in wanted])
    named = [text for text in other.values() if not text.startswith("none")]
    expect_equal(named, [], "names of compile ids that are elsewhere")


@for_each_jdk(VERSIONS)
def old_code_has_no_new_name(version):
    """Code comes, goes, and its place is used again: who asks for what was there gets that or none."""
    if version < 17:
        skip("Epochs needs hidden classes")
    jvm = java(version, "Epochs", 600, flags=["-XX:ReservedCodeCacheSize=4m", "-Xmx64m"])
    known, sums, epochs, rounds = {}, collections.Counter(), set(), 0
    # Beside others an epoch may be over before it is compiled.
    while rounds < 8 or (len(epochs) <= 5 and rounds < 24):
        known.update(code_list(version, jvm.pid))
        sums += compare(known, names_from_outside(jvm.pid, list(known)))
        epochs = {method for method in known.values() if "Epoch_" in method}
        rounds += 1
        time.sleep(0.5)
    print(f"# JDK {version}: {sums['right']} right, {sums['gone']} gone, {sums['wrong']} wrong; "
          f"{len(epochs)} methods of epochs")
    expect(len(epochs) > 5, f"only {len(epochs)} methods of epochs")
    expect(sums["gone"] > 0, "nothing was thrown away: the test proves nothing")
    expect_equal(sums["wrong"], 0, "wrong names")


# --- what is inlined --------------------------------------------------------------------------------------------------

def told_by_agent(pid):
    """Records of a replay of the agent in process PID."""
    code_map = codemap.CodeMap(pid)
    code_map.take_lease()
    try:
        return code_map.read_replay(60)
    finally:
        code_map.release()
        code_map.command(codemap.STOP)


def lines_of(body):
    """The line table of a METHOD record: [(bci, line)]."""
    count = struct.unpack_from("QHHHH", body)[4]
    return [struct.unpack_from("HH", body, 16 + 4 * i) for i in range(count)]


def line_at(table, bci):
    """As a debugger finds it: of the last entry at or before BCI."""
    before = [entry for entry in table if entry[0] <= bci]
    return max(before, key=lambda entry: entry[0])[1] if bci >= 0 and before else 0


def dotted(class_name):
    """A hidden class keeps the '/' before its number. That of a VM-anonymous one (11) is nowhere in its name."""
    return re.sub(r"/(?!0x)", ".", re.sub(r"\.(?=0x)", "/", re.sub(r"[./]\d{5,}$", "", class_name)))


class Agent:
    """What the agent told of methods and places."""

    def __init__(self, records):
        methods = [(codemap.method_of(body), body, flags) for kind, flags, _, body in records
                   if kind == codemap.METHOD]
        self.names = {m[0]: f"{dotted(m[1])}.{m[2]}{codemap.descriptor_of(body, flags)}" for m, body, flags in methods}
        self.lines = {m[0]: lines_of(body) for m, body, _ in methods}
        self.loads = [codemap.load_of(body) for kind, _, _, body in records if kind == codemap.LOAD]

    def text(self, frames):
        """As code_names writes a chain."""
        return "method " + " < ".join(f"{self.names[number]}@{bci}:{line_at(self.lines[number], bci)}"
                                      for number, bci in frames)

    def places(self, numbers):
        """(address, compile id) -> its chain, of code whose compile id is in NUMBERS by its address; a place
        counts for all addresses behind the one before."""
        found = {}
        for address, _, _, pcs in self.loads:
            last = -1
            for offset, frames in pcs:
                if address in numbers:
                    found[address + random.randint(last + 1, offset), numbers[address]] = self.text(frames)
                    found[address + offset, numbers[address]] = self.text(frames)
                last = offset
        return found


@for_each_jdk(VERSIONS)
def chains_are_those_of_the_agent(version):
    """Each place of each nmethod: the chain of inlined methods, with bytecode indices and lines."""
    jvm = java(version, "Churn", 600, flags=["-Xcomp", "-Xmx64m"], ready=None)
    jvm.wait_text("ready", timeout=120)
    hostprof("attach", jvm.pid)
    told = Agent(told_by_agent(jvm.pid))
    listed = code_list(version, jvm.pid)
    methods = {number: method for (_, number), method in listed.items()}
    told_places = told.places(dict(listed.keys()))
    # Where the agent told of one method and the JVM's list of another one since, the code is another one.
    wanted = {key: chain for key, chain in told_places.items()
              if same_method("method " + chain.split(" ")[-1].split("@")[0], methods[key[1]])}
    came = names_from_outside(jvm.pid, list(wanted), "chains")
    # JDK 25 throws away what -Xcomp made and nobody calls: of what goes while it is asked for the method stays known.
    stayed = {number for _, number in code_list(version, jvm.pid)}
    counts = collections.Counter()
    for key, chain in wanted.items():
        outer = chain.split(" ")[-1].split("@")[0]
        none = came[key].startswith("none") or came[key] == f"method {outer}@-1:0"
        answer = "right" if came[key] == chain else "gone" if none and key[1] not in stayed else "wrong"
        counts[answer] += 1
        counts["inlined"] += answer == "right" and " < " in chain
        counts["lines"] += answer == "right" and not chain.endswith(":0")
        if answer == "wrong" and counts["wrong"] <= 5:
            print(f"#   {key[0]:x} {key[1]}: {came[key]!r}, the agent says {chain!r}")
    print(f"# JDK {version}: {len(told_places) - len(wanted)} places are of other code since", flush=True)
    expect(len(wanted) > 0.9 * len(told_places), "the JVM's list has other methods than the agent")
    print(f"# JDK {version}: {counts['right']} of {len(wanted)} places right, {counts['inlined']} of them inlined, "
          f"{counts['lines']} with lines; {counts['gone']} gone, {counts['wrong']} wrong")
    expect(counts["inlined"] > 1000 and counts["lines"] > 1000, f"only {dict(counts)}")
    nameless = [name for name in told.names.values() if not re.search(r"\(\S*\)\S+$", name)]
    expect_equal(nameless, [], "methods that the agent told without a descriptor")
    expect_equal(counts["wrong"], 0, "wrong chains")


# --- stubs ------------------------------------------------------------------------------------------------------------

NEVER_RUN = re.compile(r"Signature Handler Temp Buffer|C1 temporary CodeBuffer|Compile::")


def stubs_of(records):
    """[(start, end, name)] of what the agent told of code that is no method's."""
    found = []
    for kind, _, _, body in records:
        if kind == codemap.DYNAMIC:
            start, size, length = struct.unpack_from("QII", body)
            found.append((start, start + size, body[16:16 + length].decode()))
    return found


def innermost(stubs, address):
    """The agent tells of a blob and of the stubs in it."""
    holding = [stub for stub in stubs if stub[0] <= address < stub[1]]
    return min(holding, key=lambda stub: stub[1] - stub[0], default=(0, 0, None))[2]


@for_each_jdk(JDKS)
def stubs_are_those_of_the_agent(version):
    """Four places of each stub."""
    jvm = java(version, "Stubs", 600, flags=["-Xmx128m"], ready=None)
    jvm.wait_text("ready", timeout=120)
    hostprof("attach", jvm.pid)
    stubs = stubs_of(told_by_agent(jvm.pid))
    wanted = {(address, "-"): innermost(stubs, address)
              for start, end, _ in stubs for address in (start, *(random.randrange(start, end) for _ in range(3)))}
    came = names_from_outside(jvm.pid, list(wanted))
    counts = collections.Counter()
    for key, name in wanted.items():
        # JDK 26 on: hostprof calls a stub as the releases before do.
        name = re.sub(r"^Stub Generator (\w+)_stub$|^(\w+)_stub \(stub gen\)$", r"\1\2", name)
        # Where compilers write code, which runs elsewhere.
        right = came[key].startswith("none") if NEVER_RUN.match(name) else came[key] == f"stub {name}"
        counts["right" if right else "wrong"] += 1
        if not right:
            print(f"#   {key[0]:x}: {came[key]!r}, the agent says {name!r}")
    names = set(wanted.values())
    print(f"# JDK {version}: {counts['right']} places right, {counts['wrong']} wrong; {len(names)} names of {len(stubs)} stubs")
    expect(len(names) > 60, f"only {len(names)} names")
    expect({"vtable stub", "itable stub"} <= names, "no stubs of dispatch")
    expect_equal(counts["wrong"], 0, "wrong names")


main(lanes=2)
