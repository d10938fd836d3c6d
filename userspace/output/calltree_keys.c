/* SPDX-License-Identifier: Apache-2.0 */
#include "output/calltree_keys.h"

#include "base/strbuf.h"
#include "output/calltree_sort.h"
#include "profile/filter.h"
#include "profile/frame_kind.h"
#include "profile/title.h"

/* Keys that a sample is compared with: as many threads or processes as mostly share a stack. */
#define LOOK_BACK      16
#define PREFETCH_AHEAD 8

/* Labels as they are met; moved into the tree in sorted order. */
struct label_maker {
	struct calltree_keys *keys;
	struct intern names;
	struct intern labels;
	struct strbuf scratch;
	bool *seen_stacks; /* by stack id: its frames have labels */
};

static bool is_process_level(const struct calltree_options *options, uint32_t depth)
{
	return depth == 0 && options->by_process;
}

uint32_t calltree_key_origin(const struct calltree_keys *keys, const struct calltree_key *key,
			     uint32_t depth)
{
	if (depth >= keys->levels)
		return key->frames[key->len - 1 - (depth - keys->levels)];
	if (is_process_level(keys->options, depth))
		return profile_process_of(keys->profile, key->thread);
	return key->thread;
}

static uint32_t level_label(const struct calltree_keys *keys, const struct calltree_key *key,
			    uint32_t depth)
{
	uint32_t id = calltree_key_origin(keys, key, depth);

	if (is_process_level(keys->options, depth))
		return keys->process_labels[MIN(id, intern_len(&keys->profile->processes))];
	return keys->thread_labels[MIN(id, intern_len(&keys->profile->threads))];
}

uint32_t calltree_key_label(const struct calltree_keys *keys, const struct calltree_key *key,
			    uint32_t depth)
{
	if (depth < keys->levels)
		return level_label(keys, key, depth);
	depth -= keys->levels;
	return depth < key->len ? keys->frame_labels[key->frames[key->len - 1 - depth]] : 0;
}

uint32_t calltree_key_common(const struct calltree_keys *keys, const struct calltree_key *a,
			     const struct calltree_key *b, uint32_t from)
{
	const uint32_t *end_a = a->frames + a->len, *end_b = b->frames + b->len;
	const uint32_t *labels = keys->frame_labels;
	uint32_t depth = from, len;

	for (; depth < keys->levels; depth++)
		if (level_label(keys, a, depth) != level_label(keys, b, depth))
			return depth;
	len = MIN(a->len, b->len);
	if (a->frames == b->frames && a->len == b->len)
		return keys->levels + len;
	for (depth -= keys->levels; depth < len; depth++) {
		uint32_t fa = *(end_a - 1 - depth), fb = *(end_b - 1 - depth);

		if (fa != fb && labels[fa] != labels[fb])
			break;
	}
	return keys->levels + depth;
}

/* Intern the text in scratch as a label of KIND; returns its number plus one. */
static uint32_t put_label(struct label_maker *maker, uint32_t kind)
{
	struct strbuf *sb = &maker->scratch;
	struct calltree_label label = { 0, kind };
	bool is_new;

	if (maker->keys->options->plain)
		profile_make_plain(sb, 0);
	label.name = intern_put(&maker->names, strbuf_str(sb), sb->len, &is_new);
	if (maker->keys->options->plain) {
		/* One label per name: names and labels keep the same numbers. */
		if (is_new)
			intern_put(&maker->labels, &label, sizeof(label), NULL);
		return label.name + 1;
	}
	return intern_put(&maker->labels, &label, sizeof(label), NULL) + 1;
}

static void label_thread(struct label_maker *maker, uint32_t thread)
{
	struct calltree_keys *keys = maker->keys;
	const struct profile *p = keys->profile;
	uint32_t process = profile_process_of(p, thread);
	uint32_t *slot = &keys->process_labels[MIN(process, intern_len(&p->processes))];

	if (keys->options->by_process && !*slot) {
		strbuf_reset(&maker->scratch);
		profile_format_process(&maker->scratch, p, process);
		*slot = put_label(maker, FRAME_KIND_COUNT);
	}
	slot = &keys->thread_labels[MIN(thread, intern_len(&p->threads))];
	if (keys->options->by_thread && !*slot) {
		strbuf_reset(&maker->scratch);
		profile_format_thread(&maker->scratch, p, thread);
		*slot = put_label(maker, FRAME_KIND_COUNT);
	}
}

static void label_frames(struct label_maker *maker, uint32_t id, const struct profile_stack *stack)
{
	struct calltree_keys *keys = maker->keys;
	struct frame_name_options options = { keys->options->lines, keys->options->annotate,
					      keys->options->names };

	if (keys->options->plain)
		options.names |= FRAME_NAMES_NO_SEMICOLON;

	if (maker->seen_stacks[id])
		return;
	maker->seen_stacks[id] = true;
	for (uint32_t i = 0; i < stack->len; i++) {
		uint32_t *slot = &keys->frame_labels[stack->frames[i]];
		const struct profile_frame *frame;

		if (*slot)
			continue;
		frame = profile_get_frame(keys->profile, stack->frames[i]);
		strbuf_reset(&maker->scratch);
		frame_format_name(&maker->scratch, keys->profile, frame, &options);
		*slot = put_label(maker, frame->kind);
	}
}

/* Whether equal stacks of these two threads are one key. */
static bool threads_match(const struct calltree_keys *keys, uint32_t a, uint32_t b)
{
	if (a == b || !keys->levels)
		return true;
	if (keys->options->by_thread)
		return false;
	return profile_process_of(keys->profile, a) == profile_process_of(keys->profile, b);
}

/*
 * Add to one of the last keys, or append. Samples come by stack, so that those that belong together
 * are near; what is missed is merged by the tree.
 */
static void add_key(struct calltree_keys *keys, const struct calltree_key *key)
{
	size_t len = keys->keys.len;

	for (size_t i = len; i > 0 && len - i < LOOK_BACK; i--) {
		struct calltree_key *have = &keys->keys.items[i - 1];

		if (have->frames != key->frames || have->len != key->len)
			break;
		if (threads_match(keys, have->thread, key->thread)) {
			have->weight += key->weight;
			have->samples += key->samples;
			have->objects += key->objects;
			return;
		}
	}
	vec_push(&keys->keys, *key);
}

static void collect_sample(struct label_maker *maker, const struct profile_sample *s)
{
	struct calltree_keys *keys = maker->keys;
	const struct calltree_options *options = keys->options;
	const struct profile_filter filter = { options->all_user, options->all_kernel };
	struct profile_stack whole = profile_get_stack(keys->profile, s->stack);
	struct profile_stack stack = profile_filter_stack(keys->profile, &filter, whole);
	struct calltree_key key = {
		.frames = stack.frames,
		.len = stack.len,
		.thread = s->thread,
		.weight = options->count ? s->count : s->weight,
		.samples = s->count,
		.objects = s->objects,
	};

	if (whole.len && !stack.len)
		return;
	label_thread(maker, s->thread);
	label_frames(maker, s->stack, &stack);
	add_key(keys, &key);
}

static void collect_keys(struct label_maker *maker)
{
	const struct profile *p = maker->keys->profile;
	uint32_t event = profile_filter_event(p, maker->keys->options->event);
	_cleanup_free_ uint32_t *order = profile_order_by_stack(p);

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *s = &p->samples.items[order[i]];

		/* In this order they lie far apart in memory. */
		if (i + PREFETCH_AHEAD < p->samples.len)
			__builtin_prefetch(&p->samples.items[order[i + PREFETCH_AHEAD]]);
		if (s->event == event)
			collect_sample(maker, s);
	}
}

struct named_label {
	const char *name; /* borrowed */
	uint32_t kind;
	uint32_t id;
};

static int compare_labels(const void *pa, const void *pb)
{
	const struct named_label *a = pa, *b = pb;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->kind > b->kind) - (a->kind < b->kind);
}

/* The labels by name and kind; caller frees. */
static struct named_label *sort_labels(const struct label_maker *maker)
{
	uint32_t len = intern_len(&maker->labels);
	struct named_label *sorted = xcalloc(len + 1, sizeof(*sorted));

	for (uint32_t id = 0; id < len; id++) {
		const struct calltree_label *label = intern_get(&maker->labels, id, NULL);

		sorted[id].name = intern_get(&maker->names, label->name, NULL);
		sorted[id].kind = label->kind;
		sorted[id].id = id;
	}
	qsort(sorted, len, sizeof(*sorted), compare_labels);
	return sorted;
}

static void renumber(uint32_t *labels, uint32_t len, const uint32_t *new_ids)
{
	for (uint32_t i = 0; i < len; i++)
		if (labels[i])
			labels[i] = new_ids[labels[i] - 1] + 1;
}

static uint32_t put_tree_label(struct calltree *tree, const char *name, uint32_t kind)
{
	struct calltree_label label = { intern_put(&tree->names, name, strlen(name), NULL), kind };

	return intern_put(&tree->labels, &label, sizeof(label), NULL);
}

/* Move the labels into TREE, so that a label's number is its rank. */
static void order_labels(struct label_maker *maker, struct calltree *tree)
{
	struct calltree_keys *keys = maker->keys;
	uint32_t len = intern_len(&maker->labels);
	_cleanup_free_ struct named_label *sorted = sort_labels(maker);
	_cleanup_free_ uint32_t *new_ids = xcalloc(len + 1, sizeof(*new_ids));

	/* No frame is of this kind, so the root's label is never equal to another one. */
	put_tree_label(tree, "all", FRAME_KIND_COUNT + 1);
	for (uint32_t i = 0; i < len; i++)
		new_ids[sorted[i].id] = put_tree_label(tree, sorted[i].name, sorted[i].kind);
	renumber(keys->frame_labels, intern_len(&keys->profile->frames), new_ids);
	renumber(keys->process_labels, intern_len(&keys->profile->processes) + 1, new_ids);
	renumber(keys->thread_labels, intern_len(&keys->profile->threads) + 1, new_ids);
}

void calltree_keys_init(const struct profile *p, const struct calltree_options *options,
			struct calltree *ret_tree, struct calltree_keys *ret_keys)
{
	struct label_maker maker = { .keys = ret_keys };

	*ret_keys = (struct calltree_keys){ .profile = p, .options = options };
	ret_keys->levels = (uint32_t)options->by_process + (uint32_t)options->by_thread;
	ret_keys->frame_labels = xcalloc(intern_len(&p->frames) + 1, sizeof(uint32_t));
	ret_keys->process_labels = xcalloc(intern_len(&p->processes) + 1, sizeof(uint32_t));
	ret_keys->thread_labels = xcalloc(intern_len(&p->threads) + 1, sizeof(uint32_t));
	maker.seen_stacks = xcalloc(intern_len(&p->stacks) + 1, sizeof(bool));
	intern_init(&maker.names);
	intern_init(&maker.labels);
	collect_keys(&maker);
	order_labels(&maker, ret_tree);
	free(maker.seen_stacks);
	strbuf_release(&maker.scratch);
	intern_release(&maker.labels);
	intern_release(&maker.names);
	calltree_sort(ret_keys);
}

void calltree_keys_release(struct calltree_keys *keys)
{
	vec_release(&keys->keys);
	free(keys->thread_labels);
	free(keys->process_labels);
	free(keys->frame_labels);
}
