/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A JVM whose waits for locks are seen (-e lock), or its virtual threads' waits (-e offcpu, wall): what leads to the objects that threads park for, and to who has a lock. Included by wire.h. */
#ifndef HOSTPROF_WIRE_PARKING_H
#define HOSTPROF_WIRE_PARKING_H

/* What leads from a JavaThread to the object that it noted when it parked (bpf/hotspot/blocker.h). Offsets in bytes. */
struct wire_blocker {
	wire_u64 oop_base;
	wire_u16 thread_object; /* in a JavaThread: who Thread.currentThread() is */
	wire_u16 field;	    /* in a java.lang.Thread: a reference; 0: nothing of this is known */
	wire_u8 has_handle; /* thread_object is the address of a slot with the object's */
	wire_u8 oop_bytes; /* of a reference in an object; 4: the address is oop_base + (oop << oop_shift) */
	wire_u8 oop_shift;
	wire_u8 pad;
};

/* What leads to who has a lock (bpf/hotspot/lock_owner.h). Offsets in bytes. */
struct wire_lock_owner {
	wire_u16
		pending; /* in a JavaThread: the ObjectMonitor that it waits to enter; 0: nothing of monitors is known */
	wire_u16 monitor_owner; /* in an ObjectMonitor */
	wire_u16 os_thread;	/* in a JavaThread: its OSThread */
	wire_u16 os_tid;	/* in an OSThread, 4 bytes */
	wire_u8 has_ids;	/* monitor_owner is a Thread's number (JDK 24 on) and no address */
	wire_u8 is_anonymous;	/* it may be WIRE_MONITOR_ANONYMOUS */
	wire_u8 pad[6];
	/* Of java.util.concurrent's locks, which are AbstractOwnableSynchronizers. */
	wire_u64 synchronizer; /* that class: its Klass; 0: nothing of this is known */
	wire_u16 supers; /* in a Klass: the address of the one below Object from which it comes */
	wire_u16 exclusive; /* in such an object: a reference to a Thread */
	wire_u16 eetop; /* in a java.lang.Thread: its JavaThread, 8 bytes; 0: it is a virtual one */
	wire_u16 thread_id; /* likewise: its number, 8 bytes */
};

/* ObjectMonitor::ANONYMOUS_OWNER, share/runtime/objectMonitor.hpp, JDK 21 on: who has it has noted it on its own lock stack. */
#define WIRE_MONITOR_ANONYMOUS 1

/*
 * Who had the lock when a wait for it began, as far as it is known: what it is in the upper bits, and below them which one.
 */
enum wire_owner_kind {
	WIRE_OWNER_NONE,
	WIRE_OWNER_TID,	   /* a thread, by its tid in the JVM's pid namespace */
	WIRE_OWNER_NUMBER, /* a java.lang.Thread, maybe a virtual one, by its number */
	WIRE_OWNER_PLACE,  /* it is, or has on its stack, what lies at this address */
	WIRE_OWNER_ANONYMOUS, /* the monitor does not tell: a struct wire_lock_begin was sent, of this begin_ns */
	WIRE_OWNER_VIRTUAL, /* a virtual thread, by its number */
};

#define WIRE_OWNER_KIND_SHIFT 60
#define WIRE_OWNER(kind, value) \
	((wire_u64)WIRE_OWNER_##kind << WIRE_OWNER_KIND_SHIFT | ((value)&WIRE_OWNER_VALUE_MASK))
#define WIRE_OWNER_VALUE_MASK ((1ULL << WIRE_OWNER_KIND_SHIFT) - 1)

/* Waits for monitors of which it is noted who had them, at one time. */
#define WIRE_LOCK_WAITS 4096

/* A thread waits to enter a monitor, and somebody has to find out at once who has it. */
struct wire_lock_begin {
	wire_u32 size;
	wire_u16 kind; /* WIRE_LOCK_BEGIN */
	wire_u16 pad;
	wire_u64 begin_ns; /* CLOCK_MONOTONIC; by this and the thread its sample finds it */
	wire_u64 monitor;  /* the ObjectMonitor */
	wire_u32 tgid;
	wire_u32 tid;
};

/* What leads to the virtual thread that leaves its carrier, or comes back (bpf/hotspot/yielding.h). Offsets in bytes. */
struct wire_yielding {
	wire_u64 klass;	 /* java.lang.VirtualThread's Klass; 0: nothing of this is known */
	wire_u16 entry;	 /* in a JavaThread: the address of its ContinuationEntry */
	wire_u16 target; /* in a jdk.internal.vm.Continuation: a reference to what it runs */
	wire_u16 first;	 /* in that: where its references begin */
	wire_u16 id;	 /* in a java.lang.Thread: its number, 8 bytes */
};

/* Virtual threads that have left their carriers and are followed, of all JVMs at one time, by each event that does; those that have for longest make room. */
#define WIRE_YIELDS 16384

/* Entries of the kernel's LRU lists that one cpu may have taken and not used: LOCAL_FREE_TARGET and pending ones in kernel/bpf/bpf_lru_list.c. */
#define WIRE_YIELDS_CPU 256

/* Each event that follows them has its own entry of a thread. */
enum wire_yield_use { WIRE_YIELD_OF_LOCK, WIRE_YIELD_OF_WAIT };

struct wire_yield_key {
	wire_u64 id; /* of the virtual thread */
	wire_u32 tgid;
	wire_u32 use; /* enum wire_yield_use */
};

/* Since when it has been without a carrier. */
struct wire_yield {
	wire_u64 begin_ns;
	wire_u64 owner; /* WIRE_YIELD_OF_LOCK: who had the lock then */
	wire_u32 cause; /* WIRE_YIELD_OF_WAIT: enum wire_cause; WIRE_CAUSE_NONE: its frames tell */
	wire_u32 was_back; /* it may be so no more (bpf/sample/locks/yield_probe.h) */
};

/*
 * Waits for locks that are told in 100 ms: of all JVMs of a host together, which one thread of ours puts together (20 to 30 us each), of a cpu at
 * most and however many there are, and of a JVM alone.
 */
#define WIRE_PARK_HOST	400
#define WIRE_PARK_MOST	200
#define WIRE_PARK_LEAST 20
#define WIRE_PARK_JVM	200

struct wire_parking {
	wire_u64 start_ns; /* of the process; 0 until it is first seen */
	struct wire_object object;
	struct wire_own_thread own;
	struct wire_blocker blocker;
	struct wire_lock_owner owner;
	struct wire_yielding yielding;
	struct wire_pace pace; /* BPF's */
};

_Static_assert(sizeof(struct wire_blocker) == 16, "wire_blocker");
_Static_assert(sizeof(struct wire_lock_owner) == 32, "wire_lock_owner");
_Static_assert(sizeof(struct wire_lock_begin) == 32, "wire_lock_begin");
_Static_assert(sizeof(struct wire_yielding) == 16, "wire_yielding");
_Static_assert(sizeof(struct wire_yield_key) == 16, "wire_yield_key");
_Static_assert(sizeof(struct wire_yield) == 24, "wire_yield");
_Static_assert(sizeof(struct wire_parking) == 112, "wire_parking");

#endif
