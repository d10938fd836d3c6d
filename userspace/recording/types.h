/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of our recordings as rows: what the metadata event says and what the writer's field
 * order must be. The jdk.* types have the JDK's own fields first (src/hotspot/share/jfr/metadata/
 * metadata.xml, JDK 25), those of profiler.* async-profiler's (src/jfrMetadata.cpp, 4.5); ours are
 * appended.
 */
#ifndef HOSTPROF_RECORDING_TYPES_H
#define HOSTPROF_RECORDING_TYPES_H

#include <stdbool.h>

/* The numbers of event types are below 128, so that they take one byte in every event. */
enum jfr_type_id {
	JFR_METADATA = 0,
	JFR_CHECKPOINT = 1,
	JFR_FIRST_TYPE = 4,
	JFR_BOOLEAN = JFR_FIRST_TYPE,
	JFR_CHAR,
	JFR_FLOAT,
	JFR_DOUBLE,
	JFR_BYTE,
	JFR_SHORT,
	JFR_INT,
	JFR_LONG,
	JFR_STRING,
	/* pools */
	JFR_CLASS,
	JFR_THREAD,
	JFR_CLASS_LOADER,
	JFR_THREAD_GROUP,
	JFR_MODULE,
	JFR_PACKAGE,
	JFR_SYMBOL,
	JFR_FRAME_TYPE,
	JFR_THREAD_STATE,
	JFR_METHOD,
	JFR_STACK_FRAME,
	JFR_STACK_TRACE,
	JFR_FRAME_KIND,
	JFR_EVENT_KIND,
	JFR_MAPPING,
	JFR_PROCESS,
	JFR_LOCATION,
	/* events */
	JFR_EXECUTION_SAMPLE,
	JFR_EVENT_SAMPLE,
	JFR_OBJECT_ALLOCATION_SAMPLE,
	JFR_LIVE_OBJECT,
	JFR_MALLOC,
	JFR_OFFCPU_SAMPLE,
	JFR_WALL_CLOCK_SAMPLE,
	JFR_MONITOR_ENTER,
	JFR_MONITOR_WAIT,
	JFR_THREAD_PARK,
	JFR_VM_OPERATION,
	JFR_SAFEPOINT_BEGIN,
	JFR_SAFEPOINT_END,
	JFR_KERNEL_LOCK,
	JFR_NATIVE_LOCK,
	JFR_COMPILATION,
	JFR_CLASS_DEFINE,
	JFR_GC_PAUSE,
	JFR_RECORDING_EVENT,
	JFR_KIND_EVENT,
	JFR_PROCESS_EVENT,
	JFR_MAPPING_EVENT,
	JFR_QUALITY_EVENT,
	JFR_COUNTER_EVENT,
	/* events that tools want to find declared; we write none */
	JFR_NATIVE_METHOD_SAMPLE,
	JFR_CPU_TIME_SAMPLE,
	JFR_ALLOCATION_IN_NEW_TLAB,
	JFR_ALLOCATION_OUTSIDE_TLAB,
	JFR_SHUTDOWN,
	JFR_ACTIVE_RECORDING,
	JFR_ACTIVE_SETTING,
	JFR_JVM_INFORMATION,
	JFR_OS_INFORMATION,
	JFR_CPU_INFORMATION,
	JFR_PHYSICAL_MEMORY,
	JFR_VIRTUALIZATION_INFORMATION,
	JFR_SYSTEM_PROPERTY,
	JFR_SYSTEM_PROCESS,
	JFR_CPU_LOAD,
	/* annotations */
	JFR_ANN_LABEL,
	JFR_ANN_DESCRIPTION,
	JFR_ANN_CATEGORY,
	JFR_ANN_TIMESTAMP,
	JFR_ANN_TIMESPAN,
	JFR_ANN_DATA_AMOUNT,
	JFR_ANN_MEMORY_ADDRESS,
	JFR_ANN_PERCENTAGE,
	JFR_ANN_UNSIGNED,
	JFR_TYPE_COUNT
};

enum jfr_super { JFR_SUPER_NONE, JFR_SUPER_EVENT, JFR_SUPER_ANNOTATION };

enum jfr_field_flag {
	JFR_POOL = 1 << 0,  /* the value is a key of the type's constant pool */
	JFR_ARRAY = 1 << 1, /* a count and as many values */
	JFR_WAKER = 1 << 2, /* only where the profile tells wakers */
};

struct jfr_annotation_info {
	enum jfr_type_id type;
	const char *value; /* NULL: it has none */
};

struct jfr_field_info {
	const char *name; /* NULL ends the list */
	enum jfr_type_id type;
	unsigned int flags; /* enum jfr_field_flag */
	const char *label;
	struct jfr_annotation_info content; /* type 0: none */
};

struct jfr_type_info {
	const char *name; /* NULL: the number is not in use */
	enum jfr_super super;
	bool simple; /* tools show the only field in the place of the value */
	const char *label;
	const char *description;
	const char *category[2];
	const struct jfr_field_info *fields; /* NULL: none */
};

extern const struct jfr_type_info jfr_types[JFR_TYPE_COUNT];

#endif
