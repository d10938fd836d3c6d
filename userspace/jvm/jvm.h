/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVMs of the host as a recording sees them: found by a mapping of libjvm.so, read from
 * outside (VMStructs), and, where an agent is loaded, fed by its code map.
 */
#ifndef HOSTPROF_JVM_JVM_H
#define HOSTPROF_JVM_JVM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/java_frame.h"
#include "process/process.h"
#include "wire.h"

struct jvm;
struct jvm_table;
struct jvm_yield_code;	    /* jvm/continuation/jvm_yielding.h */
struct virtual_parked_list; /* jvm/continuation/virtual_parked.h */
struct virtual_parked_wanted;

struct jvm_table *jvm_table_new(void);
void jvm_table_free(struct jvm_table *table);
DEFINE_CLEANUP(struct jvm_table *, jvm_table_free);

/*
 * The JVM of a process: made at the first call for a process that maps libjvm.so, NULL when it is
 * no JVM. Attached to the process until jvm_table_forget(). Cheap to call for every sample.
 */
struct jvm *jvm_table_get(struct jvm_table *table, struct process *process);
void jvm_table_forget(struct jvm_table *table, struct process *process);

/*
 * The JVM that maps LIBJVM (code of it) now: made when it is not known, if MAKE_NEW. The registry is
 * some hundred milliseconds behind; when it knows the process, jvm_table_get() finds the same.
 */
struct jvm *jvm_table_find(struct jvm_table *table, uint32_t pid, const struct mapping *libjvm,
			   bool make_new);

/*
 * Look for an agent's code map in the process (again), take the lease and ask for a replay. 0 when
 * it is being read; -ENODATA no agent; -EBUSY another hostprof holds the lease (err names its pid).
 */
int jvm_open_code_map(struct jvm *jvm, struct err *err);

/*
 * Have the agents of JVMs whose code maps are opened from now on sample allocations, INTERVAL bytes
 * between two on average.
 */
void jvm_table_sample_allocations(struct jvm_table *table, uint32_t interval);

/* And tell of waits for locks of at least LEAST_NS. */
void jvm_table_sample_locks(struct jvm_table *table, uint64_t least_ns);
/* JVMs with an agent that was asked for them, and cannot. While leases are held. */
uint32_t jvm_table_without_locks(const struct jvm_table *table);

/* 0: its agent samples them, or was not asked to, or has not answered yet. -EOPNOTSUPP: it cannot, and why. */
int jvm_check_allocations(const struct jvm *jvm, struct err *err);

/* Its agent was asked to tell of locks, and does not. */
bool jvm_hides_locks(const struct jvm *jvm);

/* The class that a sample of an allocation or of a lock names, dotted; NULL when the agent has not told. Borrowed for now. */
const char *jvm_class_name(const struct jvm *jvm, uint64_t class_id);

/* An agent's code map is being read: false again when the agent or the lease has gone. */
bool jvm_reads_code_map(const struct jvm *jvm);

/* Read what the agents wrote, renew leases; call every 50-100 ms. */
void jvm_table_poll(struct jvm_table *table);

/*
 * What agents told takes at most BYTES of all JVMs (default: no limit): past that the JVM that takes
 * the most is forgotten and asked again, later each time. Meanwhile it is read from outside.
 */
void jvm_table_limit_code_maps(struct jvm_table *table, size_t bytes);
/* Forget that one now. False: none takes a megabyte. */
bool jvm_table_forget_largest(struct jvm_table *table);
/* How often that was done, and to whom first. */
uint64_t jvm_table_forgotten(const struct jvm_table *table, uint32_t *ret_pid);

/* Frames of all JVMs so far that were not named, as that would have taken too much time, and whose the first of these was. */
uint64_t jvm_frames_unnamed(uint32_t *ret_pid);

/* JVMs so far whose release does not say from outside what was inlined, and no agent did. */
uint32_t jvm_table_without_inlining(const struct jvm_table *table);

/* Those that are there and cannot be read from outside, so that their frames have no names; WHY is a sentence. */
void jvm_table_for_each_unread(const struct jvm_table *table,
			       void (*fn)(uint32_t pid, const char *why, void *data), void *data);

/* All replays that were asked for have ended. */
bool jvm_table_replayed(const struct jvm_table *table);

/* Let the leases go (end of a recording). */
void jvm_table_release_leases(struct jvm_table *table);

/*
 * What the step functions need to know of it. -ENODATA when VMStructs could not be read yet; when
 * they never will, 0 and a layout whose ranges are all 0. URGENT: a sample waits for it, so that a
 * JVM which is still starting is looked at now and not at its next time.
 * A JVM of JDK 19 or later gets return_barrier, enter_return and thread_cont_entry only with its
 * first virtual thread: ask again at every poll, and compare with what was published.
 */
int jvm_get_wire(struct jvm *jvm, bool urgent, struct wire_jvm *ret_wire);

/* An agent told, or tells, what its code is: jvm_find_code() may know an answer. */
bool jvm_has_code_map(const struct jvm *jvm);

/*
 * Each of these fills *ret_answer with what it says that it found. What is read from the JVM's memory
 * is remembered: ask as soon as a sample arrives.
 */

/*
 * Frames of JIT code as of TIME_NS, by an agent's code map; JAVA_UNKNOWN also where there is none.
 * JAVA_ELSEWHERE: ADDRESS does not lie in the JVM's code cache. Debug info is looked up as HotSpot does it,
 * by the first pc at or after the address, which is the address itself where a call returns.
 */
enum java_lookup jvm_find_code(struct jvm *jvm, uint64_t address, uint64_t time_ns,
			       struct java_answer *ret_answer);

/*
 * Has jvm_find_code() the same answers at TIME_NS and at all later moments, as long as *RET_CHANGES stays? False: it may change with the time.
 */
bool jvm_code_is_settled(const struct jvm *jvm, uint64_t time_ns, uint64_t *ret_changes);

/*
 * The method of an interpreted frame (its words as in wire.h), read from the JVM's memory and
 * checked by what the sample carries: JAVA_EVICTED when it is not that method any more.
 */
enum java_lookup jvm_find_interpreted(struct jvm *jvm, const uint64_t words[WIRE_INTERPRETED_WORDS],
				      struct java_answer *ret_answer);

/* So many frames are met at once. */
#define JVM_MEET_FRAMES 64

/*
 * Frames in code blobs, at most JVM_MEET_FRAMES: what nobody has asked for yet is read of all together, and kept for jvm_find_compiled().
 */
void jvm_meet_compiled(struct jvm *jvm, const uint64_t *const words[], unsigned int count);

/*
 * The methods of a frame in a code blob, or the name of a stub, read from the JVM's memory:
 * WORDS are its WIRE_COMPILED_WORDS. The compile id tells whether it is still that code.
 */
enum java_lookup jvm_find_compiled(struct jvm *jvm, const uint64_t words[WIRE_COMPILED_WORDS],
				   struct java_answer *ret_answer);

/*
 * Thread TID has a sample of TIME_NS, of Java code or not, that has just arrived: its name is read, now when it is not known, at the next
 * jvm_table_poll() when that was some time ago.
 */
void jvm_note_thread(struct jvm *jvm, uint32_t tid, bool runs_java, uint64_t time_ns);

/*
 * The kernel told at once that a thread of process PID began, or got a comm, at TIME_NS: a new name in Java, as a rule. And
 * that it lost some of what it tells.
 */
void jvm_table_note_thread(struct jvm_table *table, uint32_t pid, uint32_t tid, bool begins,
			   uint64_t time_ns);
void jvm_table_note_loss(struct jvm_table *table, uint64_t time_ns);

/* Full name of a thread by the host's tid, or NULL (comm is then all there is). */
const char *jvm_thread_name(struct jvm *jvm, uint32_t tid, uint64_t time_ns,
			    uint64_t *ret_java_tid);

/*
 * Where its threads keep the books of their TLABs. -EAGAIN: it is still starting; -EOPNOTSUPP: it does not tell.
 */
int jvm_get_tlab(struct jvm *jvm, struct wire_tlab *ret_tlab, struct err *err);

/*
 * What leads to the objects that its threads park for, and to who has a lock, as far as it can be known. -EAGAIN: it is still starting; -EOPNOTSUPP: it does not tell;
 * and errors of the read.
 */
int jvm_get_parking(struct jvm *jvm, struct wire_parking *ret_parking);
/* jvm_yield_code_find(): its library lies at START to END. */
int jvm_get_yield_code(struct jvm *jvm, uint64_t start, uint64_t end,
		       struct jvm_yield_code *ret_code);
/* virtual_layout_read(), and virtual_parked_read(). */
int jvm_read_parked(struct jvm *jvm, const struct virtual_parked_wanted *wanted,
		    struct virtual_parked_list *list);

/*
 * Who had a lock: OWNER (WIRE_OWNER()) as BPF knew it becomes a thread by the host's tid (WIRE_OWNER_TID), or a virtual one by
 * its number; 0: it cannot be told any more. Ask as soon as the sample arrives.
 */
uint64_t jvm_find_owner(struct jvm *jvm, uint64_t owner);
/* The same of a monitor that does not tell, as long as its owner has not given it back since. */
uint64_t jvm_find_anonymous_owner(struct jvm *jvm, const struct wire_lock_begin *begin);

/*
 * What BPF needs to tell more of what it does for itself, and of collections the cause; what is not known stays as it is. -EOPNOTSUPP: nothing will
 * be known ever; -EAGAIN, and errors of the read: some of it may be known later.
 */
int jvm_get_phases(struct jvm *jvm, bool wants_cause, struct wire_phases *ret_phases);

/*
 * The class at KLASS, read now, or shortly before TIME_NS, and remembered: "java.lang.String", "byte[]"; NULL when there is none.
 * Borrowed until the next call of either function. Ask as soon as a sample of TIME_NS arrives, since classes are unloaded.
 */
const char *jvm_read_class(struct jvm *jvm, uint64_t klass, uint64_t time_ns);
/* That of the last read; read, where there was none. */
const char *jvm_find_class(struct jvm *jvm, uint64_t klass);

/* What is shown beside code that runs; bits. */
enum jvm_shows {
	JVM_SHOWS_RECEIVERS = 1, /* the class of the object that a vtable or itable stub calls */
	JVM_SHOWS_COMPILING = 2, /* the method that a compiler thread compiles */
};

/* Of JVMs that are met from now on; default: nothing. */
void jvm_table_show(struct jvm_table *table, uint32_t shows);

/*
 * The class in the words of a WIRE_FRAME_RECEIVER, dotted; NULL when there is another one by now. Read when it is asked for
 * first: as soon as the sample arrives. Borrowed until the next call.
 */
const char *jvm_receiver_class(struct jvm *jvm, const uint64_t words[WIRE_RECEIVER_WORDS]);

/* 8, 11, 17, …; 0 unknown. */
uint32_t jvm_feature_release(struct jvm *jvm);

/* "17.0.15+6", "" unknown; the main class or jar from the command line, "" unknown. */
const char *jvm_version(struct jvm *jvm);
const char *jvm_main_class(struct jvm *jvm);

#endif
