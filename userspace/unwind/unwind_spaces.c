// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_spaces.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "jvm/layout/libjvm.h"
#include "process/proc.h"
#include "unwind/unwind_ranges.h"

/* Reading may take this share of a cpu, and so much at once when it did not for a while. */
#define CREDIT_SHARE  50
#define CREDIT_MAX_NS (50 * NSEC_PER_MSEC)
/* A program that loads libraries or compiles maps many times in a row: wait for more. */
#define READ_AGAIN_NS (100 * NSEC_PER_MSEC)
/* It has ten thousand mappings, as no honest process that is known: it has its own share of the time. */
#define READ_LONG_NS (50 * NSEC_PER_MSEC)
#define MANY_RANGES  4096
/* Spaces that the store has evicted, or whose end was not reported, are looked for so often. */
#define SWEEP_NS (10 * NSEC_PER_SEC)
/* A program that loads one plugin after the other does so again. */
#define UNSTEADY_NS NSEC_PER_SEC
/* So many times the mappings were the same although BPF counted others: it counts otherwise. */
#define MAX_REFUTED 2

struct space {
	struct attachment attachment;
	struct space_identity id;
	uint64_t read_ns;
	uint64_t read_cost_ns;	    /* what that took */
	uint64_t exec_pages;	    /* as published */
	size_t ranges;		    /* the same */
	uint64_t unsteady_until_ns; /* nothing is published before */
	struct mapping libjvm;	    /* its path owned; start == end: none */
	uint32_t jvm;		    /* its layout is published; 0: not yet */
	unsigned int refuted;
	bool stale;   /* it is in the list of these */
	bool differs; /* BPF said so since it was read */
};

struct unwind_spaces {
	struct space_store *store;   /* owned */
	struct unwind_files *files;  /* borrowed */
	struct live_processes *live; /* borrowed */
	struct book book;	     /* struct space, owned */
	VEC(uint32_t) stale;	     /* pids, in order */
	struct unwind_ranges ranges; /* of the one being read */
	int64_t credit_ns;
	uint64_t credited_ns, swept_ns;
	uint64_t reads, spent_ns, last_cost_ns, refuted;
};

static void free_space(struct space *space)
{
	free(space->libjvm.path);
	free(space);
}

static struct space *space_of(struct attachment *attachment)
{
	return container_of(attachment, struct space, attachment);
}

static struct space *find_space(const struct unwind_spaces *spaces, uint32_t pid)
{
	const struct live_process *process = live_processes_find(spaces->live, pid);

	return process ? book_entry(&spaces->book, &process->attached, struct space, attachment)
		       : NULL;
}

static struct space *add_space(struct unwind_spaces *spaces, uint32_t pid)
{
	struct space *space = xcalloc(1, sizeof(*space));

	book_attach(&spaces->book, &live_processes_get(spaces->live, pid)->attached,
		    &space->attachment);
	return space;
}

static void drop_space(struct unwind_spaces *spaces, struct space *space)
{
	struct live_process *process = live_processes_get(spaces->live, space->id.tgid);

	book_detach(&spaces->book, &process->attached, &space->attachment);
	free_space(space);
}

struct unwind_spaces *unwind_spaces_new(struct table_memory *memory, struct unwind_files *files,
					struct live_processes *live)
{
	struct unwind_spaces *spaces = xcalloc(1, sizeof(*spaces));

	spaces->store = space_store_new(memory);
	spaces->files = files;
	spaces->live = live;
	spaces->credit_ns = CREDIT_MAX_NS;
	return spaces;
}

void unwind_spaces_free(struct unwind_spaces *spaces)
{
	struct attachment **at;

	if (!spaces)
		return;
	vec_for_each (at, &spaces->book.all)
		free_space(space_of(*at));
	book_release(&spaces->book);
	vec_release(&spaces->stale);
	unwind_ranges_release(&spaces->ranges);
	space_store_free(spaces->store);
	free(spaces);
}

int unwind_spaces_get(const struct unwind_spaces *spaces, const struct wire_sample *sample,
		      struct wire_space *ret_space)
{
	const struct wire_range *ranges;
	struct wire_space space;

	if (space_store_get(spaces->store, sample->tgid, &space, &ranges) < 0 ||
	    space.start_ns != sample->start_ns || space.exec_id != sample->exec_id)
		return -ENOENT;
	*ret_space = space;
	return 0;
}

static struct space *find_of(const struct unwind_spaces *spaces, const struct wire_sample *sample)
{
	struct space *space = find_space(spaces, sample->tgid);

	return space && space->id.start_ns == sample->start_ns &&
			       space->id.exec_id == sample->exec_id
		       ? space
		       : NULL;
}

const struct mapping *unwind_spaces_libjvm(const struct unwind_spaces *spaces,
					   const struct wire_sample *sample)
{
	const struct space *space = find_of(spaces, sample);

	return space && space->libjvm.end ? &space->libjvm : NULL;
}

int unwind_spaces_set_jvm(struct unwind_spaces *spaces, const struct wire_sample *sample,
			  uint32_t serial)
{
	const struct space_identity id = { sample->tgid, sample->exec_id, sample->start_ns };
	struct space *space = find_of(spaces, sample);

	if (!space)
		return -ENOENT;
	space->jvm = serial;
	return space_store_set_jvm(spaces->store, &id, serial);
}

bool unwind_spaces_read_since(const struct unwind_spaces *spaces, const struct wire_sample *sample)
{
	const struct space *space = find_of(spaces, sample);

	return space && space->read_ns > sample->time_ns;
}

/* --- reading ---------------------------------------------------------------------------------- */

static struct space *get_or_add(struct unwind_spaces *spaces, const struct space_identity *id)
{
	struct space *space = find_space(spaces, id->tgid);

	if (!space)
		space = add_space(spaces, id->tgid);
	if (space->id.start_ns != id->start_ns || space->id.exec_id != id->exec_id) {
		space->id = *id;
		space->refuted = 0;
		space->unsteady_until_ns = 0;
		space->libjvm.start = space->libjvm.end = 0;
		space->jvm = 0;
	}
	return space;
}

static uint32_t jvm_of(const struct space *space)
{
	if (!space->libjvm.end)
		return 0;
	return space->jvm ? space->jvm : WIRE_JVM_PENDING;
}

static void note_libjvm(struct space *space, const struct mapping *libjvm)
{
	char *path;

	if (space->libjvm.start == libjvm->start)
		return;
	path = libjvm->end ? xstrdup(libjvm->path) : NULL;
	free(space->libjvm.path);
	space->libjvm = *libjvm;
	space->libjvm.path = path;
	space->jvm = 0;
}

/* spaces->ranges, which were just read. */
static int publish(struct unwind_spaces *spaces, const struct space_identity *id, uint64_t now_ns)
{
	struct space *space = get_or_add(spaces, id);
	const struct unwind_ranges *ranges = &spaces->ranges;

	space->read_ns = now_ns;
	space->read_cost_ns = spaces->last_cost_ns;
	space->exec_pages = space->refuted < MAX_REFUTED ? ranges->exec_pages : 0;
	space->ranges = ranges->v.len;
	space->differs = false;
	note_libjvm(space, &ranges->libjvm);
	return space_store_put(spaces->store, id,
			       &(struct space_content){ ranges->v.items, ranges->v.len,
							space->exec_pages, jvm_of(space) },
			       now_ns);
}

static int read_ranges(struct unwind_spaces *spaces, uint32_t pid, uint32_t tid)
{
	uint64_t begin_ns = clock_now_ns();
	int r = unwind_ranges_read(&spaces->ranges, spaces->files, pid, tid);

	spaces->last_cost_ns = clock_now_ns() - begin_ns;
	spaces->spent_ns += spaces->last_cost_ns;
	spaces->reads++;
	return r;
}

/* From the share of a cpu. */
static int pay_and_read(struct unwind_spaces *spaces, uint32_t pid, uint32_t tid)
{
	int r = read_ranges(spaces, pid, tid);

	spaces->credit_ns -= (int64_t)spaces->last_cost_ns;
	return r;
}

/*
 * A pid's next owner starts after the sample was taken. An exec since shows in that the code at pc
 * is gone: addresses are random. The kernel's count of executable pages would not do: a shell that
 * runs a script by exec has the same as before.
 */
static int check_generation(const struct unwind_spaces *spaces, const struct wire_miss *miss,
			    const struct wire_sample *sample)
{
	struct proc_stat stat;
	int r = proc_read_stat(sample->tgid, &stat);

	if (r < 0)
		return r;
	if (stat.start_ns > sample->time_ns)
		return -ESTALE;
	return unwind_ranges_find(&spaces->ranges, miss->pc) ? 0 : -ESTALE;
}

static bool may_read(const struct unwind_spaces *spaces, const struct space *space, uint64_t now_ns)
{
	uint64_t cost_ns = space->read_cost_ns;
	bool is_long = cost_ns > READ_LONG_NS || space->ranges > MANY_RANGES;
	uint64_t pause_ns = is_long ? cost_ns * CREDIT_SHARE : READ_AGAIN_NS;

	if (now_ns < space->unsteady_until_ns)
		return false;
	return spaces->credit_ns >= 0 || now_ns - space->read_ns >= pause_ns;
}

int unwind_spaces_read(struct unwind_spaces *spaces, const struct wire_miss *miss,
		       const struct wire_sample *sample, uint64_t now_ns)
{
	const struct space_identity id = { sample->tgid, sample->exec_id, sample->start_ns };
	const struct space *known = find_space(spaces, id.tgid);
	int r;

	if (known && known->id.start_ns == id.start_ns && known->id.exec_id == id.exec_id &&
	    !may_read(spaces, known, now_ns))
		return -EAGAIN;
	r = pay_and_read(spaces, id.tgid, sample->tid);
	if (r == 0)
		r = check_generation(spaces, miss, sample);
	return r < 0 ? r : publish(spaces, &id, now_ns);
}

int unwind_spaces_learn(struct unwind_spaces *spaces, const struct wire_sample *of, uint64_t now_ns)
{
	const struct space_identity id = { of->tgid, of->exec_id, of->start_ns };
	int r = read_ranges(spaces, id.tgid, id.tgid);

	return r < 0 ? r : publish(spaces, &id, now_ns);
}

/* --- what has changed ------------------------------------------------------------------------- */

static void make_stale(struct unwind_spaces *spaces, struct space *space)
{
	if (space->stale)
		return;
	space->stale = true;
	vec_push(&spaces->stale, space->id.tgid);
}

/* Is code of a file published where something else is now? */
static bool replaces_code(struct unwind_spaces *spaces, uint32_t pid, const struct mapping *mapping)
{
	const struct wire_range *ranges;
	struct wire_space published;
	struct unwind_piece piece;

	if (space_store_get(spaces->store, pid, &published, &ranges) < 0)
		return false;
	for (size_t i = unwind_ranges_first_after(ranges, published.count, mapping->start);
	     i < published.count && ranges[i].start < mapping->end; i++) {
		const struct wire_range *range = &ranges[i];

		if (!range->file)
			continue;
		piece = unwind_files_piece(spaces->files, pid, mapping, NULL);
		return piece.file != range->file || piece.bias != range->bias;
	}
	return false;
}

/* A JIT compiler's memory would make it unsteady for ever. */
static bool is_next_plugin(const struct space *space, const struct mapping *mapping,
			   uint64_t now_ns)
{
	return now_ns < space->unsteady_until_ns && mapping->key.inode;
}

/* Its first Java frame is some ten milliseconds away. */
static void note_new_libjvm(struct unwind_spaces *spaces, struct space *space,
			    const struct mapping *mapping)
{
	if (space->libjvm.end || !libjvm_is_path(mapping->path, strlen(mapping->path)))
		return;
	note_libjvm(space, mapping);
	space_store_set_jvm(spaces->store, &space->id, jvm_of(space));
}

void unwind_spaces_note_mapping(struct unwind_spaces *spaces, uint32_t pid,
				const struct mapping *mapping, uint64_t now_ns)
{
	struct space *space = find_space(spaces, pid);

	if (!space)
		return;
	note_new_libjvm(spaces, space, mapping);
	if (is_next_plugin(space, mapping, now_ns) || replaces_code(spaces, pid, mapping)) {
		space->unsteady_until_ns = now_ns + UNSTEADY_NS;
		space_store_drop(spaces->store, pid, now_ns);
		return;
	}
	make_stale(spaces, space);
}

void unwind_spaces_note_warmed(struct unwind_spaces *spaces, uint32_t pid)
{
	struct space *space = find_space(spaces, pid);

	if (space)
		make_stale(spaces, space);
}

void unwind_spaces_note_differs(struct unwind_spaces *spaces, uint32_t pid, uint64_t time_ns)
{
	struct space *space = find_space(spaces, pid);

	if (!space || time_ns <= space->read_ns)
		return;
	space->differs = true;
	make_stale(spaces, space);
}

void unwind_spaces_forget(struct unwind_spaces *spaces, uint32_t pid, uint64_t now_ns)
{
	struct space *space = find_space(spaces, pid);

	if (!space)
		return;
	drop_space(spaces, space);
	space_store_drop(spaces->store, pid, now_ns);
}

/* It was just read: are the mappings the published ones? */
static bool is_unchanged(const struct unwind_spaces *spaces, const struct space *space)
{
	const struct wire_range *ranges;
	struct wire_space published;

	return space_store_get(spaces->store, space->id.tgid, &published, &ranges) == 0 &&
	       spaces->ranges.exec_pages == space->exec_pages &&
	       unwind_ranges_equal(&spaces->ranges, ranges, published.count);
}

static void read_again(struct unwind_spaces *spaces, struct space *space, uint64_t now_ns)
{
	const struct space_identity id = space->id;
	const struct wire_range *ranges;
	struct wire_space published;

	if (space_store_get(spaces->store, id.tgid, &published, &ranges) < 0)
		return; /* evicted: a miss brings it back */
	if (pay_and_read(spaces, id.tgid, 0) < 0)
		return; /* it is ending, and will be reported */
	if (is_unchanged(spaces, space)) {
		space->read_ns = now_ns;
		if (!space->differs || ++space->refuted < MAX_REFUTED)
			return;
		spaces->refuted++;
	}
	publish(spaces, &id, now_ns);
}

static void read_stale(struct unwind_spaces *spaces, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < spaces->stale.len; i++) {
		uint32_t pid = spaces->stale.items[i];
		struct space *space = find_space(spaces, pid);

		if (!space || !space->stale)
			continue;
		if (spaces->credit_ns < 0 || now_ns - space->read_ns < READ_AGAIN_NS) {
			spaces->stale.items[kept++] = pid;
			continue;
		}
		space->stale = false;
		read_again(spaces, space, now_ns);
	}
	spaces->stale.len = kept;
}

static bool is_in_use(const struct unwind_spaces *spaces, const struct space *space,
		      uint64_t now_ns)
{
	const struct wire_range *ranges;
	struct wire_space published;

	return now_ns < space->unsteady_until_ns ||
	       space_store_get(spaces->store, space->id.tgid, &published, &ranges) == 0;
}

static void sweep(struct unwind_spaces *spaces, uint64_t now_ns)
{
	for (size_t i = spaces->book.all.len; i-- > 0;) {
		struct space *space = space_of(spaces->book.all.items[i]);

		if (!is_in_use(spaces, space, now_ns))
			drop_space(spaces, space);
	}
}

void unwind_spaces_turn(struct unwind_spaces *spaces, uint64_t now_ns)
{
	if (spaces->credited_ns)
		spaces->credit_ns += (int64_t)((now_ns - spaces->credited_ns) / CREDIT_SHARE);
	spaces->credit_ns = MIN(spaces->credit_ns, (int64_t)CREDIT_MAX_NS);
	spaces->credited_ns = now_ns;
	read_stale(spaces, now_ns);
	if (now_ns - spaces->swept_ns > SWEEP_NS) {
		spaces->swept_ns = now_ns;
		sweep(spaces, now_ns);
	}
}

static void mark_file(const struct wire_range *range, void *data)
{
	unwind_files_mark(data, range->file);
}

void unwind_spaces_mark_files(const struct unwind_spaces *spaces)
{
	space_store_for_each_range(spaces->store, mark_file, spaces->files);
}

void unwind_spaces_get_stats(const struct unwind_spaces *spaces,
			     struct unwind_spaces_stats *ret_stats)
{
	*ret_stats = (struct unwind_spaces_stats){ .reads = spaces->reads,
						   .read_ns = spaces->spent_ns,
						   .refuted = spaces->refuted };
	space_store_get_stats(spaces->store, &ret_stats->store);
}
