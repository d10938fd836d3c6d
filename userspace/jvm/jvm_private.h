/* SPDX-License-Identifier: Apache-2.0 */
/* What jvm.c and the table share; nobody else includes this. */
#ifndef HOSTPROF_JVM_JVM_PRIVATE_H
#define HOSTPROF_JVM_JVM_PRIVATE_H

#include "base/cache/lru.h"
#include "jvm/codemap/codemap_reader.h"
#include "jvm/codemap/codemap_store.h"
#include "jvm/heap/java_thread_read.h"
#include "jvm/heap/thread_names.h"
#include "jvm/jvm.h"
#include "jvm/jvm_live.h"
#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/names/code_names.h"
#include "jvm/names/klass_names.h"
#include "jvm/names/method_name.h"
#include "jvm/names/name_time.h"

enum jvm_replay {
	JVM_REPLAY_NONE,
	JVM_REPLAY_ASKED, /* until its end has been read */
};

enum jvm_live_state {
	JVM_LIVE_NONE,
	JVM_LIVE_WANTED, /* another command is not carried out yet */
	JVM_LIVE_ASKED,
	JVM_LIVE_TOLD,
};

struct jvm_gone {
	uint64_t time_ns; /* when we heard of it */
	uint64_t id;
};

/* Of the objects that the agent follows; see jvm_live.h. */
struct jvm_live {
	bool follows; /* it is asked to */
	uint32_t level, level_told;
	VEC(struct jvm_gone) gone;
	/* The report. */
	enum jvm_live_state state;
	bool collect;
	uint64_t until_ns;
	uint32_t seq; /* of the command */
	uint32_t report_level;
	VEC(struct codemap_object) alive;
};

/* The names of its threads, from outside. */
struct jvm_names_of_threads {
	struct thread_names names;
	struct java_thread_layout *layout; /* owned; NULL: not read yet */
	int refused;			   /* an error that stays */
	uint64_t retry_ns, wait_ns;	   /* of the layout */
	struct java_thread_list list;
	uint64_t listed_ns;
	VEC(uint32_t) again; /* to be read in this turn */
	uint64_t
		joined; /* number of the moment at which those that are due have been read together */
	struct lru
		known; /* host tid → struct known_name, owned: the way to the name that was read last */
	struct name_time time;
};

/* Of what is shown beside code that runs what the step functions need: jvm_shown.c. */
struct jvm_shown {
	uint32_t wanted,
		known; /* enum jvm_shows, and a bit of jvm_shown.c's; what cannot be known counts, too */
	uint64_t retry_ns, wait_ns;
	struct wire_receiver receiver;
	struct wire_own_thread own;
	struct wire_compiling compiling;
};

struct jvm {
	uint32_t pid;
	uint64_t serial; /* of the process generation; 0: the registry is behind */
	uint32_t id;	 /* of this JVM, over all of a run; from 1 on */
	uint64_t made_ns;
	struct mapping libjvm;	       /* path owned */
	struct vmstructs_cache *cache; /* borrowed from the table */

	/* From outside; NULL until read. */
	struct vmstructs *vs;	     /* owned */
	struct method_names *names;  /* owned */
	struct code_names *code;     /* owned */
	struct klass_names *klasses; /* owned */
	struct name_time name_time;
	struct jvm_names_of_threads threads;
	struct jvm_layout layout;
	bool has_layout;
	bool no_layout; /* for good */
	char why[128];	/* it has none now; "": it has, or nobody wanted to know */
	bool no_scopes; /* its release does not say what was inlined */
	uint64_t layout_retry_ns;
	uint64_t layout_wait_ns;
	char version[64];
	char main_class[256]; /* "" until read */
	bool no_main_class;   /* looked in vain */

	/* From the agent. */
	struct codemap_reader reader;
	struct codemap_store
		*store; /* owned; NULL before the first code map; outlives the reader */
	enum jvm_replay replay;
	uint32_t replays_before; /* of the store, when it was asked */
	uint64_t replay_asked_ns;
	uint64_t replay_pause_ns; /* least time to the next one */
	uint64_t polled_ns;
	uint64_t poll_cost_ns;	 /* of our time, the last turns counting most */
	uint32_t alloc_interval; /* bytes between samples of allocations; 0: none are wanted */
	bool wants_locks;
	uint64_t lock_least_ns;
	struct jvm_live live;
	struct jvm_shown shown;
	struct name_time owner_time; /* to find out who has locks */
	struct lru owner_tids;	     /* a Thread's number -> its tid in the JVM's pid namespace */
	struct lru ns_tids;	     /* the host's tid -> the JVM's, where they differ */
	bool same_tids, knows_same_tids;
};

/* The JVM's own number of the host's TID: the innermost of "NSpid:" in the thread's status. 0: it has gone. */
uint32_t jvm_ns_tid(struct jvm *jvm, uint32_t tid);

/* Are both the same? */
void jvm_learn_tids(struct jvm *jvm);

/* What is due to be read again of the threads of COUNT JVMs: names that are the same are found so in one call for all. */
void jvm_read_threads(struct jvm *const *jvms, size_t count);
void jvm_release_threads(struct jvm_names_of_threads *threads);

/* Its layout is there, read now if need be. */
bool jvm_has_layout(struct jvm *jvm);

struct jvm *jvm_new(uint32_t pid, const struct mapping *libjvm, struct vmstructs_cache *cache);
void jvm_free(struct jvm *jvm);

/* One record of the agent's; DATA is the struct jvm. Older threads get their tid here. */
void jvm_take_event(const struct codemap_event *event, void *data);

/*
 * Renew the lease and read the code map, as much as one turn may take of it and nothing after
 * UNTIL_NS; BUFFER as for codemap_reader_drain().
 */
void jvm_poll(struct jvm *jvm, void *buffer, uint64_t now_ns, uint64_t until_ns);
void jvm_expire(struct jvm *jvm, uint64_t horizon_ns);
bool jvm_is_replayed(const struct jvm *jvm, uint64_t now_ns);

/* Into WIRE, what is wanted; looked for again at times while it is not found. */
void jvm_shown_fill(struct jvm *jvm, struct wire_jvm *wire);

/* One JVM's part of jvm_live.h. */
void jvm_live_release(struct jvm_live *live);
void jvm_live_take(struct jvm *jvm, const struct codemap_event *event);
void jvm_live_poll(struct jvm *jvm);
void jvm_live_ask(struct jvm *jvm, bool collect, uint64_t until_ns);
/* No other command may be given. */
bool jvm_live_is_due(const struct jvm *jvm);
bool jvm_live_is_waited_for(const struct jvm *jvm, uint64_t now_ns);
void jvm_live_hand_out_gone(struct jvm *jvm, uint64_t until_ns, jvm_gone_fn fn, void *data);
/* False: it was not asked. */
bool jvm_live_report(const struct jvm *jvm, struct jvm_live_report *ret_report);

#endif
