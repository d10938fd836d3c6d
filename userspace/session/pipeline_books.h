/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who hears of processes: one list of all that know something of them. Each record of the side-band
 * goes down it twice:
 *
 *	now       as soon as it is drained: for what follows the kernel, as tables of BPF do
 *	in order  when all samples from before it are done: for names, and what samples are counted by
 *
 * What a book knows of a process is attached to it (process/book.h), and detached in `forget`.
 */
#ifndef HOSTPROF_SESSION_PIPELINE_BOOKS_H
#define HOSTPROF_SESSION_PIPELINE_BOOKS_H

#include "session/pipeline.h"

/* What the record of one says, of a file that PATH (borrowed) is the name of. */
struct mapping pipeline_books_mapping(const struct side_event *event, char *path);

/* A record that has just been drained. */
void pipeline_books_now(struct pipeline *pipeline, const struct side_event *event);

/* The same record when its time has come. */
void pipeline_books_in_order(struct pipeline *pipeline, const struct side_event *event);

/*
 * A process has gone or execed: nobody may keep what was known of it. For registry_expire(); DATA is
 * the pipeline.
 */
void pipeline_books_forget(struct process *process, void *data);

/* PROCESS is there: where it is a JVM its agent is taken care of. For registry_for_each(); DATA is the pipeline. */
void pipeline_books_add_agent(struct process *process, void *data);

/* Of JVMs that are there walks want mappings and layouts from the first sample on. */
void pipeline_books_learn_jvms(struct pipeline *pipeline);

#endif
