// SPDX-License-Identifier: Apache-2.0
/* What a walk wants to go on: rows, ranges, the layout of a JVM. */
#include <string.h>

#include "unwind/unwinder_private.h"

/* False: its rows were put just now and are gone again, or there is no room for them, or they are to come. */
static bool make_page(struct unwinder *unwinder, struct job *job, const struct wire_range *range,
		      uint64_t address)
{
	uint64_t own = address - range->bias, begin_ns = clock_now_ns();
	struct wire_page_key key = { range->file, (uint32_t)(own >> WIRE_PAGE_SHIFT) };
	bool made;
	int r;

	if (memcmp(&key, &job->made, sizeof(key)) == 0)
		return false;
	job->made = key;
	made = unwind_files_rows(unwinder->files, key.file, own, &unwinder->page);
	unwinder->make_ns += clock_now_ns() - begin_ns;
	if (!made)
		return false;
	unwinder->pages_made++;
	unwinder->rows_made += unwinder->page.v.len;
	r = row_store_put(unwinder->rows, &key, unwinder->page.v.items, unwinder->page.v.len,
			  begin_ns);
	return r == 0;
}

/* NULL: it is not known yet. */
static void use_jvm(struct unwind_cursor *c, const struct wire_jvm *jvm)
{
	if (jvm)
		c->jvm = *jvm;
	else
		memset(&c->jvm, 0, sizeof(c->jvm));
	c->jvm_serial = jvm ? jvm->serial : WIRE_JVM_PENDING;
}

/* Its code is walked blindly. */
static void use_no_jvm(struct unwind_cursor *c)
{
	memset(&c->jvm, 0, sizeof(c->jvm));
	c->jvm_serial = 0;
}

static void use_space(const struct unwinder *unwinder, struct unwind_cursor *c,
		      const struct wire_space *space)
{
	c->serial = space->serial;
	c->first = space->first;
	c->count = space->count;
	c->range.start = c->range.end = 0;
	if (!space->jvm)
		use_no_jvm(c);
	else if (space->jvm != c->jvm.serial)
		use_jvm(c, unwind_jvms_find(unwinder->jvms, space->jvm));
}

/* Once for each walk: the list is older than what is wanted, or has a file that is forgotten. */
static bool read_again(struct unwinder *unwinder, struct job *job, struct unwind_cursor *c)
{
	struct wire_space space;

	if (!job->live || job->read ||
	    unwind_spaces_read(unwinder->spaces, job->miss, job->sample, clock_now_ns()) < 0)
		return false;
	job->read = true;
	if (unwind_spaces_get(unwinder->spaces, job->sample, &space) < 0)
		return false;
	use_space(unwinder, c, &space);
	return true;
}

/*
 * The walk stands at an address that no range holds. There is no code when the list was read since
 * the sample; else it is read again, if that is possible. (BPF's count of executable pages does not
 * tell: code that is writable is not counted.)
 */
static bool find_code(struct unwinder *unwinder, struct job *job, struct unwind_cursor *c)
{
	struct wire_space space;

	if (!job->live) {
		c->listed = 1;
		return c->count > 0; /* else nothing is known of the process */
	}
	if (unwind_spaces_get(unwinder->spaces, job->sample, &space) < 0)
		return false;
	if (unwind_spaces_read_since(unwinder->spaces, job->sample)) {
		c->listed = 1;
		return true;
	}
	return read_again(unwinder, job, c);
}

/* HotSpot's library in the process of JOB; NULL: none. A child of a fork is not known by itself. */
static const struct mapping *find_libjvm(struct unwinder *unwinder, struct job *job)
{
	const struct mapping *libjvm = unwind_spaces_libjvm(unwinder->spaces, job->sample);

	if (libjvm || job->read)
		return libjvm;
	job->read = true;
	if (unwind_spaces_read(unwinder->spaces, job->miss, job->sample, clock_now_ns()) < 0)
		return NULL;
	return unwind_spaces_libjvm(unwinder->spaces, job->sample);
}

/* The walk stands in code that may be a JVM's, whose layout is not known yet. */
static bool find_jvm(struct unwinder *unwinder, struct job *job, struct unwind_cursor *c)
{
	const struct mapping *libjvm;
	const struct wire_jvm *jvm;

	if (!job->live) {
		use_no_jvm(c);
		return true;
	}
	libjvm = find_libjvm(unwinder, job);
	if (!libjvm) {
		use_no_jvm(c);
		return true;
	}
	if (unwind_jvms_learn(unwinder->jvms, job->sample->tgid, libjvm, clock_now_ns(), &jvm) <
	    0) {
		job->waits = true;
		return false;
	}
	unwind_spaces_set_jvm(unwinder->spaces, job->sample, jvm->serial);
	use_jvm(c, jvm);
	return true;
}

/* The walk stands in a JVM's code, of which some was made only just now. */
static bool find_more_of_jvm(struct unwinder *unwinder, struct job *job, struct unwind_cursor *c)
{
	const struct wire_jvm *jvm;

	if (!job->live || job->looked_again)
		return false;
	job->looked_again = true;
	jvm = unwind_jvms_refresh(unwinder->jvms, c->jvm.serial, clock_now_ns());
	if (jvm)
		use_jvm(c, jvm);
	return jvm != NULL;
}

bool unwinder_supply(struct unwinder *unwinder, struct job *job)
{
	struct unwind_cursor *c = &unwinder->walk.cursor;
	uint64_t address = walk_missing(&unwinder->walk);

	/* what was made so far is there when it is tried again */
	if (job->live && clock_now_ns() - job->begin_ns > BUDGET_NS)
		return false;
	if (c->jvm.serial && c->pc >= c->jvm.code_start && c->pc < c->jvm.code_end)
		return find_more_of_jvm(unwinder, job, c);
	if (find_in_range(c, address) && c->range.file)
		return unwind_files_has(unwinder->files, c->range.file)
			       ? make_page(unwinder, job, &c->range, address)
			       : read_again(unwinder, job, c);
	if (c->jvm_serial && !c->jvm.serial)
		return find_jvm(unwinder, job, c);
	return !find_in_range(c, address) && find_code(unwinder, job, c);
}
