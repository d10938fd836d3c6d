/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inlining of compiled code comes as a jvmtiCompiledMethodLoadInlineRecord: one entry per
 * debug-info pc, each with its frames, innermost first (prims/jvmtiExport.cpp,
 * create_inline_record()).
 */
#include "code.h"

#include <jvmticmlr.h>

/* The consumer's limit on inlined frames of one pc; outermost ones are kept. */
#define CODE_MAX_DEPTH 128
/* Another thread may empty the method table between naming and writing; then we name again. */
#define CODE_TRIES 3

struct inlining {
	const PCStackInfo *pcs; /* NULL: none */
	jint count;
	uint64_t start;
	uint32_t code_bytes;
	uint32_t max_depth; /* frames published per pc */
};

static void inlining_init(struct inlining *in, const struct code_event *event)
{
	const jvmtiCompiledMethodLoadRecordHeader *h = event->compile_info;

	in->pcs = NULL;
	in->count = 0;
	in->start = (uint64_t)(uintptr_t)event->address;
	in->code_bytes = event->code_bytes;
	in->max_depth = CODE_MAX_DEPTH;
	for (; h; h = h->next) {
		const jvmtiCompiledMethodLoadInlineRecord *r = (const void *)h;

		if (h->kind != JVMTI_CMLR_INLINE_INFO ||
		    h->majorinfoversion != JVMTI_CMLR_MAJOR_VERSION_1)
			continue;
		in->pcs = r->pcinfo;
		in->count = r->pcinfo ? r->numpcs : 0;
		return;
	}
}

/*
 * Step to the next pc that can be published: within the code, ascending, with frames. *LAST is the
 * offset of the one before, -1 at first. NULL at the end.
 */
static const PCStackInfo *inlining_next(const struct inlining *in, jint *at, int64_t *last)
{
	while (*at < in->count) {
		const PCStackInfo *pc = &in->pcs[(*at)++];
		int64_t offset = (int64_t)((uint64_t)(uintptr_t)pc->pc - in->start);

		if (offset <= *last || offset > in->code_bytes)
			continue;
		if (pc->numstackframes <= 0 || !pc->methods || !pc->bcis)
			continue;
		*last = offset;
		return pc;
	}
	return NULL;
}

static uint32_t published_depth(const struct inlining *in, const PCStackInfo *pc)
{
	uint32_t depth = (uint32_t)pc->numstackframes;

	return depth < in->max_depth ? depth : in->max_depth;
}

/* Record size; also counts the pcs and says whether frames are left out. */
static uint64_t inlining_measure(const struct inlining *in, uint32_t *ret_pcs, bool *ret_cut)
{
	uint64_t size = sizeof(struct codemap_load);
	const PCStackInfo *pc;
	int64_t last = -1;
	jint at = 0;

	*ret_pcs = 0;
	*ret_cut = false;
	while ((pc = inlining_next(in, &at, &last))) {
		uint32_t depth = published_depth(in, pc);

		*ret_cut |= depth < (uint32_t)pc->numstackframes;
		*ret_pcs += 1;
		size += sizeof(struct codemap_pc) + depth * sizeof(struct codemap_frame);
	}
	return size;
}

/* Cut innermost frames until the record fits; what remains is true, but less deep. */
static uint32_t inlining_fit(struct inlining *in, uint32_t *ret_pcs, bool *ret_cut)
{
	uint64_t size;

	while ((size = inlining_measure(in, ret_pcs, ret_cut)) > CODEMAP_MAX_RECORD_BYTES) {
		in->max_depth /= 2;
		if (in->max_depth)
			continue;
		in->count = 0;
		*ret_pcs = 0;
		*ret_cut = true;
		return sizeof(struct codemap_load);
	}
	return (uint32_t)size;
}

/* Where the search for unpublished methods is; frames before it are done. */
struct name_cursor {
	jint pc;
	jint frame;
	bool outermost_done;
};

static jmethodID next_unnamed(struct agent *a, const struct code_event *event,
			      const struct inlining *in, struct name_cursor *at)
{
	jmethodID found = NULL;

	pthread_mutex_lock(&a->ring.lock);
	if (!at->outermost_done && !method_table_find(&a->methods, event->method))
		found = event->method;
	at->outermost_done = true;
	for (; !found && at->pc < in->count; at->pc++, at->frame = 0) {
		const PCStackInfo *pc = &in->pcs[at->pc];

		for (; !found && pc->methods && at->frame < pc->numstackframes; at->frame++)
			if (!method_table_find(&a->methods, pc->methods[at->frame]))
				found = pc->methods[at->frame];
		if (found)
			break;
	}
	pthread_mutex_unlock(&a->ring.lock);
	return found;
}

/* False when the ring is full: then the code is not worth publishing, either. */
static bool name_methods(struct agent *a, JNIEnv *jni, const struct code_event *event,
			 const struct inlining *in)
{
	struct name_cursor at = { 0, 0, false };
	jmethodID method;

	while ((method = next_unnamed(a, event, in, &at)))
		if (!method_publish(a, jni, method))
			return false;
	return true;
}

static struct codemap_frame *fill_frames(struct agent *a, const PCStackInfo *pc, uint32_t depth,
					 struct codemap_frame *frame)
{
	for (jint i = pc->numstackframes - (jint)depth; i < pc->numstackframes; i++, frame++) {
		frame->method = method_table_find(&a->methods, pc->methods[i]);
		frame->bci = pc->bcis[i];
		frame->pad = 0;
	}
	return frame;
}

static void fill_load(struct agent *a, struct codemap_load *load, const struct code_event *event,
		      const struct inlining *in, uint32_t pcs)
{
	void *out = load + 1;
	const PCStackInfo *pc;
	int64_t last = -1;
	jint at = 0;

	load->address = in->start;
	load->code_bytes = in->code_bytes;
	load->pc_count = pcs;
	load->method = method_table_find(&a->methods, event->method);
	while ((pc = inlining_next(in, &at, &last))) {
		struct codemap_pc *entry = out;

		entry->offset = (uint32_t)last;
		entry->depth = published_depth(in, pc);
		out = fill_frames(a, pc, entry->depth, (void *)(entry + 1));
	}
}

void code_publish(struct agent *a, JNIEnv *jni, const struct code_event *event)
{
	struct codemap_load *load;
	struct inlining in;
	uint32_t size, pcs, epoch;
	bool cut;

	inlining_init(&in, event);
	size = inlining_fit(&in, &pcs, &cut);
	for (int i = 0; i < CODE_TRIES; i++) {
		epoch = __atomic_load_n(&a->methods.epoch, __ATOMIC_ACQUIRE);
		if (!name_methods(a, jni, event, &in))
			return;
		load = (void *)agent_reserve(a, CODEMAP_LOAD, size, event->time_ns);
		if (!load)
			return;
		if (epoch == a->methods.epoch || i == CODE_TRIES - 1)
			break;
		pthread_mutex_unlock(&a->ring.lock);
	}
	if (cut)
		load->record.flags |= CODEMAP_FLAG_CUT;
	if (agent_is_replaying(a))
		load->record.flags |= CODEMAP_FLAG_REPLAYED;
	fill_load(a, load, event, &in, pcs);
	ring_commit(&a->ring, &load->record);
}
