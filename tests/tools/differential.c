// SPDX-License-Identifier: Apache-2.0
/*
 * Differential test of the unwinder: every stack snapshot of the perf.data files that are named is
 * walked by hostprof's steps and by elfutils' libdwfl, some of them by gdb too, and the frames are
 * compared one by one. differential/run.py makes the files.
 *
 *     differential [--gdb N] [--least N] [--show N] [--unfinished] [--record DIR] FILE...
 *     differential --snapshot FILE OUT        OUT: the recording of a snapshot of record_stack.py
 */
#include <elfutils/libdwfl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "differential/damage.h"
#include "differential/evidence.h"
#include "differential/own_walk.h"
#include "differential/perf_data.h"
#include "differential/recording.h"
#include "differential/snapshot_file.h"

/* Of 100,000 snapshots at most so many may be unequal without an excuse. */
#define MOST_BAD 10
/* Of 100 damaged lists at least so many must be found bad: JIT code has no call frame information. */
#define LEAST_REJECTED 97
/* Each so many snapshots that are equal one is damaged and compared again. */
#define DAMAGED_EVERY 3

/* Frames that are shown of a difference, before it and after it. */
#define SHOWN_FRAMES 4

struct counts {
	size_t snapshots, frames;
	size_t reasons[UNWIND_REASON_COUNT]; /* of our own walk */
	size_t verdicts[VERDICT_COUNT];
};

struct run {
	struct own_walk *own;
	struct dwfl_walk *dwfl;
	struct gdb_walk *gdb;
	const char *name; /* of the file at hand */
	struct counts now, all, gdb_all;
	struct counts damaged[DAMAGE_COUNT];
	size_t turn;	       /* of damages */
	const char *record_to; /* directory for recordings, or NULL */
	size_t shown, show;
	size_t least;	 /* snapshots that there must be */
	bool unfinished; /* stacks that are equal but not whole are shown too */
};

static const char *const reason_ids[UNWIND_REASON_COUNT] = {
#define UNWIND_REASON(name, id, whole, text) [UNWIND_##name] = id,
#include "unwind_reasons.def"
#undef UNWIND_REASON
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* --- one difference --------------------------------------------------------------------------- */

static void show_frame(const struct snapshot *s, const char *who, size_t i,
		       const struct frames *frames)
{
	const struct mapping *m;

	if (i >= frames->count) {
		printf("    %-9s -\n", who);
		return;
	}
	m = process_find_mapping(s->process, frames->pcs[i] - (i > 0));
	printf("    %-9s %zu %#" PRIx64 " %s+%#" PRIx64 "\n", who, i, frames->pcs[i],
	       m ? base_name(m->path) : "nowhere", m ? frames->pcs[i] - m->start + m->pgoff : 0);
}

static void show_difference(struct run *run, const struct snapshot *s, const char *who,
			    const struct frames *ours, const struct frames *reference,
			    enum unwind_reason reason, const char *error)
{
	size_t same = 0;

	if (run->shown++ >= run->show)
		return;
	while (same < ours->count && same < reference->count &&
	       ours->pcs[same] == reference->pcs[same])
		same++;
	printf("  %s pid %u: %zu frames (reason %d), %s %zu (%s); sp %#" PRIx64 ", %zu bytes\n",
	       run->name ?: "", s->process->pid, ours->count, reason, who, reference->count, error,
	       s->stack_at, s->stack_len);
	for (size_t i = same > SHOWN_FRAMES ? same - SHOWN_FRAMES : 0; i < same + SHOWN_FRAMES;
	     i++) {
		show_frame(s, "ours", i, ours);
		if (i >= same)
			show_frame(s, who, i, reference);
	}
}

/* --- recordings ------------------------------------------------------------------------------- */

/* A recording is a file that people keep in a tree. */
#define MAX_RECORDING_BYTES 14000

struct candidate {
	struct run *run;
	const struct snapshot *snapshot;
	const struct frames *ours, *reference; /* libdwfl's */
};

static bool is_same(const struct frames *a, const struct frames *b)
{
	return a->count == b->count && memcmp(a->pcs, b->pcs, a->count * sizeof(a->pcs[0])) == 0;
}

/* The frames of the snapshot from somebody else, and who that is; NULL: nobody has them whole. */
static const struct frames *find_reference(const struct candidate *c, const char **ret_by)
{
	static struct frames by_gdb;

	*ret_by = "gdb";
	if (c->run->gdb && gdb_walk_ask(c->run->gdb, c->snapshot, &by_gdb) == 0 &&
	    is_same(c->ours, &by_gdb))
		return &by_gdb;
	*ret_by = "libdwfl";
	return is_same(c->ours, c->reference) ? c->reference : NULL;
}

static void record_kind(const char *kind, void *data)
{
	const struct candidate *c = data;
	const char *name = c->run->name, *by;
	const struct frames *reference;
	char path[512], origin[256];

	snprintf(path, sizeof(path), "%s/%.*s_%s.stack", c->run->record_to, (int)strcspn(name, "."),
		 name, kind);
	if (access(path, F_OK) == 0)
		return;
	reference = find_reference(c, &by);
	if (!reference)
		return;
	snprintf(origin, sizeof(origin), "%s (%s): tests/tools/differential --record; frames by %s",
		 name, c->snapshot->process->comm, by);
	recording_write(path, origin, c->snapshot, c->run->own, reference, MAX_RECORDING_BYTES);
}

/* --- snapshots -------------------------------------------------------------------------------- */

static void count(struct counts *counts, enum verdict verdict, const struct frames *ours,
		  enum unwind_reason reason)
{
	counts->snapshots++;
	counts->frames += ours->count;
	counts->reasons[reason]++;
	counts->verdicts[verdict]++;
}

/* By gdb, with libdwfl for the second. */
static void try_gdb(struct run *run, const struct snapshot *s, const struct frames *ours,
		    const struct frames *by_dwfl, enum unwind_reason reason)
{
	static struct frames reference;
	struct witnesses witnesses = { .dwfl = run->dwfl, .snapshot = s, .second = by_dwfl };
	struct evidence evidence = evidence_of(&witnesses);
	enum verdict verdict;

	if (!run->gdb || gdb_walk_frames(run->gdb, s, &reference) < 0)
		return;
	verdict = compare_frames(ours, &reference, &evidence);
	count(&run->gdb_all, verdict, ours, reason);
	if (verdict_is_bad(verdict))
		show_difference(run, s, "gdb", ours, &reference, reason, "");
}

/* The comparison on trial: frames that were equal, with something wrong in them. */
static void try_damage(struct run *run, const struct snapshot *s, const struct frames *ours,
		       const struct frames *reference, enum unwind_reason reason)
{
	static struct frames wrong;
	struct witnesses witnesses = { .dwfl = run->dwfl, .snapshot = s };
	struct evidence evidence = evidence_of(&witnesses);
	size_t turn = run->turn++;
	enum damage damage = (enum damage)(turn / DAMAGED_EVERY % DAMAGE_COUNT);

	if (turn % DAMAGED_EVERY == 0 && damage_frames(ours, damage, turn, &wrong))
		count(&run->damaged[damage], compare_frames(&wrong, reference, &evidence), &wrong,
		      reason);
}

static void try_snapshot(const struct snapshot *taken, void *data)
{
	static struct frames ours, reference;
	struct snapshot whole = *taken, *s = &whole;
	struct run *run = data;
	struct witnesses witnesses = { .dwfl = run->dwfl, .gdb = run->gdb, .snapshot = s };
	struct evidence evidence = evidence_of(&witnesses);
	enum unwind_reason reason;
	enum verdict verdict;
	int error;

	dwfl_walk_fill_red_zone(run->dwfl, s);
	reason = own_walk_frames(run->own, s, &ours);
	error = dwfl_walk_frames(run->dwfl, s, &reference);
	verdict = compare_frames(&ours, &reference, &evidence);
	count(&run->now, verdict, &ours, reason);
	count(&run->all, verdict, &ours, reason);
	if (verdict_is_bad(verdict) || (run->unfinished && reason && !ours.cut))
		show_difference(run, s, "libdwfl", &ours, &reference, reason, dwfl_errmsg(error));
	if (verdict_is_equal(verdict))
		try_damage(run, s, &ours, &reference, reason);
	try_gdb(run, s, &ours, &reference, reason);
	if (run->record_to && reason == UNWIND_DONE)
		recording_kinds(s, run->own, &ours, record_kind,
				&(struct candidate){ run, s, &ours, &reference });
}

/* One snapshot of record_stack.py: its recording, if our frames are gdb's. */
static int record_snapshot(struct run *run, const char *from, const char *to)
{
	static struct frames ours, by_gdb;
	struct snapshot s;
	char origin[256];
	enum unwind_reason reason;

	if (snapshot_file_read(from, &s, &by_gdb) < 0)
		return 1;
	reason = own_walk_frames(run->own, &s, &ours);
	if (reason != UNWIND_DONE || !is_same(&ours, &by_gdb)) {
		run->show = 1;
		show_difference(run, &s, "gdb", &ours, &by_gdb, reason, "");
		return 1;
	}
	snprintf(origin, sizeof(origin), "%s: tests/tools/record_stack.py --rows; frames by gdb",
		 base_name(to));
	return recording_write(to, origin, &s, run->own, &by_gdb, MAX_RECORDING_BYTES) < 0;
}

/* --- report ----------------------------------------------------------------------------------- */

static size_t sum_of(const struct counts *c, bool (*is)(enum verdict verdict))
{
	size_t sum = 0;

	for (int i = 0; i < VERDICT_COUNT; i++)
		if (is((enum verdict)i))
			sum += c->verdicts[i];
	return sum;
}

static void print_counts(const char *name, const struct counts *c)
{
	size_t equal = sum_of(c, verdict_is_equal), bad = sum_of(c, verdict_is_bad);

	printf("%-16s %8zu snapshots %9zu frames, whole %zu, equal %zu, excused %zu, "
	       "different %zu (%.3f %%)\n",
	       name, c->snapshots, c->frames, c->reasons[UNWIND_DONE], equal,
	       c->snapshots - equal - bad, bad,
	       c->snapshots ? 100.0 * (double)bad / (double)c->snapshots : 0.0);
	for (int i = 1; i < UNWIND_REASON_COUNT; i++)
		if (c->reasons[i])
			printf("%8zu  our walk ended with %s\n", c->reasons[i], reason_ids[i]);
	for (int i = 1; i < VERDICT_COUNT; i++)
		if (c->verdicts[i])
			printf("%8zu  %s\n", c->verdicts[i], verdict_names[i]);
}

/* Is too much of what was damaged not found? */
static bool is_blind(const struct counts *damaged)
{
	size_t tried = 0, rejected = 0;

	for (int i = 0; i < DAMAGE_COUNT; i++) {
		const struct counts *c = &damaged[i];
		size_t bad = sum_of(c, verdict_is_bad);

		tried += c->snapshots;
		rejected += bad;
		printf("damaged: %-30s %6zu, rejected %zu\n", damage_names[i], c->snapshots, bad);
		for (int v = 0; v < VERDICT_COUNT; v++)
			if (c->verdicts[v] && !verdict_is_bad((enum verdict)v))
				printf("%8zu  %s\n", c->verdicts[v], verdict_names[v]);
	}
	return rejected * 100 < tried * LEAST_REJECTED;
}

static int try_file(struct run *run, const char *path)
{
	struct err err = { 0 };

	run->name = base_name(path);
	memset(&run->now, 0, sizeof(run->now));
	/* What is kept of processes ends with the file that they are in. */
	own_walk_forget(run->own);
	dwfl_walk_free(run->dwfl);
	run->dwfl = dwfl_walk_new();
	gdb_walk_forget(run->gdb);
	if (perf_data_for_each(path, try_snapshot, run, &err) < 0) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		return -1;
	}
	print_counts(run->name, &run->now);
	return 0;
}

static int finish(struct run *run)
{
	const struct counts *c = &run->all;

	print_counts("all", c);
	if (run->gdb)
		print_counts("with gdb", &run->gdb_all);
	if (c->snapshots < run->least) {
		printf("%zu snapshots are fewer than the %zu that were asked for\n", c->snapshots,
		       run->least);
		return 1;
	}
	if (is_blind(run->damaged)) {
		printf("the comparison does not see what is wrong\n");
		return 1;
	}
	if (run->gdb && sum_of(&run->gdb_all, verdict_is_bad))
		return 1;
	return sum_of(c, verdict_is_bad) * 100000 > c->snapshots * MOST_BAD;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "gdb", required_argument, NULL, 'g' },
						 { "least", required_argument, NULL, 'l' },
						 { "show", required_argument, NULL, 's' },
						 { "unfinished", no_argument, NULL, 'u' },
						 { "record", required_argument, NULL, 'r' },
						 { "snapshot", required_argument, NULL, 'n' },
						 { NULL, 0, NULL, 0 } };
	struct run run = { .own = own_walk_new(), .show = 20, .least = 1 };
	const char *snapshot = NULL;
	size_t wanted = 0;
	int option, status = 0;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'g': wanted = strtoul(optarg, NULL, 10); break;
		case 'l': run.least = strtoul(optarg, NULL, 10); break;
		case 's': run.show = strtoul(optarg, NULL, 10); break;
		case 'r': run.record_to = optarg; break;
		case 'n': snapshot = optarg; break;
		case 'u': run.unfinished = true; break;
		default: return 2;
		}
	}
	if (snapshot)
		return optind < argc ? record_snapshot(&run, snapshot, argv[optind]) : 2;
	if (wanted && argc > optind)
		run.gdb = gdb_walk_new(wanted / (size_t)(argc - optind) + 1);
	for (int i = optind; i < argc; i++)
		if (try_file(&run, argv[i]) < 0)
			status = 1;
	status |= finish(&run);
	gdb_walk_free(run.gdb);
	dwfl_walk_free(run.dwfl);
	own_walk_free(run.own);
	return status;
}
