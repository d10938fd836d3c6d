# SPDX-License-Identifier: Apache-2.0
"""What of HotSpot and of the libraries may stand where in a Java thread's stack: constants, per family of JDKs.

Frames are those of the builds of Debian (8 to 28) and Temurin (25), whose libjvm.so has its symbols from 11 on:
where gcc inlined a function of share/runtime/javaCalls.cpp or another, it is in no list. OpenJDK 8 of Debian has no
symbols, so that its frames are addresses; how many there are is a constant, too. A frame without a name is none of
a library where that library has a symbol for the address.
"""
import bisect
import functools
import re
import subprocess

from jvm_stubs import BIG_NUMBERS, DIGESTS, STUB_NAMES, SUMS, WAYS

JVM8 = r"\[libjvm\.so\+0x[0-9a-f]+\]"
ADDRESS = re.compile(r"\[([^\[\]]+?)\+0x([0-9a-f]+)\]$")

# Every frame of [[thread start], Spine.run): glibc's start_thread() has no symbol, os_linux.cpp's and thread.cpp's have.
START_OF_THREAD = r"\[thread start\];(?:start_thread|\[libc\.so\.6\+0x[0-9a-f]+\]);"
INTO_JAVA = {
    8: START_OF_THREAD + rf"(?:{JVM8};){{6}}call_stub",
    11: START_OF_THREAD + "thread_native_entry;Thread::call_run;JavaThread::thread_main_inner;thread_entry;"
        "JavaCalls::call_virtual;JavaCalls::call_helper;call_stub",
}
# share/prims/jni.cpp: from C into Java.
FROM_C = {
    8: rf"(?:{JVM8};){{3}}call_stub",
    11: "jni_CallLongMethod;jni_invoke_nonstatic;JavaCalls::call_helper;call_stub",
}
# Class.forName() of a class whose initializer goes on: java.base/share/native/libjava/Class.c, share/prims/jvm.cpp,
# share/oops/instanceKlass.cpp.
FOR_NAME = r"(?:java\.lang\.Class\.forName;){0,2}java\.lang\.Class\.forName0;Java_java_lang_Class_forName0;"
INITIALIZES = "InstanceKlass::initialize_impl;InstanceKlass::call_class_initializer;JavaCalls::call_helper;call_stub"
CLASS_INIT = {
    8: rf"{FOR_NAME}JVM_FindClassFromCaller;(?:{JVM8};){{5}}call_stub",
    11: f"{FOR_NAME}JVM_FindClassFromCaller;{INITIALIZES}",
    17: f"{FOR_NAME}JVM_FindClassFromCaller;find_class_from_class_loader;{INITIALIZES}",
    26: f"{FOR_NAME}JVM_FindClassFrom(?:Caller|Loader);(?:find_class_from_class_loader;)?{INITIALIZES}",
}
# java.lang.invoke's forms; the first one may be inlined into compiled code.
FORM = r"java\.lang\.invoke\.LambdaForm\$"
HANDLE = {8: rf"(?:{FORM}MH\.invokeExact_MT;)?{FORM}DMH\.invokeInterface(?:_LLI_J)?"}
# Method.invoke(): generated accessors up to 17, method handles from 18 on (JEP 416).
ACCESSOR = r"(?:jdk\.internal|sun)\.reflect\."
GENERATED = rf"{ACCESSOR}GeneratedMethodAccessor\d+\.invoke"
REFLECT = {
    8: rf"(?:java\.lang\.reflect\.Method\.invoke;)?{ACCESSOR}DelegatingMethodAccessorImpl\.invoke(?:;{GENERATED})?|"
       # Path.STEP is final, so that a compiler may put all of it into its caller's code.
       r"java\.lang\.reflect\.Method\.invoke|",
    18: rf"(?:java\.lang\.reflect\.Method\.invoke;)?{ACCESSOR}DirectMethodHandleAccessor\.invoke;"
        rf"(?:{ACCESSOR}DirectMethodHandleAccessor\.invokeImpl;)?"
        rf"{FORM}MH\.invokeExact_MT;{FORM}MH\.invoke;{FORM}DMH\.invokeInterface|",
}


def of_family(table, version):
    """The row of the newest family that is not newer than this version."""
    return table[max(first for first in table if first <= version)]


# --- threads that are not the workload's ------------------------------------------------------

# A Java thread of the JVM's own: what its entry is for (share/runtime/javaThread.cpp).
INNER = "JavaThread::thread_main_inner"
WORKERS = (r"(?:WorkerThread::run|GangWorker::(?:run|loop)|GCTaskThread::run|AbstractGangWorker::run|"
           r"ConcurrentGCThread::run|ParallelTaskTerminator\S*)")
# How the name of a thread begins, and the function that its Thread::call_run() calls.
THREADS = [
    (r"C[12] Comp", INNER + ";CompileBroker::compiler_thread_loop"),
    (r"VM Thread", "VMThread::run"),
    (r"VM Periodic", "WatcherThread::run"),
    (r"GC Thread|ParGC|Gang worker|[XZ]Worker|Shenandoah|Shen|G1 |[XZ](?:Driver|Director|Stat|Uncommit|Unmapper)",
     WORKERS),
    (r"", rf"{INNER}|VMThread::run|WatcherThread::run|{WORKERS}"),
]
# The launcher's thread that runs main(): as the kernel calls it, and as Java does.
OF_LAUNCHER = ("java", "main", "DestroyJavaVM")


@functools.lru_cache(1000)
def start_of(thread, version):
    """A pattern of what a thread of the JVM begins with, by its name."""
    if version < 11:
        return re.compile(rf"{START_OF_THREAD}{JVM8}(?:;|$)|\[process start\];_start(?:;|$)|_start(?:;|$)|"
                          r"\[thread start\];(?:start_thread|\[libc\.so\.6\+0x[0-9a-f]+\]);\[libjli\.so\+0x")
    run = next(run for name, run in THREADS if re.match(name, thread))
    launcher = r"|(?:\[process start\];)?_start(?:;|$)|" + START_OF_THREAD + \
        r"(?:ThreadJavaMain;|\[libjli\.so\+0x[0-9a-f]+\];)?(?:JavaMain|\[libjli\.so\+0x[0-9a-f]+\])(?:;|$)"
    # Of a thread that waits or ends its first frames may be all.
    return re.compile(rf"{START_OF_THREAD}thread_native_entry;Thread::call_run;(?:{run})(?:;|$)"
                      + (launcher if thread.startswith(OF_LAUNCHER) else ""))


# A thread that has not come to its JVM's code yet, or has left it.
AT_ITS_ENDS = (r"(?:(?:os|Thread(?!::call_run)|NonJavaThread|JavaThread|OSThread|Threads|Monitor|Mutex|Events)::|"
               r"pthread_|prctl|sched_)[^;]*")
STARTING = re.compile(rf"(?:{START_OF_THREAD[:-1]}(?:;thread_native_entry(?:;Thread::call_run)?(?:;{AT_ITS_ENDS}(?:;[^;]+)*)?)?|"
                      r"\[(?:thread|process) start\](?:;_start|;\[libc\.so\.6\+0x[0-9a-f]+\]|;pthread_\w+)?)")


# --- native frames below Java -----------------------------------------------------------------

# Blobs of the code cache, by the names that the JVM gives them, and hostprof's for whole parts of it.
STUB = re.compile(rf"{STUB_NAMES}|StubRoutines ?|vtable chunks|itable chunks|I2C/C2I adapters|MethodHandles adapters|"
                  r"native signature handlers|InlineCacheBuffer|\S+ Runtime1 stub|(?:C1|C2|Shared) Runtime \w+|"
                  r"\w+_blob ?|(?:Safepoint|Deoptimization|Exception|UncommonTrap)Blob|_\w+_Java|"
                  r"resolve_\w+|ic_miss_stub|wrong_method_stub|Stub Generator \w+.*|"
                  r"(?:load|store)_barrier_on_\w+|shenandoah_\w+|g1_\w+_slow")
# What only code that allocates, or locks, may get to; all others may come of a call, a poll or an exception.
STUB_NEEDS = [(re.compile(r".*(?:new_(?:instance|array|object|type|multi)|multianewarray)"), "(new)"),
              (re.compile(r".*monitor(?:enter|exit|_)"), "(lock)")]
# share/gc/*/*BarrierSetRuntime.cpp; they may be left by tail calls.
BARRIERS = (r"(?:G1|[ZX]|Shenandoah)\w*Runtime\w*::\w+|ShenandoahBarrierSet::\w+|[ZX]Barrier::\w+|"
            r"(?:SATBMarkQueueSet|PtrQueue)::\w+")
# share/interpreter/interpreterRuntime.cpp and what an interpreter's templates call besides.
INTERPRETER = re.compile(rf"InterpreterRuntime::\w+|SharedRuntime::\w+|os::javaTimeNanos|_Copy_\w+|"
                         rf"(?:__)?fmod\w*(?:@plt)?|{BARRIERS}")
INTERPRETER_NEEDS = [(re.compile(r"InterpreterRuntime::(?:_new|newarray|anewarray|multianewarray)$"), "(new)"),
                     (re.compile(r"InterpreterRuntime::monitor"), "(lock)")]
# Compiled code calls these without a stub; the second is the method that they are an intrinsic of.
LEAF_CALLS = [
    (re.compile(r"os::javaTimeNanos"), r"java.lang.System.nanoTime"),
    (re.compile(r"(?:__)?(?:fmod|sin|cos|tan|exp|log|pow)\w*(?:@plt)?$"), "java.lang.Math.pow"),
    (re.compile(r"avx(?:2|512)_|sort_n_vec|qsort_<|std_sort|partition_"), "java.util.DualPivotQuicksort.sort"),
    (re.compile(rf"SharedRuntime::\w+|Runtime1::is_instance_of|OptoRuntime::\w+|{BARRIERS}|"
                r"JavaThread::check_special_condition_for_native_trans|"
                r"SafepointMechanism::\w+|_Copy_\w+"), ""),
]
# How an interpreted native method goes back, or counts its calls.
ENDS_NATIVE = re.compile(r"(?:(?:InterpreterRuntime|SharedRuntime|SafepointMechanism|JavaThread)::|_Copy_)\w+$")
# Native methods whose function has another name: it is registered by that (libjava's tables, share/prims), or is
# what the function with the name ends with, by a tail call.
REGISTERED = [
    (r"java\.lang\.Object\.", r"JVM_(?:Clone|IHashCode|Monitor\w+)|jni_GetObjectClass"),
    (r"java\.lang\.System\.", r"JVM_(?:ArrayCopy|IHashCode|NanoTime|CurrentTimeMillis)|os::javaTimeNanos"),
    (r"java\.lang\.Class\.", r"JVM_(?:GetClass\w+|IsInterface|IsArrayClass|IsPrimitiveClass|IsHiddenClass|IsRecord|"
                              r"InitClassName|GetSimpleBinaryName)|jni_(?:IsInstanceOf|IsAssignableFrom|GetSuperclass)"),
    (r"(?:jdk\.internal|sun)\.reflect\.Reflection\.", r"JVM_(?:GetCallerClass|GetClassAccessFlags)"),
    (r"(?:jdk\.internal|sun)\.reflect\.Native\w+\.", r"JVM_(?:NewInstanceFromConstructor|InvokeMethod)"),
    (r"java\.lang\.ClassLoader\.", r"JVM_(?:FindLoadedClass|FindClassFromBootLoader|DefineClass\w*)"),
    (r"java\.lang\.Thread\.", r"JVM_(?:CurrentThread|\w*Carrier\w*|HoldsLock|Yield)"),
    (r"java\.lang\.String\.intern", r"JVM_InternString"),
    (r"java\.lang\.Throwable\.fillInStackTrace", r"JVM_FillInStackTrace"),
    (r"java\.lang\.ref\.Reference\.", r"JVM_Reference\w+"),
    (r"(?:jdk\.internal|sun)\.misc\.Unsafe\.", r"Unsafe_\w+"),
    (r"java\.lang\.invoke\.MethodHandleNatives\.", r"MHN_\w+"),
    (r"java\.util\.zip\.Deflater\.", r"checkDeflateStatus|deflate\w*"),
    (r"java\.util\.zip\.Inflater\.", r"checkInflateStatus|inflate\w*"),
    (r"sun\.instrument\.InstrumentationImpl\.retransformClasses0", r"retransformClasses|mapThrownThrowableIfNecessary"),
    # The wrapper's own way back.
    (r"", r"(?:JavaThread|SharedRuntime)::check_special_condition_for_native_trans"),
]
REGISTERED = [(re.compile(method), re.compile(rf"(?:{names})(?:@plt)?$")) for method, names in REGISTERED]
# From the JVM into Java: the Java method that went into it, and the one that it calls.
UPCALLS = [
    (r"java\.lang\.(?:ClassLoader\.defineClass1|Class\.\w+0)|.*\.<clinit>|Loading\.|Leaves\$Load\.|.*newInstance0",
     r"[\w.$]+\.(?:loadClass|addClass|checkPackageAccess)"),
    (r"java\.lang\.Class\.forName0|.*\.(?:newInstance0|ensureClassInitialized0?|shouldBeInitialized0)",
     r"Loaded\.<(?:cl)?init>"),
    (r"sun\.instrument\.InstrumentationImpl\.retransformClasses0", r"sun\.instrument\.InstrumentationImpl\.transform"),
    (r".*", r"java\.lang\.invoke\.MethodHandleNatives\.(?:link|find)\w+"),
]
UPCALLS = [(re.compile(above), re.compile(below)) for above, below in UPCALLS]
# Below the workload's C functions: glibc's, which are addresses where they are not exported and no debug file is
# installed. It sorts by itself and calls back.
LIBC = r"(?:\[libc\.so\.6\+0x[0-9a-f]+\]|(?:__)?mem(?:p?cpy|move|set|cmp)\w*(?:@plt)?)"
SORTING = rf"(?:{LIBC}|msort_with_tmp(?:\.part\.\d+)?|indirect_\w+|\w*quicksort\w*|__x86_\w+|qsort_r|malloc|c?free)"
SORTS = rf"(?:qsort(?:@plt)?;)?(?:qsort(?:_r)?(?:@plt)?)(?:;{SORTING})*(?:;compare_bytes)?"
WORKS = rf"spine_work(?:;spine_libc(?:;(?:{LIBC}|{SORTS}))?)?"
# Below the call stub, of a method that has no frame yet, or none any more: then it ends by an exception
# (share/opto/runtime.cpp: rethrow_C() looks for the caller's handler).
NO_FRAME_YET = (r"(?:I2C/C2I adapters|SafepointBlob(?:;[^;]+)*|"
                rf"(?:StubRoutines ?|{WAYS}|Interpreter|\S*(?:C[12] Runtime )?\S*(?:rethrow|unwind_exception)[^;]*)"
                r"(?:;(?:SharedRuntime::(?:raw_)?exception_handler_for_return_address|OptoRuntime::rethrow_C|"
                r"\[libjvm)[^;]*(?:;[^;]+)*)?)")
IN_C = {
    "Java_Native_call": LIBC,
    "spine_outer": LIBC,
    # On the way into Java, or back: nothing below the call stub but what has no frame yet.
    "spine_inner": r"(?:jni_CallLongMethod|\[libjvm\.so\+0x[0-9a-f]+\])(?:;(?!call_stub)[^;]+)*"
                   rf"(?:;call_stub(?:;{NO_FRAME_YET})?)?",
    "Java_Native_work": WORKS,
    "spine_on_signal": WORKS,
    "Java_Native_interrupt": r"(?:timer_\w+|sigaction|syscall|\w*sigaction)(?:;[^;]+)*",
    "Java_Native_clock": rf"clock_gettime(?:@plt)?(?:;__vdso_clock_gettime|;{LIBC})*|__vdso_clock_gettime",
    "spine_work": rf"spine_libc(?:;(?:{LIBC}|{SORTS}))?",
    "spine_libc": rf"{LIBC}|{SORTS}",
}


def jni_name(method):
    """The C function of a native method that is not overloaded (JNI's specification, "Resolving Native Method Names")."""
    escaped = re.sub(r"[^A-Za-z0-9.]", lambda it: "_1" if it[0] == "_" else f"_0{ord(it[0]):04x}", method)
    return "Java_" + escaped.replace(".", "_")


# --- frames without a name --------------------------------------------------------------------


@functools.lru_cache(None)
def symbols_of(path):
    """Addresses, ends and names of a file's functions, and of its debug file's where there is one."""
    rows = {}
    for flag in ("--defined-only", "-D"):
        out = subprocess.run(["nm", "-S", flag, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             check=False).stdout.decode("utf-8", "replace")
        for row in out.splitlines():
            words = row.split(None, 3)
            if len(words) == 4 and words[2] in "tTwWiu":
                at = int(words[0], 16)
                rows[at] = (at, at + int(words[1], 16), words[3])
    return sorted(rows.values())


def symbol_at(path, address):
    """The function at an address, or "" when the file does not say."""
    rows = symbols_of(path)
    at = bisect.bisect_right(rows, (address, 1 << 64, "")) - 1
    return rows[at][2] if at >= 0 and rows[at][0] <= address < rows[at][1] else ""


def code_at(path, address, length):
    """Bytes of a library whose text lies in the file where it lies in memory."""
    with open(path, "rb") as file:
        file.seek(address)
        return file.read(length)
