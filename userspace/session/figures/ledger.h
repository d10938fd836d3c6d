/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The books of a run: the process generations that were sampled or lost samples, their labels, and
 * what became of their samples. Lives longer than the profile's tables, which are emptied with
 * every chunk; then the processes that are gone are written off, so that a run may last for weeks.
 */
#ifndef HOSTPROF_SESSION_FIGURES_LEDGER_H
#define HOSTPROF_SESSION_FIGURES_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/vec.h"
#include "process/container_names.h"
#include "process/process.h"
#include "profile/profile.h"
#include "symbolize/symbolizer.h"
#include "wire.h"

struct ledger_count {
	uint64_t samples, complete, weight, lost, lost_weight;
};

/* Samples that were dropped for one reason, in the whole run. */
struct ledger_loss {
	uint64_t count, weight;
};

struct ledger_entry {
	struct attachment attachment;
	struct process *process; /* that it is attached to; NULL: to none, any more or yet */
	bool is_new;		 /* no process yet, and made since the tables were emptied */
	bool is_jvm;		 /* greeted as one */
	bool is_counted;	 /* among `processes` */
	uint32_t pid;
	uint32_t exec_id; /* the kernel's */
	uint64_t start_ns;
	uint32_t exec_count;
	char name[WIRE_COMM_LEN];
	char *exe, *container_id, *cgroup, *jvm_version, *main_class; /* owned */
	char *container_name, *container_image;			      /* owned */
	uint32_t profile_id; /* in the current tables, PROFILE_NONE when not there yet */
	struct hmap threads; /* tid and name number -> thread id in the current tables */
	struct ledger_count counts[WIRE_MAX_EVENTS];
};

/*
 * Asked for the labels of ENTRY before it gets its place in the profile's tables, which hold them; and
 * when a process of no JVM has become one. JVM is NULL where the registry knows none.
 */
typedef void ledger_greet_fn(struct ledger_entry *entry, struct process *process, struct jvm *jvm,
			     const struct wire_sample *sample, void *data);

struct ledger {
	ledger_greet_fn *greet; /* NULL: nobody is asked */
	void *greet_data;
	VEC(struct ledger_entry *) entries; /* owned */
	struct intern keys;		    /* of (pid, exec id, start): the entry's index */
	struct book book;		    /* entries of processes that the registry has */
	struct container_names containers;
	uint64_t reasons[UNWIND_REASON_COUNT];
	uint64_t samples, complete; /* of the whole run */
	struct ledger_loss losses[WIRE_LOSS_COUNT];
	uint32_t processes; /* entries that ever had samples, or lost some */
};

void ledger_init(struct ledger *ledger);
void ledger_release(struct ledger *ledger);

/*
 * The entry of a generation, made when it is new. PROCESS (may be NULL) gives its labels; COMM is
 * the kernel's name for it.
 */
struct ledger_entry *ledger_get(struct ledger *ledger, uint32_t pid, uint32_t exec_id,
				uint64_t start_ns, const struct process *process, const char *comm);

/*
 * SAMPLE is PROCESS's, whose entry is attached to it from now on: until ledger_forget() it may have more.
 * Into both sums; a stack with WIRE_MARK_ANCHOR in it is not complete. *RET_THREAD: its thread in
 * PROFILE's tables.
 */
struct ledger_entry *ledger_take(struct ledger *ledger, struct profile *profile,
				 struct process *process, const struct wire_sample *sample,
				 const struct symbolized *symbolized, uint32_t *ret_thread);
/* The same of a sample that counts in no sum: its thread. */
uint32_t ledger_name_thread(struct ledger *ledger, struct profile *profile, struct process *process,
			    const struct wire_sample *sample, const struct symbolized *symbolized);
/* The entry that PROCESS's samples went to; NULL: it has none. */
const struct ledger_entry *ledger_find(const struct ledger *ledger, const struct process *process);
/* PROCESS has gone or execed. */
void ledger_forget(struct ledger *ledger, struct process *process);

/* A JVM's labels, copied. */
void ledger_entry_set_jvm(struct ledger_entry *entry, const char *version, const char *main_class);

/* Samples that were dropped, of an entry's process; NULL: nobody knows whose. */
void ledger_count_lost(struct ledger *ledger, struct ledger_entry *entry, unsigned int event,
		       enum wire_loss why, const struct ledger_loss *loss);
/* A reason's name in recordings, stats and the last line. */
const char *ledger_loss_id(enum wire_loss why);
/* What was lost, for all reasons together. */
uint64_t ledger_lost(const struct ledger *ledger);

/* The entry in PROFILE's tables; made there when it is not. */
uint32_t ledger_profile_process(struct ledger_entry *entry, struct profile *profile);

/* One of its threads there, named as SYMBOLIZED says. */
uint32_t ledger_profile_thread(struct ledger_entry *entry, struct profile *profile, uint32_t tid,
			       const struct symbolized *symbolized);

/*
 * PROFILE's tables were emptied: no entry has an id there any more, and those of processes that
 * were forgotten are dropped.
 */
void ledger_reset_ids(struct ledger *ledger);

/* Quality of every entry and event since the last call, into PROFILE. */
void ledger_write(struct ledger *ledger, struct profile *profile, const uint32_t *event_ids,
		  unsigned int event_count);
/* Why stacks were not whole and samples were dropped, in the whole run, into PROFILE's counters. */
void ledger_write_reasons(const struct ledger *ledger, struct profile *profile);

#endif
