// SPDX-License-Identifier: Apache-2.0
#include "symbolize/symbolizer.h"

#include <string.h>

#include "symbolize/sample_words.h"
#include "symbolize/symbolizer_private.h"

/* Per process; a full table is emptied. A large program's hot code is a few thousand addresses. */
#define MAX_CACHED_FRAMES 65536
#define MAX_CACHED_STACKS 16384
/* Of the kernel: more than it has call sites in all traces of a day. */
#define MAX_KERNEL_FRAMES 131072

static const struct {
	const char *id;
	bool whole;
} unwind_reasons[] = {

#define UNWIND_REASON(name, text_id, is_whole, text) [UNWIND_##name] = { text_id, is_whole },
#include "unwind_reasons.def"
#undef UNWIND_REASON
};

struct symbolizer *symbolizer_new(struct image_cache *images, struct jvm_table *jvms)
{
	struct symbolizer *symbolizer = xcalloc(1, sizeof(*symbolizer));

	symbolizer->images = images;
	symbolizer->jvms = jvms;
	symbolizer->jit_mapping = PROFILE_NONE;
	return symbolizer;
}

static void cache_clear(struct process_cache *cache)
{
	hmap_clear(&cache->frames);
	hmap_clear(&cache->code);
	hmap_clear(&cache->stacks);
}

static void cache_free(struct process_cache *cache)
{
	hmap_release(&cache->images);
	hmap_release(&cache->frames);
	hmap_release(&cache->code);
	hmap_release(&cache->stacks);
	perf_map_free(cache->perf_map);
	free(cache);
}

static struct process_cache *cache_of(struct attachment *attachment)
{
	return container_of(attachment, struct process_cache, attachment);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	struct attachment **at;

	if (!symbolizer)
		return;
	vec_for_each (at, &symbolizer->processes.all)
		cache_free(cache_of(*at));
	book_release(&symbolizer->processes);
	hmap_release(&symbolizer->image_mappings);
	hmap_release(&symbolizer->kernel_frames);
	vec_release(&symbolizer->frames);
	kernel_symbols_free(symbolizer->kernel);
	free(symbolizer);
}

const char *symbolizer_kernel_failure(const struct symbolizer *symbolizer)
{
	return symbolizer->kernel_err.text;
}

static struct process_cache *find_cache(const struct symbolizer *symbolizer,
					const struct process *process)
{
	return book_entry(&symbolizer->processes, &process->attached, struct process_cache,
			  attachment);
}

/* The cache of this generation with this set of mappings; older contents are dropped. */
static struct process_cache *get_cache(struct symbolizer *symbolizer, struct process *process)
{
	struct process_cache *cache = find_cache(symbolizer, process);

	if (!cache) {
		cache = xcalloc(1, sizeof(*cache));
		book_attach(&symbolizer->processes, &process->attached, &cache->attachment);
	}
	if (cache->mappings_serial != process->mappings_serial) {
		cache_clear(cache);
		cache->mappings_serial = process->mappings_serial;
	}
	return cache;
}

void symbolizer_forget(struct symbolizer *symbolizer, struct process *process)
{
	struct process_cache *cache = find_cache(symbolizer, process);

	if (!cache)
		return;
	book_detach(&symbolizer->processes, &process->attached, &cache->attachment);
	cache_free(cache);
}

void symbolizer_reset_ids(struct symbolizer *symbolizer)
{
	struct attachment **at;

	vec_for_each (at, &symbolizer->processes.all)
		cache_clear(cache_of(*at));
	hmap_clear(&symbolizer->image_mappings);
	hmap_clear(&symbolizer->kernel_frames);
	symbolizer->jit_mapping = PROFILE_NONE;
}

void symbolizer_touch(struct symbolizer *symbolizer, struct process *process)
{
	struct process_cache *cache = get_cache(symbolizer, process);
	struct mapping *mapping;

	if (cache->touched_serial == process->mappings_serial + 1)
		return;
	cache->touched_serial = process->mappings_serial + 1;
	vec_for_each (mapping, &process->mappings)
		mapping_get_image(symbolizer, cache, process->pid, mapping);
}

/* --- early reads --- */

void symbolizer_prefetch_jvm(struct jvm *jvm, const struct wire_sample *sample)
{
	struct word_reader kernel, user;
	struct java_frame frame;
	struct user_word word;
	const char *stub;

	sample_words_read(sample, &kernel, &user);
	while (user_word_next(&user, &word))
		if (word.kind == WIRE_FRAME_INTERPRETED)
			jvm_find_interpreted(jvm, word.words, &frame);
		else if (word.kind == WIRE_FRAME_COMPILED)
			jvm_find_compiled(jvm, word.words, &frame, &stub);
}

void symbolizer_prefetch(struct symbolizer *symbolizer, struct process *process,
			 const struct wire_sample *sample)
{
	struct jvm *jvm = symbolizer->jvms ? jvm_table_get(symbolizer->jvms, process) : NULL;
	struct word_reader kernel, user;
	uint64_t known;

	if (!jvm)
		return;
	sample_words_read(sample, &kernel, &user);
	if (hmap_get(&get_cache(symbolizer, process)->stacks,
		     sample_words_hash(sample, &kernel, &user), &known))
		return;
	symbolizer_prefetch_jvm(jvm, sample);
}

/* --- readiness --- */

static bool is_ready(struct symbolizer *symbolizer, struct process_cache *cache,
		     struct process *process, uint64_t address)
{
	const struct mapping *mapping = process_find_mapping(process, address);
	struct image *image =
		mapping ? mapping_get_image(symbolizer, cache, process->pid, mapping) : NULL;

	if (!image)
		return true;
	if (image_state(image) == IMAGE_NEW)
		image_load(symbolizer->images, image);
	return image_state(image) == IMAGE_READY || image_state(image) == IMAGE_FAILED;
}

bool symbolizer_ready(struct symbolizer *symbolizer, struct process *process,
		      const struct wire_sample *sample)
{
	struct process_cache *cache = get_cache(symbolizer, process);
	struct word_reader kernel, user;
	struct user_word word;
	bool ready = true;
	uint64_t id;

	sample_words_read(sample, &kernel, &user);
	while (user_word_next(&user, &word))
		if (word.kind == WIRE_FRAME_CODE && !hmap_get(&cache->frames, word.cache_key, &id))
			ready &= is_ready(symbolizer, cache, process, word.address);
	return ready;
}

/* --- stacks --- */

void stack_push_known(struct stack_build *build, uint32_t id)
{
	const struct profile_frame *frame = profile_get_frame(build->profile, id);

	vec_push(&build->symbolizer->frames, id);
	build->unnamed_tail = frame->kind == FRAME_NATIVE && frame->name == 0;
}

uint32_t stack_push(struct stack_build *build, const struct profile_frame *frame)
{
	uint32_t id = profile_frame(build->profile, frame);

	stack_push_known(build, id);
	return id;
}

uint32_t stack_push_name(struct stack_build *build, const char *name, enum frame_kind kind,
			 uint32_t mapping)
{
	struct profile_frame frame = { .name = profile_string(build->profile, name),
				       .mapping = mapping,
				       .bci = -1,
				       .kind = kind };

	return stack_push(build, &frame);
}

static void push_kernel_frames(struct stack_build *build, const struct word_reader *kernel)
{
	/* the first one is where the cpu was, the others are return addresses */
	for (const uint64_t *at = kernel->at; at < kernel->end; at++)
		kernel_push(build, at == kernel->at ? *at : *at - 1);
}

static const char *const marks[] = {
	[WIRE_MARK_FROZEN] = "[frozen frames]",
	[WIRE_MARK_ANCHOR] = "[native frames skipped]",
};

_Static_assert(ARRAY_SIZE(marks) == WIRE_MARK_COUNT, "each mark has a text");

static void push_mark(struct stack_build *build, uint64_t mark)
{
	if (mark > 0 && mark < WIRE_MARK_COUNT)
		stack_push_name(build, marks[mark], FRAME_MARK, PROFILE_NONE);
}

static void push_user_frame(struct stack_build *build, const struct user_word *word)
{
	switch (word->kind) {
	case WIRE_FRAME_MARK: push_mark(build, word->words[0] & WIRE_FRAME_ADDRESS_MASK); break;
	case WIRE_FRAME_INTERPRETED: java_push_interpreted(build, word->words); break;
	case WIRE_FRAME_COMPILED:
		java_push_compiled(build, word->words, word->address, word->exact);
		break;
	default:
		if (!java_push_code(build, word->address, word->exact))
			native_push(build, word->address, word->cache_key);
	}
}

static void push_user_frames(struct stack_build *build, struct word_reader user)
{
	struct user_word word;

	while (user_word_next(&user, &word))
		push_user_frame(build, &word);
}

/* What stands at the root: why the walk ended early, or the role of a nameless first frame. */
static void push_root(struct stack_build *build, const struct wire_sample *sample)
{
	unsigned int reason = sample->reason;
	char name[64];

	if (reason >= ARRAY_SIZE(unwind_reasons)) {
		stack_push_name(build, "[unwind: unknown]", FRAME_MARK, PROFILE_NONE);
	} else if (!unwind_reasons[reason].whole) {
		snprintf(name, sizeof(name), "[unwind: %s]", unwind_reasons[reason].id);
		stack_push_name(build, name, FRAME_MARK, PROFILE_NONE);
	} else if (reason == UNWIND_DONE && build->unnamed_tail && !build->is_raw) {
		build->symbolizer->frames.len--;
		stack_push_name(build,
				sample->tid == sample->tgid ? "[process start]" : "[thread start]",
				FRAME_MARK, PROFILE_NONE);
	}
}

static uint32_t build_stack(struct stack_build *build, const struct wire_sample *sample,
			    const struct word_reader *kernel, const struct word_reader *user)
{
	struct symbolizer *symbolizer = build->symbolizer;

	symbolizer->frames.len = 0;
	if (build->cache->frames.len >= MAX_CACHED_FRAMES)
		hmap_clear(&build->cache->frames);
	if (build->cache->code.len >= MAX_CACHED_FRAMES)
		hmap_clear(&build->cache->code);
	if (symbolizer->kernel_frames.len >= MAX_KERNEL_FRAMES)
		hmap_clear(&symbolizer->kernel_frames);
	push_kernel_frames(build, kernel);
	push_user_frames(build, *user);
	push_root(build, sample);
	return profile_stack(build->profile, symbolizer->frames.items,
			     (uint32_t)symbolizer->frames.len);
}

/* Before an agent is there and after, the same words may have other frames. */
static void note_code_map(struct process_cache *cache, const struct jvm *jvm)
{
	bool has_code_map = jvm && jvm_has_code_map(jvm);

	if (cache->has_code_map != has_code_map)
		cache_clear(cache);
	cache->has_code_map = has_code_map;
}

static uint32_t find_stack(struct symbolizer *symbolizer, struct profile *profile,
			   struct process *process, const struct wire_sample *sample, bool is_early)
{
	struct process_cache *cache = get_cache(symbolizer, process);
	struct stack_build build = { .symbolizer = symbolizer,
				     .profile = profile,
				     .process = process,
				     .cache = cache,
				     .time_ns = sample->time_ns,
				     .cacheable = true,
				     .is_early = is_early };
	struct word_reader kernel, user;
	uint64_t hash, known;
	uint32_t stack;

	if (symbolizer->jvms)
		build.jvm = jvm_table_get(symbolizer->jvms, process);
	note_code_map(cache, build.jvm);
	sample_words_read(sample, &kernel, &user);
	hash = sample_words_hash(sample, &kernel, &user);
	if (hmap_get(&cache->stacks, hash, &known))
		return (uint32_t)known;
	stack = build_stack(&build, sample, &kernel, &user);
	if (build.cacheable) {
		if (cache->stacks.len >= MAX_CACHED_STACKS)
			hmap_clear(&cache->stacks);
		hmap_put(&cache->stacks, hash, stack);
	}
	return stack;
}

uint32_t symbolizer_stack(struct symbolizer *symbolizer, struct profile *profile,
			  struct process *process, const struct wire_sample *sample)
{
	return find_stack(symbolizer, profile, process, sample, false);
}

/* Nothing of it is kept: the next one of this pid may be known. */
static uint32_t raw_stack(struct symbolizer *symbolizer, struct profile *profile,
			  const struct wire_sample *sample)
{
	struct process_cache cache = { 0 };
	struct process process = { .pid = sample->tgid };
	struct stack_build build = { .symbolizer = symbolizer,
				     .profile = profile,
				     .process = &process,
				     .cache = &cache,
				     .time_ns = sample->time_ns,
				     .is_early = true,
				     .is_raw = true };
	struct word_reader kernel, user;
	uint32_t stack;

	sample_words_read(sample, &kernel, &user);
	stack = build_stack(&build, sample, &kernel, &user);
	hmap_release(&cache.frames);
	hmap_release(&cache.code);
	return stack;
}

uint32_t symbolizer_stack_now(struct symbolizer *symbolizer, struct profile *profile,
			      struct process *process, const struct wire_sample *sample)
{
	if (!process)
		return raw_stack(symbolizer, profile, sample);
	return find_stack(symbolizer, profile, process, sample, true);
}
