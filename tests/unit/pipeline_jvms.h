/* SPDX-License-Identifier: Apache-2.0 */
/* The JVMs of a pipeline that is made up (pipeline_parts.h). */
#ifndef HOSTPROF_TESTS_PIPELINE_JVMS_H
#define HOSTPROF_TESTS_PIPELINE_JVMS_H

#include "pipeline_notes.h"

void jvm_table_sample_allocations(struct jvm_table *table, uint32_t interval)
{
	(void)table;
	if (interval)
		note("allocations by %u", interval);
}

void jvm_table_sample_locks(struct jvm_table *table, uint64_t least_ns)
{
	assert_non_null(table);
	note("locks from %" PRIu64, least_ns);
}

uint32_t jvm_table_without_locks(const struct jvm_table *table)
{
	(void)table;
	return parts.without_locks;
}

void jvm_table_follow_objects(struct jvm_table *table)
{
	(void)table;
	note("follow objects");
}

void jvm_table_take_gone(struct jvm_table *table, uint64_t until_ns, jvm_gone_fn fn, void *data)
{
	(void)table;
	note("gone until %" PRIu64, (uint64_t)((until_ns - parts.start_ns) / MS));
	if (parts.gone_level)
		fn(parts.live.serial, 0, parts.gone_level, data);
	if (parts.gone)
		fn(parts.live.serial, parts.gone, 0, data);
}

void jvm_table_ask_live(struct jvm_table *table, bool collect, uint64_t until_ns)
{
	(void)table;
	note("which are alive%s, within %" PRIu64, collect ? " after a collection" : "",
	     (uint64_t)((until_ns - clock_now_ns()) / MS));
}

bool jvm_table_told_live(const struct jvm_table *table, uint64_t now_ns)
{
	(void)table, (void)now_ns;
	return !parts.live_polls || !--parts.live_polls;
}

void jvm_table_for_each_live(const struct jvm_table *table,
			     void (*fn)(const struct jvm_live_report *report, void *data),
			     void *data)
{
	(void)table;
	if (parts.live.pid)
		fn(&parts.live, data);
}

struct jvm_table *jvm_table_new(void)
{
	return A_POINTER(jvm_table);
}

void jvm_table_free(struct jvm_table *table)
{
	(void)table;
}

struct jvm *jvm_table_find(struct jvm_table *table, uint32_t pid, const struct mapping *libjvm,
			   bool make_new)
{
	(void)table;
	assert_non_null(libjvm);
	note("find jvm %u%s", number(pid), make_new ? " or make it" : "");
	return parts.jvm_is_new ? A_POINTER(jvm) : NULL;
}

struct jvm *jvm_table_get(struct jvm_table *table, struct process *process)
{
	(void)table;
	assert_non_null(process);
	return parts.is_jvm ? A_POINTER(jvm) : NULL;
}

void jvm_table_forget(struct jvm_table *table, struct process *process)
{
	(void)table;
	note("forget jvm %u", number(process->pid));
}

void jvm_table_poll(struct jvm_table *table)
{
	(void)table;
	note("poll jvms");
}

void jvm_table_limit_code_maps(struct jvm_table *table, size_t bytes)
{
	(void)table;
	assert_true(bytes > 0);
}

bool jvm_table_forget_largest(struct jvm_table *table)
{
	(void)table;
	note("forget the largest code map");
	return true;
}

uint64_t jvm_table_forgotten(const struct jvm_table *table, uint32_t *ret_pid)
{
	(void)table;
	*ret_pid = 4711;
	return parts.forgotten;
}

uint64_t jvm_frames_unnamed(uint32_t *ret_pid)
{
	*ret_pid = 4712;
	return parts.unnamed;
}

void jvm_table_for_each_unread(const struct jvm_table *table,
			       void (*fn)(uint32_t pid, const char *why, void *data), void *data)
{
	(void)table;
	if (parts.unread)
		fn(4713, parts.unread, data);
}

void jvm_table_release_leases(struct jvm_table *table)
{
	(void)table;
	note("release leases");
}

int jvm_read_parked(struct jvm *jvm, const struct virtual_parked_wanted *wanted,
		    struct virtual_parked_list *list)
{
	(void)jvm, (void)wanted, (void)list;
	return 0;
}

void jvm_note_thread(struct jvm *jvm, uint32_t tid, bool runs_java, uint64_t time_ns)
{
	(void)runs_java;
	assert_non_null(jvm);
	if (parts.tells_threads)
		note("thread %u at %" PRIu64, number(tid), (time_ns - parts.start_ns) / MS);
}

void jvm_table_note_thread(struct jvm_table *table, uint32_t pid, uint32_t tid, bool begins,
			   uint64_t time_ns)
{
	(void)table;
	if (parts.tells_threads)
		note("thread %u of %u %s at %" PRIu64, number(tid), number(pid),
		     begins ? "begins" : "is renamed", (time_ns - parts.start_ns) / MS);
}

void jvm_table_note_loss(struct jvm_table *table, uint64_t time_ns)
{
	(void)table;
	if (parts.tells_threads)
		note("news of threads are lost at %" PRIu64, (time_ns - parts.start_ns) / MS);
}

int jvm_get_wire(struct jvm *jvm, bool urgent, struct wire_jvm *ret_wire)
{
	assert_non_null(jvm);
	note("wire%s", urgent ? " now" : "");
	ret_wire->serial = 44;
	return 0;
}

const char *jvm_version(struct jvm *jvm)
{
	assert_non_null(jvm);
	return "17.0.9";
}

const char *jvm_main_class(struct jvm *jvm)
{
	assert_non_null(jvm);
	return "a.Main";
}

uint64_t jvm_find_owner(struct jvm *jvm, uint64_t owner)
{
	assert_non_null(jvm);
	note("owner %" PRIx64, owner);
	return parts.owner;
}

uint64_t jvm_find_anonymous_owner(struct jvm *jvm, const struct wire_lock_begin *begin)
{
	assert_non_null(jvm);
	note("who has %" PRIx64 "?", begin->monitor);
	return parts.owner;
}

const char *jvm_thread_name(struct jvm *jvm, uint32_t tid, uint64_t time_ns, uint64_t *ret_java_tid)
{
	assert_non_null(jvm);
	assert_true(time_ns >= parts.start_ns);
	note("name of %u", number(tid));
	*ret_java_tid = 33;
	return parts.owner_name;
}

const char *jvm_read_class(struct jvm *jvm, uint64_t klass, uint64_t time_ns)
{
	assert_non_null(jvm);
	assert_int_not_equal(time_ns, 0);
	note("class %" PRIx64, klass);
	return NULL;
}

#endif
