// SPDX-License-Identifier: Apache-2.0
#include "symbolize/symbolizer.h"

#include <string.h>

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

int symbolizer_new(struct image_cache *images, struct jvm_table *jvms,
		   struct symbolizer **ret_symbolizer, struct err *err)
{
	struct symbolizer *symbolizer = xcalloc(1, sizeof(*symbolizer));

	(void)err;
	symbolizer->images = images;
	symbolizer->jvms = jvms;
	symbolizer->jit_mapping = PROFILE_NONE;
	*ret_symbolizer = symbolizer;
	return 0;
}

static void cache_clear(struct process_cache *cache)
{
	hmap_clear(&cache->frames);
	hmap_clear(&cache->stacks);
}

static void cache_free(struct process_cache *cache)
{
	hmap_release(&cache->frames);
	hmap_release(&cache->stacks);
	perf_map_free(cache->perf_map);
	free(cache);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	uint64_t pid, value;
	size_t at = 0;

	if (!symbolizer)
		return;
	while (hmap_next(&symbolizer->processes, &at, &pid, &value))
		cache_free(hmap_find_ptr(&symbolizer->processes, pid));
	hmap_release(&symbolizer->processes);
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

/* The cache of this generation with this set of mappings; older contents are dropped. */
static struct process_cache *get_cache(struct symbolizer *symbolizer, const struct process *process)
{
	struct process_cache *cache = hmap_find_ptr(&symbolizer->processes, process->pid);

	if (cache && cache->serial != process->serial) {
		cache_free(cache);
		cache = NULL;
	}
	if (!cache) {
		cache = xcalloc(1, sizeof(*cache));
		cache->serial = process->serial;
		hmap_put_ptr(&symbolizer->processes, process->pid, cache);
	}
	if (cache->mappings_serial != process->mappings_serial) {
		cache_clear(cache);
		cache->mappings_serial = process->mappings_serial;
	}
	return cache;
}

void symbolizer_forget(struct symbolizer *symbolizer, struct process *process)
{
	struct process_cache *cache = hmap_find_ptr(&symbolizer->processes, process->pid);

	/* the pid may belong to another generation already, which drops it by itself */
	if (!cache || cache->serial != process->serial)
		return;
	hmap_remove(&symbolizer->processes, process->pid);
	cache_free(cache);
}

void symbolizer_reset_ids(struct symbolizer *symbolizer)
{
	uint64_t pid, value;
	size_t at = 0;

	while (hmap_next(&symbolizer->processes, &at, &pid, &value))
		cache_clear(hmap_find_ptr(&symbolizer->processes, pid));
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
		mapping_get_image(symbolizer, process, mapping);
}

/* --- words --- */

struct word_reader {
	const uint64_t *at;
	const uint64_t *end;
};

struct user_word {
	uint64_t address;      /* to look up: within the call for a return address */
	uint64_t cache_key;    /* address and exactness */
	const uint64_t *words; /* all words of the frame */
	enum wire_frame_kind kind;
	bool exact;
};

/* The header's counts, bounded by the record's size. */
static void sample_words(const struct wire_sample *sample, struct word_reader *ret_kernel,
			 struct word_reader *ret_user)
{
	size_t bytes = MAX(sample->size, sizeof(*sample)) - sizeof(*sample);
	size_t kernel = MIN(sample->kernel_frames, bytes / sizeof(uint64_t));
	size_t user = MIN(sample->user_words, bytes / sizeof(uint64_t) - kernel);

	*ret_kernel = (struct word_reader){ sample->words, sample->words + kernel };
	*ret_user = (struct word_reader){ ret_kernel->end, ret_kernel->end + user };
}

/* False at the end, or when a frame's words are cut off. */
static bool next_user_word(struct word_reader *reader, struct user_word *ret_word)
{
	size_t left = (size_t)(reader->end - reader->at);
	uint64_t word, address;
	size_t len;

	if (left == 0)
		return false;
	word = *reader->at;
	ret_word->kind = (enum wire_frame_kind)(word >> WIRE_FRAME_KIND_SHIFT);
	len = ret_word->kind == WIRE_FRAME_INTERPRETED ? WIRE_INTERPRETED_WORDS : 1;
	if (len > left)
		return false;
	/* the vsyscall page lies at the top: addresses are signed */
	address = (uint64_t)((int64_t)(word << 8) >> 8);
	ret_word->exact = (word & WIRE_FRAME_EXACT) != 0;
	ret_word->address = ret_word->exact ? address : address - 1;
	ret_word->cache_key = word & (WIRE_FRAME_ADDRESS_MASK | WIRE_FRAME_EXACT);
	ret_word->words = reader->at;
	reader->at += len;
	return true;
}

/* --- early reads --- */

void symbolizer_prefetch(struct symbolizer *symbolizer, struct process *process,
			 const struct wire_sample *sample)
{
	struct word_reader kernel, user;
	struct java_frame ignored;
	struct user_word word;
	struct jvm *jvm = symbolizer->jvms ? jvm_table_get(symbolizer->jvms, process) : NULL;

	if (!jvm)
		return;
	sample_words(sample, &kernel, &user);
	while (next_user_word(&user, &word))
		if (word.kind == WIRE_FRAME_INTERPRETED)
			jvm_find_interpreted(jvm, word.words, &ignored);
}

/* --- readiness --- */

static bool is_ready(struct symbolizer *symbolizer, struct process *process, uint64_t address)
{
	struct mapping *mapping = process_find_mapping(process, address);
	struct image *image = mapping ? mapping_get_image(symbolizer, process, mapping) : NULL;

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

	sample_words(sample, &kernel, &user);
	while (next_user_word(&user, &word))
		if (word.kind == WIRE_FRAME_CODE && !hmap_get(&cache->frames, word.cache_key, &id))
			ready &= is_ready(symbolizer, process, word.address);
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

static void push_user_frames(struct stack_build *build, struct word_reader user)
{
	struct user_word word;

	while (next_user_word(&user, &word)) {
		if (word.kind == WIRE_FRAME_INTERPRETED)
			java_push_interpreted(build, word.words);
		else if (!java_push_code(build, word.address, word.exact))
			native_push(build, word.address, word.cache_key);
	}
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
	} else if (reason == UNWIND_DONE && build->unnamed_tail) {
		build->symbolizer->frames.len--;
		stack_push_name(build,
				sample->tid == sample->tgid ? "[process start]" : "[thread start]",
				FRAME_MARK, PROFILE_NONE);
	}
}

static uint64_t stack_hash(const struct wire_sample *sample, const struct word_reader *kernel,
			   const struct word_reader *user)
{
	uint64_t words = hash_bytes(kernel->at, (size_t)(user->end - kernel->at) * 8);
	uint64_t rest = (uint64_t)sample->kernel_frames << 16 | (uint64_t)sample->reason << 8 |
			(sample->tid == sample->tgid);

	return words ^ (rest * 0x9e3779b97f4a7c15ULL);
}

static uint32_t build_stack(struct stack_build *build, const struct wire_sample *sample,
			    const struct word_reader *kernel, const struct word_reader *user)
{
	struct symbolizer *symbolizer = build->symbolizer;

	symbolizer->frames.len = 0;
	if (build->cache->frames.len >= MAX_CACHED_FRAMES)
		hmap_clear(&build->cache->frames);
	if (symbolizer->kernel_frames.len >= MAX_KERNEL_FRAMES)
		hmap_clear(&symbolizer->kernel_frames);
	push_kernel_frames(build, kernel);
	push_user_frames(build, *user);
	push_root(build, sample);
	return profile_stack(build->profile, symbolizer->frames.items,
			     (uint32_t)symbolizer->frames.len);
}

uint32_t symbolizer_stack(struct symbolizer *symbolizer, struct profile *profile,
			  struct process *process, const struct wire_sample *sample)
{
	struct process_cache *cache = get_cache(symbolizer, process);
	struct stack_build build = { symbolizer, profile,	  process, cache,
				     NULL,	 sample->time_ns, true,	   false };
	struct word_reader kernel, user;
	uint64_t hash, known;
	uint32_t stack;

	sample_words(sample, &kernel, &user);
	hash = stack_hash(sample, &kernel, &user);
	if (hmap_get(&cache->stacks, hash, &known))
		return (uint32_t)known;
	if (symbolizer->jvms)
		build.jvm = jvm_table_get(symbolizer->jvms, process);
	stack = build_stack(&build, sample, &kernel, &user);
	if (build.cacheable) {
		if (cache->stacks.len >= MAX_CACHED_STACKS)
			hmap_clear(&cache->stacks);
		hmap_put(&cache->stacks, hash, stack);
	}
	return stack;
}
