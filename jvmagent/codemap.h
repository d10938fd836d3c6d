/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent tells hostprof: one memfd ("hostprof-codemap") inside the JVM, found by hostprof
 * through /proc/PID/fd. A header page and a ring of records. One producer process (threads of the
 * JVM, serialized by a lock that is never held across a JVM call), one consumer at a time, which
 * holds a lease. Versioned, append-only: a field or a record kind is only ever added at the end,
 * and an unknown kind is skipped by its size. All times are CLOCK_MONOTONIC nanoseconds. The
 * reader treats every byte as hostile.
 *
 * Life: the agent publishes nothing until a consumer holds a lease and asks for a replay
 * (`command_seq` changes, futex wake). It then turns its events on, replays all code that exists,
 * writes CODEMAP_REPLAY_END, and goes on with live records. When the lease lapses it turns its
 * events off within 10 s. A record that does not fit is dropped, counted, and announced by one
 * CODEMAP_GAP record as soon as there is room; the consumer answers with a new replay.
 */
#ifndef HOSTPROF_CODEMAP_H
#define HOSTPROF_CODEMAP_H

#include <stdint.h>

#define CODEMAP_MEMFD_NAME   "hostprof-codemap"
#define CODEMAP_MAGIC	     0x31504d4350545348ULL /* "HSTPCMP1" */
#define CODEMAP_VERSION	     1
#define CODEMAP_HEADER_BYTES 4096
/* With its own tables the agent takes less than 8 MB of a JVM. */
#define CODEMAP_RING_BYTES (4U << 20)
#define CODEMAP_LEASE_NS   3000000000ULL /* the consumer renews well before */
/* Code that inlines more than this is published without its innermost frames (flag CUT). */
#define CODEMAP_MAX_RECORD_BYTES (256U << 10)
/* A method with a longer descriptor is published without it (flag CUT). */
#define CODEMAP_MAX_DESCRIPTOR 4096

enum codemap_command {
	CODEMAP_COMMAND_NONE,
	CODEMAP_COMMAND_START,	      /* events on, replay what exists */
	CODEMAP_COMMAND_STOP,	      /* events off */
	CODEMAP_COMMAND_LIVE,	      /* say which objects are alive; the events stay as they are */
	CODEMAP_COMMAND_LIVE_COLLECT, /* the same, after a full collection */
};

/* What the consumer wants; bits. */
enum codemap_want {
	CODEMAP_WANT_CODE = 1,	  /* JIT code, stubs, methods */
	CODEMAP_WANT_THREADS = 2, /* thread names */
	CODEMAP_WANT_ALLOC = 4,	  /* samples of allocations, at the agent's hostprof_alloc() */
	CODEMAP_WANT_LIVE = 8,	  /* sampled objects have ids, and are followed to their end */
	CODEMAP_WANT_LOCKS = 16,  /* waits for monitors, at the agent's hostprof_lock() */
};

/* What Agent_OnAttach returns, and the attach client sees as "return code: N". */
enum agent_result {
	AGENT_OK,
	AGENT_NO_MEMORY, /* no memfd (kernel before 3.17) or no memory */
	AGENT_NO_JVMTI,
	AGENT_NO_THREAD, /* no room in the heap, or no more threads */
	AGENT_BUSY,	 /* the one before could not be ended in time */
};

/* The first page. Written by the agent except where said; 8-byte fields are accessed atomically. */
struct codemap_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;
	uint32_t ring_bytes;  /* a power of two */
	uint32_t agent_build; /* hostprof version, major * 10000 + minor * 100 + patch */
	uint32_t ns_pid;      /* the JVM's pid in its own pid namespace */
	uint32_t jvmti_version;
	uint64_t created_ns;
	uint64_t head;		 /* bytes ever written; the next record goes to head % ring_bytes */
	uint64_t tail;		 /* consumer: bytes ever read */
	uint64_t lease_until_ns; /* consumer: renewed while it lives; 0: none */
	uint32_t lease_pid;	 /* consumer: its pid in the host's namespace, for messages */
	uint32_t command_seq; /* consumer: futex word; incremented after command and want are set */
	uint32_t command;     /* consumer: enum codemap_command */
	uint32_t want;	      /* consumer: enum codemap_want bits */
	uint32_t done_seq;    /* the command_seq that was carried out */
	uint32_t events_on;   /* enum codemap_want bits that are on now */
	uint64_t dropped;     /* records that did not fit, in all */
	uint64_t replays;     /* replays finished */
	uint64_t agent_bytes; /* memory of the agent's own tables, ring included */
	uint64_t records;     /* ever written, without paddings; readers go by head */
	uint64_t closed_ns;   /* not 0: the agent let go of this memory, nothing more will come */
	uint32_t cannot; /* enum codemap_want bits that this JVM cannot give (JDK 8 before 8u382) */
	uint32_t alloc_wanted; /* consumer, with CODEMAP_WANT_ALLOC: mean bytes between samples */
	uint32_t
		alloc_interval; /* those in force now; more than wanted where samples were too many */
	uint32_t pad;
	uint64_t lock_least_ns; /* consumer, with CODEMAP_WANT_LOCKS: shorter waits are not told */
};

enum codemap_kind {
	CODEMAP_PAD = 0, /* fill up to the ring's end; skip */
	CODEMAP_METHOD = 1,
	CODEMAP_LOAD = 2,
	CODEMAP_UNLOAD = 3,
	CODEMAP_DYNAMIC = 4, /* stub, adapter, interpreter */
	CODEMAP_GAP = 5,
	CODEMAP_REPLAY_BEGIN = 6,
	CODEMAP_REPLAY_END = 7,
	CODEMAP_THREAD = 8, /* a thread's name, at its start */
	CODEMAP_THREAD_END = 9,
	CODEMAP_THREAD_SEEN = 10, /* in a replay: a thread older than the agent's events */
	CODEMAP_CLASS = 11,	  /* what class ids of hostprof_alloc() and _lock() mean */
	CODEMAP_GONE = 12,	  /* objects that are not followed any more: most have died */
	CODEMAP_LIVE = 13,	  /* of a report: objects that are alive */
	CODEMAP_LIVE_END = 14,	  /* it is whole */
};

/*
 * Every record starts with this, is 8-byte aligned and does not wrap: CODEMAP_PAD goes before it,
 * or nothing where fewer bytes than a record header are left before the ring's end.
 */
struct codemap_record {
	uint32_t size;	/* bytes with this header, multiple of 8 */
	uint16_t kind;	/* enum codemap_kind */
	uint16_t flags; /* enum codemap_flag */
	uint64_t time_ns;
};

enum codemap_flag {
	CODEMAP_FLAG_REPLAYED =
		1, /* the code is older than the record: made at an unknown time before */
	CODEMAP_FLAG_CUT = 2,	     /* details were left out for size */
	CODEMAP_FLAG_DESCRIPTOR = 4, /* of a METHOD: its descriptor is behind its source */
};

/*
 * A method that later LOAD records name by its number. Numbers are never re-used within one
 * memfd; a replay publishes methods anew under new numbers.
 */
struct codemap_method {
	struct codemap_record record;
	uint64_t number; /* 0 is never given out: a frame of a method that could not be named */
	uint16_t
		class_len; /* "java/lang/Thread" or "pkg/Outer$Inner", hidden: "A+0x0123" as JVMTI gives it */
	uint16_t name_len;
	uint16_t source_len; /* "Thread.java", 0 when unknown */
	uint16_t line_count;
	/* struct codemap_line lines[line_count], then class, name, source bytes, no terminators */
	/* with CODEMAP_FLAG_DESCRIPTOR: two bytes, its length, and so many: "(I)V" as JVMTI gives it */
};

struct codemap_line {
	uint16_t bci;
	uint16_t line;
};

/* Compiled code of a method. */
struct codemap_load {
	struct codemap_record record;
	uint64_t address;
	uint32_t code_bytes;
	uint32_t pc_count;
	uint64_t method; /* number of the outermost method */
			 /*
	 * pc_count entries, ascending pc: struct codemap_pc followed by its `depth` frames, innermost
	 * first. An entry covers the code up to and including its pc, from the entry before.
	 */
};

struct codemap_pc {
	uint32_t offset; /* pc - address */
	uint32_t depth;	 /* frames that follow, >= 1 */
};

struct codemap_frame {
	uint64_t method; /* number */
	int32_t bci;	 /* -1: method entry */
	uint32_t pad;
};

struct codemap_unload {
	struct codemap_record record;
	uint64_t address;
};

struct codemap_dynamic {
	struct codemap_record record;
	uint64_t address;
	uint32_t code_bytes;
	uint32_t name_len;
	/* name bytes: "Interpreter", "StubRoutines (1)" */
};

struct codemap_gap {
	struct codemap_record record;
	/* record.time_ns is that of the first one lost */
	uint64_t dropped; /* records lost since the last GAP */
};

struct codemap_thread {
	struct codemap_record record;
	uint32_t tid; /* in the JVM's pid namespace */
	uint32_t name_len;
	uint64_t java_tid; /* java.lang.Thread id, 0 unknown */
			   /* name bytes, UTF-8 (modified UTF-8 as JVMTI gives it) */
};

/* The agent cannot tell the tid of a thread that it does not run on; the reader looks it up. */
struct codemap_thread_seen {
	struct codemap_record record;
	uint64_t java_thread; /* address of its JavaThread (java.lang.Thread.eetop) */
	uint64_t java_tid;
	uint32_t name_len;
	uint32_t pad;
	/* name bytes */
};

/*
 * Written before the id is used. An id never means another class, in all the JVM's life; a class has
 * another one after each replay, and id 0 is a class that could not be named.
 */
struct codemap_class {
	struct codemap_record record;
	uint64_t id;
	uint32_t name_len;
	uint32_t pad;
	/* its signature as JVMTI gives it, "Ljava/lang/String;", "[B" */
};

struct codemap_object {
	uint64_t id;  /* as hostprof_alloc() was told; never given twice in a JVM's life */
	uint32_t age; /* CODEMAP_LIVE: collections that it has survived, >= 1 */
	uint32_t pad;
};

/*
 * CODEMAP_GONE, CODEMAP_LIVE and CODEMAP_LIVE_END. What no collection has looked at yet is in no report.
 * The level of the last record of a report holds for all of it: each object that codemap_live_keeps() by
 * that level stands for 2^level, all others are to be left out.
 */
struct codemap_objects {
	struct codemap_record record;
	uint32_t count;
	uint32_t level; /* of the agent's table now; it never falls while WANT_LIVE is on */
	uint32_t seq;	/* of the command that asked for the report; CODEMAP_GONE: 0 */
	uint32_t pad;
	/* struct codemap_object objects[count] */
};

/*
 * Both sides choose by the id alone, a bit of its mixture (splitmix64's) for each level: so they choose
 * alike, and what is chosen has nothing to do with what the object is or how long it lives.
 */
static inline int codemap_live_keeps(uint64_t object_id, uint32_t level)
{
	uint64_t mixed = object_id * 0x9e3779b97f4a7c15ULL;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
	mixed ^= mixed >> 31;
	return level < 64 && !(mixed & ((1ULL << level) - 1));
}

_Static_assert(sizeof(struct codemap_header) <= CODEMAP_HEADER_BYTES, "header fits its page");
_Static_assert(sizeof(struct codemap_record) == 16, "record");
_Static_assert(sizeof(struct codemap_method) == 32, "method");
_Static_assert(sizeof(struct codemap_load) == 40, "load");
_Static_assert(sizeof(struct codemap_frame) == 16, "frame");
_Static_assert(sizeof(struct codemap_thread) == 32, "thread");
_Static_assert(sizeof(struct codemap_class) == 32, "class");
_Static_assert(sizeof(struct codemap_objects) == 32, "objects");

#endif
