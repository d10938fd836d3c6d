// SPDX-License-Identifier: Apache-2.0
#include "session/offcpu/unmounted.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

/* Of all JVMs together: a thread takes some 30 us to be read, and 4 KB. */
#define LOOK_NS	   (200 * NSEC_PER_MSEC)
#define LOOK_BYTES (8U << 20)
/* Of each: of more than so many some are chosen by chance. */
#define MOST_TOLD 1000
/* A heap may claim millions of threads. */
#define MOST_WEIGHT 1e18

static void free_wait(struct unmounted_wait *wait)
{
	free(wait->sample);
	free(wait->miss);
}

void unmounted_release(struct unmounted *unmounted)
{
	for (size_t i = 0; i < unmounted->waits.len; i++)
		free_wait(&unmounted->waits.items[i]);
	vec_release(&unmounted->waits);
}

/* No task's: the thread is its process, as it has no carrier. */
static struct wire_sample *make_sample(const struct process *process, const struct wire_process *of,
				       const struct virtual_parked *parked, double stands_for)
{
	size_t name_bytes = WIRE_NAME_WORDS(parked->name_bytes) * sizeof(uint64_t);
	struct wire_sample *sample = xcalloc(1, sizeof(*sample) + name_bytes);

	sample->size = (uint32_t)(sizeof(*sample) + name_bytes);
	sample->kind = WIRE_SAMPLE;
	sample->reason = UNWIND_NO_ROWS;
	sample->start_ns = of->start_ns;
	sample->tgid = sample->tid = process->pid;
	sample->exec_id = of->exec_id;
	sample->in_user = 1;
	sample->flags = WIRE_SAMPLE_WEIGHED;
	sample->state = WIRE_STATE_SLEEPING;
	sample->cause = (uint8_t)parked->cause;
	sample->alloc_interval = (uint64_t)(stands_for + 0.5);
	sample->virtual_id = parked->id;
	sample->name_bytes = parked->name_bytes;
	sample->name_width = parked->name_width;
	sample->text = WIRE_TEXT_NAME;
	sample->unmounted = 1;
	memcpy(sample->comm, process->comm, sizeof(sample->comm));
	memcpy(sample->words, parked->name, parked->name_bytes);
	return sample;
}

static struct wire_miss *make_miss(const struct process *process,
				   const struct virtual_parked *parked)
{
	struct wire_miss *miss = xcalloc(1, sizeof(*miss) + parked->bytes);

	miss->size = (uint32_t)(sizeof(*miss) + parked->bytes);
	miss->kind = WIRE_MISS;
	miss->unmounted = 1;
	miss->pc = parked->chunk;
	miss->time_ns = clock_now_ns();
	miss->tgid = miss->tid = process->pid;
	miss->heap_bytes = parked->bytes;
	miss->heap_count = parked->piece_count;
	memcpy(miss->heap, parked->pieces, parked->piece_count * sizeof(miss->heap[0]));
	memcpy(miss->copy, parked->data, parked->bytes);
	return miss;
}

void unmounted_put(struct unmounted *unmounted, const struct process *process,
		   const struct wire_process *of, const struct virtual_parked *parked,
		   double stands_for, uint64_t begin_ns)
{
	const struct unmounted_wait wait = { make_sample(process, of, parked, stands_for),
					     make_miss(process, parked), begin_ns, stands_for };

	vec_push(&unmounted->waits, wait);
}

/* --- before the end --------------------------------------------------------------------------- */

struct look {
	struct unmounted *unmounted;
	struct capture *capture;
	struct virtual_parked_wanted wanted;
};

static void take(struct look *look, const struct process *process,
		 const struct virtual_parked_list *list)
{
	struct wire_process of;

	if (!list->items.len || capture_find_process(look->capture, process->pid, &of) < 0)
		return;
	for (size_t i = 0; i < list->items.len; i++) {
		const struct virtual_parked *parked = &list->items.items[i];
		struct capture_unmounted_wait wait;

		if (capture_get_unmounted(look->capture, process->pid, parked->id, &wait) == 0)
			unmounted_put(look->unmounted, process, &of, parked,
				      virtual_parked_weight(list), wait.begin_ns);
	}
}

static void look_at(struct jvm *jvm, const struct process *process, void *data)
{
	struct look *look = data;
	struct virtual_parked_list list = { .items = VEC_INIT };
	int r = -ETIMEDOUT;

	if (clock_now_ns() < look->wanted.deadline_ns)
		r = jvm_read_parked(jvm, &look->wanted, &list);
	take(look, process, &list);
	look->wanted.bytes -= MIN(list.bytes, look->wanted.bytes);
	virtual_parked_list_release(&list);
	/* One that cannot tell has said so when it was first seen. */
	if (r == 0 || r == -EOPNOTSUPP || r == -ESRCH)
		return;
	look->unmounted->not_listed++;
	if (!look->unmounted->error)
		look->unmounted->error = r;
}

void unmounted_look(struct unmounted *unmounted, struct capture *capture,
		    const struct virtual_yields *yields)
{
	struct look look = { unmounted,
			     capture,
			     { MOST_TOLD, LOOK_BYTES, clock_now_ns() + LOOK_NS } };

	virtual_yields_for_each(yields, look_at, &look);
}

/* --- at the end ------------------------------------------------------------------------------- */

static void set_length(struct unmounted *unmounted, const struct unmounted_wait *wait,
		       const struct capture_unmounted_wait *known, uint64_t end_ns)
{
	struct wire_sample *sample = wait->sample;
	uint64_t length_ns = end_ns - wait->begin_ns;
	double weight_ns = ((double)length_ns + (double)known->owed_ns) * wait->stands_for;

	sample->time_ns = end_ns;
	sample->alloc_size = length_ns;
	sample->weight = weight_ns > 0 ? (uint64_t)MIN(weight_ns, MOST_WEIGHT) : 0;
	unmounted->told += wait->stands_for;
	if (!known->is_counted)
		return;
	unmounted->counted += wait->stands_for;
	unmounted->counted_ns += (double)length_ns * wait->stands_for;
}

/* False: it has come back, and its wait was told; or it had hardly left. */
static bool end_wait(struct unmounted *unmounted, const struct capture *capture,
		     const struct unmounted_wait *wait, uint64_t least_ns, uint64_t end_ns)
{
	const struct wire_sample *sample = wait->sample;
	struct capture_unmounted_wait known;

	if (capture_get_unmounted(capture, sample->tgid, sample->virtual_id, &known) < 0 ||
	    known.begin_ns != wait->begin_ns || end_ns < wait->begin_ns + least_ns)
		return false;
	set_length(unmounted, wait, &known, end_ns);
	return true;
}

void unmounted_end(struct unmounted *unmounted, const struct capture *capture,
		   const struct capture_event *event, uint8_t index, uint64_t end_ns,
		   void (*fn)(const struct wire_sample *sample, struct wire_miss *miss, void *data),
		   void *data)
{
	for (size_t i = 0; i < unmounted->waits.len; i++) {
		struct unmounted_wait *wait = &unmounted->waits.items[i];

		if (!end_wait(unmounted, capture, wait, event->least_ns, end_ns))
			continue;
		wait->sample->event = index;
		fn(wait->sample, TAKE_PTR(wait->miss), data);
	}
	unmounted_release(unmounted);
	unmounted->all = capture_sum_unmounted(capture, end_ns);
}
