/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/types.h"

#include <stddef.h>

/* Rows of braces that clang-format would pull apart. */
/* clang-format off */
#define FIELDS(...) \
	(const struct jfr_field_info[]){ __VA_ARGS__, { 0 } }
#define PLAIN(field, type_id, text) { field, type_id, 0, text, { 0 } }
#define REF(field, type_id, text) { field, type_id, JFR_POOL, text, { 0 } }
#define TEXT(field, text) REF(field, JFR_SYMBOL, text)
#define WAKER(field, type_id, pool, text) { field, type_id, (pool) | JFR_WAKER, text, { 0 } }
#define TICKS(field, text) { field, JFR_LONG, 0, text, { JFR_ANN_TIMESTAMP, "TICKS" } }
#define EPOCH(field, text) \
	{ field, JFR_LONG, 0, text, { JFR_ANN_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH" } }
#define TICK_SPAN(field, text) { field, JFR_LONG, 0, text, { JFR_ANN_TIMESPAN, "TICKS" } }
#define MS_SPAN(field, text) { field, JFR_LONG, 0, text, { JFR_ANN_TIMESPAN, "MILLISECONDS" } }
#define BYTES(field, text) { field, JFR_LONG, 0, text, { JFR_ANN_DATA_AMOUNT, "BYTES" } }
#define ADDRESS(field, text) { field, JFR_LONG, 0, text, { JFR_ANN_MEMORY_ADDRESS, 0 } }
#define COUNT(field, text) { field, JFR_LONG, 0, text, { JFR_ANN_UNSIGNED, 0 } }
#define PERCENT(field, text) { field, JFR_FLOAT, 0, text, { JFR_ANN_PERCENTAGE, 0 } }
/* clang-format on */

#define START_TIME TICKS("startTime", "Start Time")
#define EVENT_STACK                                     \
	REF("eventThread", JFR_THREAD, "Event Thread"), \
		REF("stackTrace", JFR_STACK_TRACE, "Stack Trace")

#define PROCESS_FIELDS                                                                           \
	COUNT("pid", "Process Identifier"), PLAIN("execCount", JFR_INT, "Exec Count"),           \
		TICKS("processStart", "Process Start"), TEXT("name", "Name"),                    \
		TEXT("exe", "Executable"), TEXT("container", "Container"),                       \
		TEXT("cgroup", "Control Group"), TEXT("jvmVersion", "JVM Version"),              \
		TEXT("mainClass", "Main Class"), TEXT("containerName", "Name of the Container"), \
		TEXT("containerImage", "Image of the Container")

#define MAPPING_FIELDS                                                                    \
	TEXT("path", "Path"), TEXT("buildId", "Build Id"), ADDRESS("textStart", "Start"), \
		ADDRESS("textLimit", "Limit"), COUNT("fileOffset", "File Offset")

#define EVENT_KIND_FIELDS \
	TEXT("name", "Name"), TEXT("unit", "Unit of Weight"), COUNT("period", "Period")

/*
 * What we append to a sample; `kernel` tells the two running states apart. No reference to types of
 * our own: JMC 9 would take the samples of every chunk for events of another type.
 */
#define SAMPLE_FIELDS THREAD_FIELDS, WEIGHT_FIELDS
#define THREAD_FIELDS                                              \
	REF("sampledThread", JFR_THREAD, "Thread"),                \
		REF("stackTrace", JFR_STACK_TRACE, "Stack Trace"), \
		REF("state", JFR_THREAD_STATE, "Thread State")
#define WEIGHT_FIELDS                                                                              \
	COUNT("pid", "Process Identifier"), TEXT("process", "Process"), COUNT("weight", "Weight"), \
		COUNT("count", "Samples"), TEXT("container", "Container"),                         \
		PLAIN("kernel", JFR_BOOLEAN, "In Kernel")
/* Of a wait. */
#define WAIT_FIELDS                                                        \
	TEXT("reason", "Reason"), TICK_SPAN("queued", "Waited for a CPU"), \
		COUNT("chance", "One of So Many"), WAKER_FIELDS
/* Of who has ended it; an interrupt is no thread. */
#define WAKER_FIELDS                                                              \
	WAKER("waker", JFR_THREAD, JFR_POOL, "Woken by"),                         \
		WAKER("wakerPid", JFR_LONG, 0, "Woken by, Process Identifier"),   \
		WAKER("wakerProcess", JFR_SYMBOL, JFR_POOL, "Woken by, Process"), \
		WAKER("wakerStackTrace", JFR_STACK_TRACE, JFR_POOL, "Woken by, Stack Trace")

/*
 * What events other than CPU time say of objects. The class is said twice: JFR's is by the name
 * that class files have, from which that of a hidden class is not found again.
 */
#define OBJECT_FIELDS                                                      \
	COUNT("objects", "Objects"), COUNT("age", "Collections Survived"), \
		TEXT("className", "Class"),                                \
		PLAIN("outsideTlab", JFR_BOOLEAN, "Known to Be Outside a TLAB")

/* What we append to events that others have defined. */
#define LABEL_FIELDS                                                                        \
	REF("state", JFR_THREAD_STATE, "Thread State"), COUNT("pid", "Process Identifier"), \
		TEXT("process", "Process"), COUNT("count", "Samples"),                      \
		TEXT("container", "Container")

/* To those about objects. */
#define ALLOCATION_FIELDS LABEL_FIELDS, PLAIN("kernel", JFR_BOOLEAN, "In Kernel"), OBJECT_FIELDS

/*
 * And to waits for locks: the JDK's fields before them, but for the class, are 0 here, and the address, by which readers tell locks
 * from each other, is the identity hash. The JDK's previous owner of a monitor is who had it last: it is the owner here, which it may
 * have been given on by meanwhile.
 */
#define LOCK_FIELDS                                                                  \
	LABEL_FIELDS, TEXT("className", "Class"), COUNT("chance", "One of So Many"), \
		REF("owner", JFR_THREAD, "Owner When the Wait Began"), WAKER_FIELDS

/* And to safepoints, whose fields before them are 0 but for the operation: nobody tells of threads' numbers and ids. */
#define SAFEPOINT_FIELDS \
	REF("stackTrace", JFR_STACK_TRACE, "Stack Trace"), LABEL_FIELDS, TEXT("reason", "Reason")

/* To compilations, of which the sizes are not known: they have no field. */
#define COMPILATION_FIELDS \
	SAFEPOINT_FIELDS, TICK_SPAN("queued", "Off the CPUs"), COUNT("chance", "One of So Many")

/* To classes that were loaded; the loader is not known. */
#define CLASS_FIELDS LABEL_FIELDS, TEXT("className", "Class")

#define VM			"Java Virtual Machine"
#define OS			"Operating System"
#define APP			"Java Application"
#define OURS			"hostprof"
#define EVENT			.super = JFR_SUPER_EVENT
#define NOTE			.super = JFR_SUPER_ANNOTATION
#define NOTE_ON(field, type_id) .fields = FIELDS({ field, type_id, 0, NULL, { 0 } })

/* clang-format off */
const struct jfr_type_info jfr_types[JFR_TYPE_COUNT] = {
	[JFR_BOOLEAN] = { .name = "boolean" },
	[JFR_CHAR] = { .name = "char" },
	[JFR_FLOAT] = { .name = "float" },
	[JFR_DOUBLE] = { .name = "double" },
	[JFR_BYTE] = { .name = "byte" },
	[JFR_SHORT] = { .name = "short" },
	[JFR_INT] = { .name = "int" },
	[JFR_LONG] = { .name = "long" },
	[JFR_STRING] = { .name = "java.lang.String" },

	[JFR_CLASS] = { .name = "java.lang.Class", .label = "Java Class", .fields = FIELDS(
		REF("classLoader", JFR_CLASS_LOADER, "Class Loader"), TEXT("name", "Name"),
		REF("package", JFR_PACKAGE, "Package"), PLAIN("modifiers", JFR_INT, "Access Modifiers"),
		PLAIN("hidden", JFR_BOOLEAN, "Hidden")) },
	[JFR_THREAD] = { .name = "java.lang.Thread", .label = "Thread", .fields = FIELDS(
		PLAIN("osName", JFR_STRING, "OS Thread Name"), PLAIN("osThreadId", JFR_LONG, "OS Thread Id"),
		PLAIN("javaName", JFR_STRING, "Java Thread Name"),
		PLAIN("javaThreadId", JFR_LONG, "Java Thread Id"),
		REF("group", JFR_THREAD_GROUP, "Java Thread Group"),
		PLAIN("virtual", JFR_BOOLEAN, "Virtual Thread"), REF("process", JFR_PROCESS, "Process")) },
	[JFR_CLASS_LOADER] = { .name = "jdk.types.ClassLoader", .label = "Java Class Loader",
		.fields = FIELDS(REF("type", JFR_CLASS, "Type"), TEXT("name", "Name")) },
	[JFR_THREAD_GROUP] = { .name = "jdk.types.ThreadGroup", .label = "Thread Group",
		.fields = FIELDS(REF("parent", JFR_THREAD_GROUP, "Parent"), PLAIN("name", JFR_STRING, "Name")) },
	[JFR_MODULE] = { .name = "jdk.types.Module", .label = "Module", .fields = FIELDS(
		TEXT("name", "Name"), TEXT("version", "Version"), TEXT("location", "Location"),
		REF("classLoader", JFR_CLASS_LOADER, "Class Loader")) },
	[JFR_PACKAGE] = { .name = "jdk.types.Package", .label = "Package", .fields = FIELDS(
		TEXT("name", "Name"), REF("module", JFR_MODULE, "Module"),
		PLAIN("exported", JFR_BOOLEAN, "Exported")) },
	[JFR_SYMBOL] = { .name = "jdk.types.Symbol", .simple = true, .label = "Symbol",
		.fields = FIELDS(PLAIN("string", JFR_STRING, "String")) },
	[JFR_FRAME_TYPE] = { .name = "jdk.types.FrameType", .simple = true, .label = "Frame type",
		.fields = FIELDS(PLAIN("description", JFR_STRING, "Description")) },
	[JFR_THREAD_STATE] = { .name = "jdk.types.ThreadState", .simple = true, .label = "Java Thread State",
		.fields = FIELDS(PLAIN("name", JFR_STRING, "Name")) },
	[JFR_METHOD] = { .name = "jdk.types.Method", .label = "Java Method", .fields = FIELDS(
		REF("type", JFR_CLASS, "Type"), TEXT("name", "Name"), TEXT("descriptor", "Descriptor"),
		PLAIN("modifiers", JFR_INT, "Access Modifiers"), PLAIN("hidden", JFR_BOOLEAN, "Hidden")) },
	[JFR_STACK_FRAME] = { .name = "jdk.types.StackFrame", .fields = FIELDS(
		REF("method", JFR_METHOD, "Java Method"), PLAIN("lineNumber", JFR_INT, "Line Number"),
		PLAIN("bytecodeIndex", JFR_INT, "Bytecode Index"), REF("type", JFR_FRAME_TYPE, "Frame Type"),
		REF("location", JFR_LOCATION, "Location")) },
	[JFR_STACK_TRACE] = { .name = "jdk.types.StackTrace", .label = "Stacktrace", .fields = FIELDS(
		PLAIN("truncated", JFR_BOOLEAN, "Truncated"),
		{ "frames", JFR_STACK_FRAME, JFR_ARRAY, "Stack Frames", { 0 } }) },
	[JFR_FRAME_KIND] = { .name = "hostprof.types.FrameKind", .simple = true, .label = "Kind of Frame",
		.fields = FIELDS(PLAIN("id", JFR_STRING, "Id")) },
	[JFR_EVENT_KIND] = { .name = "hostprof.types.EventKind", .label = "Kind of Event",
		.fields = FIELDS(EVENT_KIND_FIELDS) },
	[JFR_MAPPING] = { .name = "hostprof.types.Mapping", .label = "Mapping",
		.fields = FIELDS(MAPPING_FIELDS) },
	[JFR_PROCESS] = { .name = "hostprof.types.Process", .label = "Process",
		.fields = FIELDS(PROCESS_FIELDS) },
	[JFR_LOCATION] = { .name = "hostprof.types.Location", .label = "Location",
		.description = "A frame as hostprof has it; the JDK's fields are made from it",
		.fields = FIELDS(TEXT("name", "Name"), TEXT("className", "Class"), TEXT("file", "Source File"),
			REF("mapping", JFR_MAPPING, "Mapping"), ADDRESS("address", "Address"),
			PLAIN("line", JFR_INT, "Line Number"),
			PLAIN("bytecodeIndex", JFR_INT, "Bytecode Index"),
			REF("kind", JFR_FRAME_KIND, "Kind"),
			COUNT("functionOffset", "Offset in the Function"),
			TEXT("descriptor", "Descriptor")) },

	[JFR_EXECUTION_SAMPLE] = { EVENT, .name = "jdk.ExecutionSample", .label = "CPU Sample",
		.description = "What a thread was doing when it had used up a period of CPU time",
		.category = { VM, "Profiling" }, .fields = FIELDS(START_TIME, SAMPLE_FIELDS) },
	[JFR_EVENT_SAMPLE] = { EVENT, .name = "hostprof.EventSample", .label = "Event Sample",
		.description = "A sample of an event other than CPU time", .category = { OURS },
		.fields = FIELDS(START_TIME, TEXT("eventName", "Event"), SAMPLE_FIELDS,
			OBJECT_FIELDS) },
	[JFR_OBJECT_ALLOCATION_SAMPLE] = { EVENT, .name = "jdk.ObjectAllocationSample",
		.label = "Object Allocation Sample", .category = { APP }, .fields = FIELDS(START_TIME, EVENT_STACK,
			REF("objectClass", JFR_CLASS, "Object Class"), BYTES("weight", "Sample Weight"),
			ALLOCATION_FIELDS) },
	[JFR_LIVE_OBJECT] = { EVENT, .name = "profiler.LiveObject", .label = "Live Object",
		.description = "Objects that were alive at the end", .category = { APP },
		.fields = FIELDS(START_TIME, EVENT_STACK, REF("objectClass", JFR_CLASS, "Object Class"),
			BYTES("allocationSize", "Allocation Size"),
			TICKS("allocationTime", "Allocation Time"), ALLOCATION_FIELDS) },
	[JFR_MALLOC] = { EVENT, .name = "profiler.Malloc", .label = "malloc",
		.description = "Native memory was asked for", .category = { VM, "Native Memory" },
		.fields = FIELDS(START_TIME, EVENT_STACK, ADDRESS("address", "Address, Where It Is Known"),
			BYTES("size", "Bytes That the Sample Stands for"), ALLOCATION_FIELDS) },
	[JFR_OFFCPU_SAMPLE] = { EVENT, .name = "hostprof.OffCpuSample", .label = "Off-CPU Sample",
		.description = "A thread was off the cpus, and why; it stands for as many waits of its length as its chance says",
		.category = { OURS }, .fields = FIELDS(START_TIME, TICK_SPAN("duration", "Duration"),
			SAMPLE_FIELDS, WAIT_FIELDS) },
	[JFR_KERNEL_LOCK] = { EVENT, .name = "hostprof.KernelLock", .label = "Kernel Lock",
		.description = "A thread waited for a lock of the kernel's; it stands for as many such waits as its chance says",
		.category = { OURS }, .fields = FIELDS(START_TIME, TICK_SPAN("duration", "Duration"),
			SAMPLE_FIELDS, WAIT_FIELDS) },
	[JFR_NATIVE_LOCK] = { EVENT, .name = "profiler.NativeLock", .label = "Native Lock Sample",
		.description = "A thread waited for a mutex or a read-write lock; it stands for as many waits as its chance says, of its duration on the average",
		.category = { VM, "Native Lock" }, .fields = FIELDS(START_TIME,
			TICK_SPAN("duration", "Duration"), EVENT_STACK,
			ADDRESS("address", "Lock Address, Where It Is Known"),
			REF("state", JFR_THREAD_STATE, "Thread State"), WEIGHT_FIELDS, WAIT_FIELDS) },
	[JFR_WALL_CLOCK_SAMPLE] = { EVENT, .name = "profiler.WallClockSample", .label = "Wall Clock Sample",
		.description = "What a thread was doing, on a cpu or off the cpus, for the time of its weight",
		.category = { VM, "Profiling" }, .fields = FIELDS(START_TIME, THREAD_FIELDS,
			COUNT("samples", "Samples of the Interval"), TICK_SPAN("timeSpan", "Time Span"),
			WEIGHT_FIELDS, WAIT_FIELDS) },
	[JFR_MONITOR_ENTER] = { EVENT, .name = "jdk.JavaMonitorEnter", .label = "Java Monitor Blocked",
		.category = { APP }, .fields = FIELDS(START_TIME, TICK_SPAN("duration", "Duration"), EVENT_STACK,
			REF("monitorClass", JFR_CLASS, "Monitor Class"),
			REF("previousOwner", JFR_THREAD, "Previous Monitor Owner"),
			ADDRESS("address", "Monitor Address"), LOCK_FIELDS) },
	[JFR_MONITOR_WAIT] = { EVENT, .name = "jdk.JavaMonitorWait", .label = "Java Monitor Wait",
		.category = { APP }, .fields = FIELDS(START_TIME, TICK_SPAN("duration", "Duration"), EVENT_STACK,
			REF("monitorClass", JFR_CLASS, "Monitor Class"),
			REF("notifier", JFR_THREAD, "Notifier Thread"), MS_SPAN("timeout", "Timeout"),
			PLAIN("timedOut", JFR_BOOLEAN, "Timed Out"),
			ADDRESS("address", "Monitor Address"), LOCK_FIELDS) },
	[JFR_THREAD_PARK] = { EVENT, .name = "jdk.ThreadPark", .label = "Java Thread Park",
		.category = { APP }, .fields = FIELDS(START_TIME, TICK_SPAN("duration", "Duration"), EVENT_STACK,
			REF("parkedClass", JFR_CLASS, "Class Parked On"),
			{ "timeout", JFR_LONG, 0, "Park Timeout", { JFR_ANN_TIMESPAN, "NANOSECONDS" } },
			EPOCH("until", "Park Until"), ADDRESS("address", "Address of Object Parked"),
			LOCK_FIELDS) },
	[JFR_VM_OPERATION] = { EVENT, .name = "jdk.ExecuteVMOperation", .label = "VM Operation",
		.description = "A JVM's threads were stopped for it", .category = { VM, "Runtime" },
		.fields = FIELDS(START_TIME, TICK_SPAN("duration", "Duration"),
			REF("eventThread", JFR_THREAD, "Event Thread"), TEXT("operation", "Operation"),
			PLAIN("safepoint", JFR_BOOLEAN, "At Safepoint"),
			PLAIN("blocking", JFR_BOOLEAN, "Caller Blocked"), REF("caller", JFR_THREAD, "Caller"),
			COUNT("safepointId", "Safepoint Identifier"), SAFEPOINT_FIELDS) },
	[JFR_SAFEPOINT_BEGIN] = { EVENT, .name = "jdk.SafepointBegin", .label = "Safepoint Begin",
		.description = "Time until all of a JVM's threads had stopped",
		.category = { VM, "Safepoint" }, .fields = FIELDS(START_TIME,
			TICK_SPAN("duration", "Duration"), REF("eventThread", JFR_THREAD, "Event Thread"),
			COUNT("safepointId", "Safepoint Identifier"),
			PLAIN("totalThreadCount", JFR_INT, "Total Threads"),
			PLAIN("jniCriticalThreadCount", JFR_INT, "JNI Critical Threads"), SAFEPOINT_FIELDS) },
	[JFR_SAFEPOINT_END] = { EVENT, .name = "jdk.SafepointEnd", .label = "Safepoint End",
		.description = "Time until a JVM's threads were let go on",
		.category = { VM, "Safepoint" }, .fields = FIELDS(START_TIME,
			TICK_SPAN("duration", "Duration"), REF("eventThread", JFR_THREAD, "Event Thread"),
			COUNT("safepointId", "Safepoint Identifier"), SAFEPOINT_FIELDS) },
	[JFR_COMPILATION] = { EVENT, .name = "jdk.Compilation", .label = "Compilation",
		.description = "A JVM compiled a method",
		.category = { VM, "Compiler" }, .fields = FIELDS(START_TIME,
			TICK_SPAN("duration", "Duration"), REF("eventThread", JFR_THREAD, "Event Thread"),
			PLAIN("compileId", JFR_INT, "Compilation Identifier"),
			PLAIN("compiler", JFR_STRING, "Compiler"), REF("method", JFR_METHOD, "Java Method"),
			PLAIN("compileLevel", JFR_SHORT, "Compilation Level"),
			PLAIN("succeded", JFR_BOOLEAN, "Succeeded"),
			PLAIN("isOsr", JFR_BOOLEAN, "On Stack Replacement"), COMPILATION_FIELDS) },
	[JFR_CLASS_DEFINE] = { EVENT, .name = "jdk.ClassDefine", .label = "Class Define",
		.description = "A JVM loaded a class", .category = { VM, "Class Loading" },
		.fields = FIELDS(START_TIME, EVENT_STACK, REF("definedClass", JFR_CLASS, "Defined Class"),
			REF("definingClassLoader", JFR_CLASS_LOADER, "Defining Class Loader"),
			COUNT("weight", "Classes It Stands for"), CLASS_FIELDS) },
	[JFR_GC_PAUSE] = { EVENT, .name = "jdk.GCPhasePause", .label = "GC Phase Pause",
		.description = "A JVM's collector had stopped its threads", .category = { VM, "GC" },
		.fields = FIELDS(START_TIME, TICK_SPAN("duration", "Duration"),
			REF("eventThread", JFR_THREAD, "Event Thread"), PLAIN("name", JFR_STRING, "Name"),
			SAFEPOINT_FIELDS) },
	[JFR_RECORDING_EVENT] = { EVENT, .name = "hostprof.Recording", .label = "Recording",
		.description = "What was recorded, where and how", .category = { OURS },
		.fields = FIELDS(START_TIME, TEXT("command", "Command"), TEXT("host", "Host"),
			COUNT("wallStart", "Start, Nanoseconds since the Epoch"),
			TICKS("monotonicStart", "Start")) },
	[JFR_KIND_EVENT] = { EVENT, .name = "hostprof.Event", .label = "Kind of Event",
		.description = "An event that was recorded", .category = { OURS },
		.fields = FIELDS(START_TIME, EVENT_KIND_FIELDS) },
	[JFR_PROCESS_EVENT] = { EVENT, .name = "hostprof.Process", .label = "Process",
		.description = "A process between two calls of exec", .category = { OURS },
		.fields = FIELDS(START_TIME, PROCESS_FIELDS) },
	[JFR_MAPPING_EVENT] = { EVENT, .name = "hostprof.Mapping", .label = "Mapping",
		.description = "A file that code came from", .category = { OURS },
		.fields = FIELDS(START_TIME, MAPPING_FIELDS) },
	[JFR_QUALITY_EVENT] = { EVENT, .name = "hostprof.Quality", .label = "Quality",
		.description = "What became of the samples of a process", .category = { OURS },
		.fields = FIELDS(START_TIME, REF("process", JFR_PROCESS, "Process"), TEXT("eventName", "Event"),
			COUNT("samples", "Samples Taken"), COUNT("complete", "Complete Stacks"),
			COUNT("weight", "Weight"), COUNT("lost", "Samples Lost"),
			COUNT("lostWeight", "Weight Lost")) },
	[JFR_COUNTER_EVENT] = { EVENT, .name = "hostprof.Counter", .label = "Counter",
		.description = "A count of the whole recording", .category = { OURS },
		.fields = FIELDS(START_TIME, TEXT("name", "Name"), TEXT("detail", "Detail"),
			COUNT("value", "Value")) },

	[JFR_NATIVE_METHOD_SAMPLE] = { EVENT, .name = "jdk.NativeMethodSample", .label = "Native Sample",
		.category = { VM, "Profiling" }, .fields = FIELDS(START_TIME,
			REF("sampledThread", JFR_THREAD, "Thread"),
			REF("stackTrace", JFR_STACK_TRACE, "Stack Trace"),
			REF("state", JFR_THREAD_STATE, "Thread State")) },
	[JFR_CPU_TIME_SAMPLE] = { EVENT, .name = "jdk.CPUTimeSample", .label = "CPU Time Sample",
		.category = { VM, "Profiling" }, .fields = FIELDS(START_TIME,
			REF("stackTrace", JFR_STACK_TRACE, "Stack Trace"),
			REF("eventThread", JFR_THREAD, "Thread"), PLAIN("failed", JFR_BOOLEAN, "Failed"),
			TICK_SPAN("samplingPeriod", "CPU Time Sampling Period"),
			PLAIN("biased", JFR_BOOLEAN, "Biased")) },
	[JFR_ALLOCATION_IN_NEW_TLAB] = { EVENT, .name = "jdk.ObjectAllocationInNewTLAB",
		.label = "Allocation in new TLAB", .category = { APP }, .fields = FIELDS(START_TIME, EVENT_STACK,
			REF("objectClass", JFR_CLASS, "Object Class"), BYTES("allocationSize", "Allocation Size"),
			BYTES("tlabSize", "TLAB Size")) },
	[JFR_ALLOCATION_OUTSIDE_TLAB] = { EVENT, .name = "jdk.ObjectAllocationOutsideTLAB",
		.label = "Allocation outside TLAB", .category = { APP }, .fields = FIELDS(START_TIME, EVENT_STACK,
			REF("objectClass", JFR_CLASS, "Object Class"),
			BYTES("allocationSize", "Allocation Size")) },
	[JFR_SHUTDOWN] = { EVENT, .name = "jdk.Shutdown", .label = "JVM Shutdown", .category = { VM, "Runtime" },
		.fields = FIELDS(START_TIME, EVENT_STACK, PLAIN("reason", JFR_STRING, "Reason")) },
	[JFR_ACTIVE_RECORDING] = { EVENT, .name = "jdk.ActiveRecording", .label = "Flight Recording",
		.category = { "Flight Recorder" }, .fields = FIELDS(START_TIME, PLAIN("id", JFR_LONG, "Id"),
			PLAIN("name", JFR_STRING, "Name"), PLAIN("destination", JFR_STRING, "Destination"),
			PLAIN("disk", JFR_BOOLEAN, "To Disk"), MS_SPAN("maxAge", "Max Age"),
			MS_SPAN("flushInterval", "Flush Interval"), BYTES("maxSize", "Max Size"),
			EPOCH("recordingStart", "Start Time"), MS_SPAN("recordingDuration", "Recording Duration")) },
	[JFR_ACTIVE_SETTING] = { EVENT, .name = "jdk.ActiveSetting", .label = "Recording Setting",
		.category = { "Flight Recorder" }, .fields = FIELDS(START_TIME, PLAIN("id", JFR_LONG, "Event Id"),
			PLAIN("name", JFR_STRING, "Setting Name"), PLAIN("value", JFR_STRING, "Setting Value")) },
	[JFR_JVM_INFORMATION] = { EVENT, .name = "jdk.JVMInformation", .label = "JVM Information",
		.category = { VM }, .fields = FIELDS(START_TIME, PLAIN("jvmName", JFR_STRING, "JVM Name"),
			PLAIN("jvmVersion", JFR_STRING, "JVM Version"),
			PLAIN("jvmArguments", JFR_STRING, "JVM Command Line Arguments"),
			PLAIN("jvmFlags", JFR_STRING, "JVM Settings File Arguments"),
			PLAIN("javaArguments", JFR_STRING, "Java Application Arguments"),
			EPOCH("jvmStartTime", "JVM Start Time"), PLAIN("pid", JFR_LONG, "Process Identifier")) },
	[JFR_OS_INFORMATION] = { EVENT, .name = "jdk.OSInformation", .label = "OS Information",
		.category = { OS }, .fields = FIELDS(START_TIME, PLAIN("osVersion", JFR_STRING, "OS Version")) },
	[JFR_CPU_INFORMATION] = { EVENT, .name = "jdk.CPUInformation", .label = "CPU Information",
		.category = { OS, "Processor" }, .fields = FIELDS(START_TIME, PLAIN("cpu", JFR_STRING, "Type"),
			PLAIN("description", JFR_STRING, "Description"), PLAIN("sockets", JFR_INT, "Sockets"),
			PLAIN("cores", JFR_INT, "Cores"), PLAIN("hwThreads", JFR_INT, "Hardware Threads")) },
	[JFR_PHYSICAL_MEMORY] = { EVENT, .name = "jdk.PhysicalMemory", .label = "Physical Memory",
		.category = { OS, "Memory" }, .fields = FIELDS(START_TIME, BYTES("totalSize", "Total Size"),
			BYTES("usedSize", "Used Size")) },
	[JFR_VIRTUALIZATION_INFORMATION] = { EVENT, .name = "jdk.VirtualizationInformation",
		.label = "Virtualization Information", .category = { OS },
		.fields = FIELDS(START_TIME, PLAIN("name", JFR_STRING, "Name")) },
	[JFR_SYSTEM_PROPERTY] = { EVENT, .name = "jdk.InitialSystemProperty", .label = "Initial System Property",
		.category = { VM }, .fields = FIELDS(START_TIME, PLAIN("key", JFR_STRING, "Key"),
			PLAIN("value", JFR_STRING, "Value")) },
	[JFR_SYSTEM_PROCESS] = { EVENT, .name = "jdk.SystemProcess", .label = "System Process",
		.category = { OS }, .fields = FIELDS(START_TIME, PLAIN("pid", JFR_STRING, "Process Identifier"),
			PLAIN("commandLine", JFR_STRING, "Command Line")) },
	[JFR_CPU_LOAD] = { EVENT, .name = "jdk.CPULoad", .label = "CPU Load", .category = { OS, "Processor" },
		.fields = FIELDS(START_TIME, PERCENT("jvmUser", "JVM User"), PERCENT("jvmSystem", "JVM System"),
			PERCENT("machineTotal", "Machine Total")) },

	[JFR_ANN_LABEL] = { NOTE, .name = "jdk.jfr.Label", NOTE_ON("value", JFR_STRING) },
	[JFR_ANN_DESCRIPTION] = { NOTE, .name = "jdk.jfr.Description", NOTE_ON("value", JFR_STRING) },
	[JFR_ANN_CATEGORY] = { NOTE, .name = "jdk.jfr.Category",
		.fields = FIELDS({ "value", JFR_STRING, JFR_ARRAY, 0, { 0 } }) },
	[JFR_ANN_TIMESTAMP] = { NOTE, .name = "jdk.jfr.Timestamp", NOTE_ON("value", JFR_STRING) },
	[JFR_ANN_TIMESPAN] = { NOTE, .name = "jdk.jfr.Timespan", NOTE_ON("value", JFR_STRING) },
	[JFR_ANN_DATA_AMOUNT] = { NOTE, .name = "jdk.jfr.DataAmount", NOTE_ON("value", JFR_STRING) },
	[JFR_ANN_MEMORY_ADDRESS] = { NOTE, .name = "jdk.jfr.MemoryAddress" },
	[JFR_ANN_PERCENTAGE] = { NOTE, .name = "jdk.jfr.Percentage" },
	[JFR_ANN_UNSIGNED] = { NOTE, .name = "jdk.jfr.Unsigned" },
};
/* clang-format on */
