#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that works in stubs of the JVM can be read: each by its own name, with the agent and from outside alike."""
import gates
from hp import *
from jvm_stubs import CIPHERS, COPIES, DIGESTS, MATHS, SUMS

NOBODY = 65534
CLOSED = ["-Xrs", "-XX:+DisableAttachMechanism", "-XX:-UsePerfData", "-Xmx128m"]
# Of compiled code the methods stay apart, so that each stub is below the one that works in it.
APART = ["-XX:CompileCommand=quiet",
         *(f"-XX:CompileCommand=dontinline,Stubs.{name}" for name in
           ("sin", "pow", "copy", "move", "crc", "adler", "sha", "aes", "base64", "vtable", "itable"))]
SAMPLES = 4000
# What each method works in, and from which release on: cpu/x86/vm_version_x86.cpp says which stubs there are. Compiled code of 8 has the
# x87 instructions for powers and for sines up to pi / 4 in itself, above that it calls SharedRuntime::dsin() in libjvm (trigfunc() of
# cpu/x86/vm/macroAssembler_x86.cpp).
WORKS_IN = {
    "sin": (11, r"(?:libmS|ds|s)in"),
    "pow": (11, r"libmPow|d?pow"),
    "copy": (8, r"(?:arrayof_)?jbyte_(?:disjoint_)?arraycopy(?:_avx3)?"),
    "move": (8, r"(?:arrayof_)?jlong_(?:conjoint_)?arraycopy(?:_avx3)?"),
    "crc": (8, r"updateBytesCRC32"),
    "adler": (17, r"updateBytesAdler32"),
    "sha": (11, r"sha256_implCompress(?:MB)?"),
    "aes": (8, r"cipherBlockChaining_encryptAESCrypt"),
    "base64": (17, r"base64_encodeBlock|implEncode"),
    "vtable": (8, r"vtable stub"),
    "itable": (8, r"itable stub"),
}
OWN = rf"{COPIES}|{MATHS}|{CIPHERS}|{DIGESTS}|{SUMS}|[vi]table stub"


# What a processor without these instructions computes in Java (vm_version_x86.cpp, UseBASE64Intrinsics until 18).
NEEDS = {("base64", 17): "avx512bw"}


def works_in(method, version):
    """The pattern of the stub that METHOD is in on this machine; None: in none."""
    since, pattern = WORKS_IN[method]
    needs = NEEDS.get((method, version))
    return pattern if version >= since and (not needs or needs in processor_flags()) else None


def processor_flags():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        return set(re.search(r"^flags\s*:(.*)", file.read(), re.M).group(1).split())


def stubs_below(lines):
    """method of Stubs → its samples by the stub that they are in (None: in none)."""
    found = collections.defaultdict(collections.Counter)
    for line in lines:
        at = next((i for i, frame in enumerate(line.frames) if re.match(r"Stubs\.(\w+)_\[j\]$", frame)
                   and plain(frame)[6:] in WORKS_IN), None)
        if at is not None:
            stub = next((frame for frame in line.frames[at + 1:] if re.fullmatch(OWN, frame)), None)
            found[plain(line.frames[at])[6:]][stub] += line.count
    return found


def record(version, jvm, agent):
    recorder = Recorder("-p", jvm.pid, "-F", 1997, f"--agent={agent}")
    let_run(jvm.pid, 1997, {"java": SAMPLES})
    path = recorder.end()
    expect_equal(gates.dropped(read_json(recorder.stats_path)), 0, "samples lost")
    return of_pid(collapsed(path, "--annotate"), jvm.pid)


def check(version, lines):
    """Whose stubs are the right ones, and hardly any sample is in a blob that is all of them."""
    found = stubs_below(lines)
    everything = sum(sum(stubs.values()) for stubs in found.values())
    expect(everything > SAMPLES / 2, f"only {everything} samples")
    for method in WORKS_IN:
        pattern = works_in(method, version)
        if not pattern:
            print(f"# JDK {version} {method}: in no stub on this machine, {sum(found[method].values())} samples")
            continue
        stubs = found[method]
        right = sum(n for name, n in stubs.items() if name and re.fullmatch(pattern, name))
        print(f"# JDK {version} {method}: {dict(stubs)}")
        # An AES block or a round of SHA is one stub; of a dispatch some instructions are.
        expect(right > 0 if method.endswith("table") else right > 0.3 * sum(stubs.values()),
               f"{method}: {dict(stubs)}")
        expect_equal([name for name in stubs if name and not re.fullmatch(pattern, name) and stubs[name] > right / 10],
                     [], f"stubs below {method}")
    whole = sum(line.count for line in lines if line.frames and re.match(r"StubRoutines|vtable chunks", line.frames[-1]))
    expect(whole <= 0.001 * everything, f"{whole} of {everything} samples are in no stub of a blob")
    return {(method, name) for method, stubs in found.items() for name, n in stubs.items() if name and n > 40}


# Those of make setup are asked from outside below.
@for_each_jdk([version for version in JDKS if version not in SETUP_JDKS])
def stubs_have_their_own_names(version):
    """Of a JVM of another user, which lets nobody attach and tells nothing of itself."""
    jvm = java(version, "Stubs", 600, flags=[*CLOSED, *APART], ready=None, preexec_fn=lambda: os.setuid(NOBODY))
    jvm.wait_text("ready", timeout=120)
    check(version, record(version, jvm, "never"))


@for_each_jdk(SETUP_JDKS)
def both_sources_have_the_same_names(version):
    jvm = java(version, "Stubs", 600, flags=["-Xmx128m", *APART], ready=None)
    jvm.wait_text("ready", timeout=120)
    outside = check(version, record(version, jvm, "never"))
    agent = check(version, record(version, jvm, "always"))
    # Stubs that are rarely used may be missing in either.
    expect(len(outside & agent) >= 9, f"{outside} and {agent}")
    for method, name in outside ^ agent:
        expect(not any(one == method and other != name and re.fullmatch(WORKS_IN[one][1], other) is None
                       for one, other in outside | agent), f"{method}: {name}")


main(lanes=2)
