/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an unwinder, which note what they are told (test_unwinder_news.c). */
#ifndef HOSTPROF_TESTS_UNWINDER_PARTS_H
#define HOSTPROF_TESTS_UNWINDER_PARTS_H

#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "fake_clock.h"
#include "process/proc.h"
#include "unwind/unwinder_private.h"

#define PID	5000001U
#define PART(t) ((struct t *)0x1000) /* never looked into */

static struct {
	struct strbuf log;
	uint32_t revived; /* so many files yet */
	uint32_t warmed;  /* so many processes */
	uint64_t delays;  /* by slow disks */
	bool slow_list, slow_rows;
	bool is_known;	       /* the process's ranges */
	bool are_many, evicts; /* files */
	int read_error, jvm_error;
	uint32_t libjvm_of; /* a process that is learnt */
	uint64_t read_ns;
	struct unwinder *unwinder;
	struct wire_sample sample;
	struct wire_miss miss;
} f;

static void note(const char *format, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	strbuf_addf(&f.log, "%s\n", text);
}

static const char *noted(void)
{
	static char text[1024];

	snprintf(text, sizeof(text), "%s", strbuf_str(&f.log));
	strbuf_reset(&f.log);
	return text;
}

static uint64_t after_ns(uint64_t now_ns)
{
	return now_ns - fake_begun_ns;
}

/* --- in place of the parts --- */

struct unwind_files *unwind_files_new(struct image_cache *images, size_t max_open, size_t max_bytes)
{
	assert_ptr_equal(images, PART(image_cache));
	assert_true(max_open >= 100);
	note("files of %zu", max_bytes);
	return PART(unwind_files);
}

void unwind_files_free(struct unwind_files *files)
{
	(void)files;
}

uint64_t unwind_files_delays(const struct unwind_files *files)
{
	assert_ptr_equal(files, PART(unwind_files));
	return f.delays;
}

uint32_t unwind_files_take_revived(struct unwind_files *files)
{
	assert_ptr_equal(files, PART(unwind_files));
	return f.revived ? f.revived-- : 0;
}

uint32_t unwind_files_take_warmed(struct unwind_files *files)
{
	assert_ptr_equal(files, PART(unwind_files));
	return f.warmed ? PID + f.warmed-- : 0;
}

void unwind_spaces_note_warmed(struct unwind_spaces *spaces, uint32_t pid)
{
	(void)spaces;
	note("space %u is to be read", pid - PID);
}

void unwind_files_close_idle(struct unwind_files *files)
{
	(void)files;
	note("close idle");
}

void unwind_files_set_room(struct unwind_files *files, size_t room_bytes)
{
	(void)files;
	note("files up to %zu", room_bytes);
}

bool unwind_files_are_many(const struct unwind_files *files)
{
	(void)files;
	return f.are_many;
}

bool unwind_files_evict(struct unwind_files *files)
{
	(void)files;
	note("evict files");
	return f.evicts;
}

bool unwind_files_has(const struct unwind_files *files, uint32_t number)
{
	assert_ptr_equal(files, PART(unwind_files));
	return number != 7;
}

void unwind_spaces_mark_files(const struct unwind_spaces *spaces)
{
	(void)spaces;
	note("mark files");
}

struct unwind_spaces *unwind_spaces_new(struct table_memory *memory, struct unwind_files *files,
					struct live_processes *live)
{
	assert_true(memory && files && live);
	return PART(unwind_spaces);
}

void unwind_spaces_free(struct unwind_spaces *spaces)
{
	(void)spaces;
}

int unwind_spaces_get(const struct unwind_spaces *spaces, const struct wire_sample *sample,
		      struct wire_space *ret_space)
{
	(void)spaces;
	assert_ptr_equal(sample, &f.sample);
	if (!f.is_known)
		return -ENOENT;
	*ret_space = (struct wire_space){ .serial = 6, .jvm = 7, .first = 8, .count = 9 };
	return 0;
}

int unwind_spaces_read(struct unwind_spaces *spaces, const struct wire_miss *miss,
		       const struct wire_sample *sample, uint64_t now_ns)
{
	(void)spaces;
	assert_ptr_equal(miss, &f.miss);
	assert_ptr_equal(sample, &f.sample);
	assert_int_equal(after_ns(now_ns), f.read_ns);
	note("read");
	f.is_known = f.read_error == 0;
	return f.read_error;
}

int unwind_spaces_learn(struct unwind_spaces *spaces, const struct wire_sample *of, uint64_t now_ns)
{
	(void)spaces;
	note("learn space %u of %" PRIu64 ", exec %u, at %" PRIu64, of->tgid - PID, of->start_ns,
	     of->exec_id, after_ns(now_ns));
	f.revived = 1;
	return f.read_error;
}

const struct mapping *unwind_spaces_libjvm(const struct unwind_spaces *spaces,
					   const struct wire_sample *sample)
{
	static const struct mapping libjvm = { .start = 0x7000 };

	(void)spaces;
	if (sample == &f.sample)
		return &libjvm;
	return f.libjvm_of && sample->tgid == f.libjvm_of ? &libjvm : NULL;
}

int unwind_spaces_set_jvm(struct unwind_spaces *spaces, const struct wire_sample *sample,
			  uint32_t serial)
{
	(void)spaces;
	note("space %u is jvm %u", sample->tgid - PID, serial);
	return 0;
}

void unwind_spaces_note_mapping(struct unwind_spaces *spaces, uint32_t pid,
				const struct mapping *mapping, uint64_t now_ns)
{
	(void)spaces;
	note("space %u maps %" PRIx64 " at %" PRIu64, pid - PID, mapping->start, after_ns(now_ns));
}

void unwind_spaces_note_differs(struct unwind_spaces *spaces, uint32_t pid, uint64_t time_ns)
{
	(void)spaces;
	note("space %u differs at %" PRIu64, pid - PID, after_ns(time_ns));
}

void unwind_spaces_forget(struct unwind_spaces *spaces, uint32_t pid, uint64_t now_ns)
{
	(void)spaces;
	note("forget space %u at %" PRIu64, pid - PID, after_ns(now_ns));
}

void unwind_spaces_turn(struct unwind_spaces *spaces, uint64_t now_ns)
{
	(void)spaces;
	note("turn of spaces at %" PRIu64, after_ns(now_ns));
	f.revived++; /* by what was read again */
}

struct unwind_jvms *unwind_jvms_new(struct table_memory *memory,
				    const struct unwind_jvm_source *source,
				    struct live_processes *live)
{
	assert_true(memory && source && live);
	return PART(unwind_jvms);
}

void unwind_jvms_free(struct unwind_jvms *jvms)
{
	(void)jvms;
}

const struct wire_jvm *unwind_jvms_find(const struct unwind_jvms *jvms, uint32_t serial)
{
	(void)jvms;
	note("find jvm %u", serial);
	return NULL;
}

bool unwind_jvms_pauses(const struct unwind_jvms *jvms, uint32_t pid, uint64_t now_ns)
{
	(void)jvms;
	note("does %u pause at %" PRIu64, pid - PID, after_ns(now_ns));
	return true;
}

int unwind_jvms_learn(struct unwind_jvms *jvms, uint32_t pid, const struct mapping *libjvm,
		      uint64_t now_ns, const struct wire_jvm **ret_wire)
{
	static const struct wire_jvm wire = { .serial = 9 };

	(void)jvms, (void)now_ns;
	note("learn %u at %" PRIx64, pid - PID, libjvm->start);
	*ret_wire = &wire;
	return f.jvm_error;
}

int unwind_jvms_read(struct unwind_jvms *jvms, uint32_t pid, const struct mapping *libjvm,
		     struct wire_jvm *ret_wire)
{
	(void)jvms, (void)pid, (void)libjvm, (void)ret_wire;
	return -ENODATA;
}

void unwind_jvms_note_far(struct unwind_jvms *jvms, const struct wire_jvm *wire, uint64_t pc,
			  uint64_t blob)
{
	(void)jvms, (void)wire, (void)pc, (void)blob;
}

void unwind_jvms_forget(struct unwind_jvms *jvms, uint32_t pid)
{
	(void)jvms;
	note("forget jvm %u", pid - PID);
}

void unwind_jvms_turn(struct unwind_jvms *jvms, uint64_t now_ns)
{
	(void)jvms;
	note("turn of jvms at %" PRIu64, after_ns(now_ns));
}

struct row_store *row_store_new(struct table_memory *memory)
{
	assert_non_null(memory);
	return PART(row_store);
}

void row_store_free(struct row_store *store)
{
	(void)store;
}

void row_store_tables(const struct row_store *store, struct unwind_tables *ret_tables)
{
	(void)store;
	memset(ret_tables, 0, sizeof(*ret_tables));
}

void row_store_drop_file(struct row_store *store, uint32_t file, uint64_t now_ns)
{
	(void)store;
	note("drop rows of %u at %" PRIu64, file, after_ns(now_ns));
}

void row_store_drop_others(struct row_store *store,
			   bool (*has_file)(uint32_t file, const void *data), const void *data,
			   uint64_t now_ns)
{
	(void)store;
	note("keep rows of %s at %" PRIu64,
	     has_file(7, data) || !has_file(8, data) ? "others" : "8", after_ns(now_ns));
}

void unwind_ranges_of_process(struct unwind_ranges *ranges, struct unwind_files *files,
			      const struct process *process)
{
	(void)ranges, (void)files;
	note("ranges of %u", process->pid - PID);
	f.delays += f.slow_list;
}

void unwind_ranges_release(struct unwind_ranges *ranges)
{
	(void)ranges;
}

bool unwinder_supply(struct unwinder *unwinder, struct job *job)
{
	(void)unwinder, (void)job;
	return false;
}

void walk_begin(struct walk *walk, const struct walk_request *request, struct unwind_memory *memory,
		struct walk_result *result)
{
	assert_ptr_equal(result, &f.unwinder->result);
	memset(walk, 0, sizeof(*walk));
	note("walk in %u from %u on, of %u", request->serial, request->first, request->count);
	assert_non_null(memory->tables);
}

bool walk_go_on(struct walk *walk)
{
	(void)walk;
	fake_advance(3);
	f.delays += f.slow_rows;
	f.unwinder->result.reason = f.slow_rows || f.slow_list ? UNWIND_NO_ROWS : UNWIND_DONE;
	return false;
}

#endif
