// SPDX-License-Identifier: Apache-2.0
#include "symbolize/symbolizer.h"

#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "jvm/java_name.h"
#include "symbolize/symbolizer_private.h"

/* Per process. A large program's hot code is a few thousand addresses. */
#define MAX_FRAME_BYTES (87000 * LRU_ENTRY_BYTES)
#define MAX_STACK_BYTES (16384 * LRU_ENTRY_BYTES)
#define MAX_PAGE_BYTES	(2048 * LRU_ENTRY_BYTES)
/* More files than a process maps; one that is not there is found by its key again. */
#define MAX_IMAGE_BYTES (8192 * LRU_ENTRY_BYTES)
/* Of the kernel: more than it has call sites in all traces of a day. */
#define MAX_KERNEL_BYTES (131072 * LRU_ENTRY_BYTES)

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
	lru_init(&symbolizer->kernel_frames, MAX_KERNEL_BYTES, kept_frames_drop, NULL);
	return symbolizer;
}

void symbolizer_set_pool(struct symbolizer *symbolizer, struct worker_pool *pool)
{
	symbolizer->pool = pool;
}

void symbolizer_keep_jvm_frames(struct symbolizer *symbolizer, bool keep)
{
	symbolizer->jvm_frames = keep;
}

static void cache_empty(struct process_cache *cache)
{
	lru_clear(&cache->frames);
	lru_clear(&cache->stacks);
	lru_clear(&cache->settled);
	lru_clear(&cache->pages);
}

/* What is known of its frames is not so any more, nor of its threads' last stacks. */
static void cache_clear(struct symbolizer *symbolizer, struct process_cache *cache)
{
	cache_empty(cache);
	cache->tails_owner = ++symbolizer->last_owner;
}

static void cache_free(struct process_cache *cache)
{
	cache_empty(cache);
	lru_clear(&cache->images);
	perf_map_free(cache->perf_map);
	perf_map_free(cache->jit_dump);
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
	lru_clear(&symbolizer->kernel_frames);
	vec_release(&symbolizer->frames);
	vec_release(&symbolizer->marks);
	vec_release(&symbolizer->haskell);
	stack_tails_release(&symbolizer->tails);
	kernel_symbols_free(symbolizer->kernel);
	kernel_symbols_free(symbolizer->kernel_data);
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

static void drop_image(uint64_t value, void *data)
{
	(void)data;
	image_unwant((struct image *)(uintptr_t)value);
}

struct process_cache *symbolizer_get_cache(struct symbolizer *symbolizer, struct process *process)
{
	struct process_cache *cache = find_cache(symbolizer, process);

	if (!cache) {
		cache = xcalloc(1, sizeof(*cache));
		lru_init(&cache->images, MAX_IMAGE_BYTES, drop_image, NULL);
		lru_init(&cache->frames, MAX_FRAME_BYTES, kept_frames_drop, NULL);
		lru_init(&cache->stacks, MAX_STACK_BYTES, NULL, NULL);
		lru_init(&cache->settled, MAX_STACK_BYTES, NULL, NULL);
		lru_init(&cache->pages, MAX_PAGE_BYTES, NULL, NULL);
		cache->tails_owner = ++symbolizer->last_owner;
		book_attach(&symbolizer->processes, &process->attached, &cache->attachment);
	}
	if (cache->mappings_serial != process->mappings_serial) {
		cache_clear(symbolizer, cache);
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
		cache_clear(symbolizer, cache_of(*at));
	hmap_clear(&symbolizer->image_mappings);
	lru_clear(&symbolizer->kernel_frames);
	symbolizer->jit_mapping = PROFILE_NONE;
}

/* --- stacks --- */

static void push_kernel_frames(struct stack_build *build, const struct word_reader *kernel)
{
	/* the first one is where the cpu was, the others are return addresses */
	for (const uint64_t *at = kernel->at; at < kernel->end; at++) {
		struct symbol_query query = { .kind = ASK_KERNEL,
					      .address = at == kernel->at ? *at : *at - 1 };

		query.key = query.address;
		stack_push_answer(build, &query);
	}
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
	struct symbol_query query;

	if (word->kind == WIRE_FRAME_MARK) {
		push_mark(build, word->words[0] & WIRE_FRAME_ADDRESS_MASK);
		return;
	}
	if (word->kind == WIRE_FRAME_RECEIVER) {
		shown_push_receiver(build, word->words);
		return;
	}
	query = user_word_query(word);
	stack_push_answer(build, &query);
}

/* What the thread compiles is left out: it comes last. */
static void push_marked_frames(struct stack_build *build, struct word_reader *some,
			       const uint64_t *end, size_t first)
{
	struct symbolizer *symbolizer = build->symbolizer;
	struct user_word word;

	while (user_word_next(some, &word)) {
		const struct stack_mark mark = { (size_t)(end - word.words),
						 symbolizer->frames.len - first };

		vec_push(&symbolizer->marks, mark);
		if (word.kind != WIRE_FRAME_COMPILING)
			push_user_frame(build, &word);
	}
}

/* Of what a frame is only the outermost one's matters: has it a name? */
static void push_tail(struct stack_build *build, const struct stack_tail_key *key, size_t words)
{
	size_t count;
	const uint32_t *ids = stack_tails_ids(&build->symbolizer->tails, key, words, &count);

	for (size_t i = count; i-- > 1;)
		vec_push(&build->symbolizer->frames, ids[i]);
	if (count)
		stack_push_known(build, ids[0]);
}

/* May the same words have the same frames? While an agent tells of new code they may have others. */
static bool may_repeat(const struct stack_build *build)
{
	return build->settled || !build->cache->has_code_map;
}

/* Where a stack is kept that was made, NULL: nowhere. */
static struct lru *place_of(const struct stack_build *build)
{
	if (!build->cacheable)
		return NULL;
	if (!build->by_code_map)
		return &build->cache->stacks;
	return build->settled ? &build->cache->settled : NULL;
}

/* What is as it was in the thread's last stack is not looked up again. */
static void push_user_frames(struct stack_build *build, const struct word_reader *user,
			     uint32_t tid)
{
	struct symbolizer *symbolizer = build->symbolizer;
	const struct stack_tail_key key = { may_repeat(build) ? build->cache->tails_owner : 0,
					    tid };
	size_t first = symbolizer->frames.len,
	       common = stack_tails_common(&symbolizer->tails, &key, user);
	struct word_reader some = { user->at, user->end - common };

	symbolizer->marks.len = 0;
	push_marked_frames(build, &some, user->end, first);
	/* There a frame of that stack begins, but none of this one. */
	if (common && some.at != some.end) {
		common = 0;
		some.end = user->end;
		push_marked_frames(build, &some, user->end, first);
	}
	push_tail(build, &key, common);
	if (build->waits || !place_of(build))
		return;
	stack_tails_keep(&symbolizer->tails, &key,
			 &(struct made_stack){ user, common, symbolizer->marks.items,
					       symbolizer->marks.len,
					       symbolizer->frames.items + first,
					       symbolizer->frames.len - first });
}

/* The frame's caller was looked for where there is none. */
static bool is_lost(unsigned int reason)
{
	return reason == UNWIND_FP_BAD || reason == UNWIND_FP_END || reason == UNWIND_BAD_RETURN ||
	       reason == UNWIND_BAD_ROW || reason == UNWIND_NO_START;
}

/* What stands at the root: why the walk ended early, or the role of a nameless first frame. */
static void push_root(struct stack_build *build, const struct wire_sample *sample)
{
	unsigned int reason = sample->reason;
	char name[64];

	if (reason >= ARRAY_SIZE(unwind_reasons)) {
		stack_push_name(build, "[unwind: unknown]", FRAME_MARK, PROFILE_NONE);
	} else if (!unwind_reasons[reason].whole) {
		const char *own = is_lost(reason) ? own_stack_of(build) : NULL;

		if (own)
			stack_push_name(build, own, FRAME_MARK, PROFILE_NONE);
		snprintf(name, sizeof(name), "[unwind: %s]", unwind_reasons[reason].id);
		stack_push_name(build, name, FRAME_MARK, PROFILE_NONE);
	} else if (reason == UNWIND_DONE && build->unnamed_tail && !build->is_raw) {
		build->symbolizer->frames.len--;
		stack_push_name(build,
				sample->tid == sample->tgid ? "[process start]" : "[thread start]",
				FRAME_MARK, PROFILE_NONE);
	}
}

/* Native memory has none, nor has what a virtual thread waits for. */
static bool has_class(const struct wire_sample *sample)
{
	return sample->alloc_size && !(sample->flags & WIRE_SAMPLE_NATIVE) && !sample->unmounted;
}

/* False: some of it is missing yet. */
static bool build_stack(struct stack_build *build, const struct wire_sample *sample,
			const struct word_reader *kernel, const struct word_reader *user,
			uint32_t *ret_stack)
{
	struct symbolizer *symbolizer = build->symbolizer;

	symbolizer->frames.len = 0;
	if (has_class(sample))
		allocation_push_class(build, sample);
	if (sample->text == WIRE_TEXT_COMPILATION)
		shown_push_compiled(build, sample);
	if (sample->text == WIRE_TEXT_GC)
		shown_push_pause(build, sample);
	if (sample->text == WIRE_TEXT_CLASS_LOAD)
		shown_push_loaded(build, sample);
	push_kernel_frames(build, kernel);
	wait_drop_tracing(build, sample);
	push_user_frames(build, user, sample->tid);
	if (build->waits)
		return false;
	if (has_class(sample) || sample->text == WIRE_TEXT_CLASS_LOAD)
		allocation_drop_jvm_frames(build, 1);
	if (sample->unmounted)
		allocation_drop_jvm_frames(build, 0);
	push_root(build, sample);
	shown_push_compiling(build, *user);
	*ret_stack = profile_stack(build->profile, symbolizer->frames.items,
				   (uint32_t)symbolizer->frames.len);
	return true;
}

/* Before an agent is there and after, and with each change that it tells of, the same words may have other frames. */
static void note_code_map(struct stack_build *build)
{
	struct symbolizer *symbolizer = build->symbolizer;
	struct process_cache *cache = build->cache;
	bool has_code_map = build->jvm && jvm_has_code_map(build->jvm);
	uint64_t changes;

	if (cache->has_code_map != has_code_map)
		cache_clear(symbolizer, cache);
	cache->has_code_map = has_code_map;
	build->settled = has_code_map && jvm_code_is_settled(build->jvm, build->time_ns, &changes);
	if (!build->settled || cache->code_changes == changes)
		return;
	cache->code_changes = changes;
	lru_clear(&cache->settled);
	cache->tails_owner = ++symbolizer->last_owner;
}

static bool find_stack(struct stack_build *build, const struct wire_sample *sample,
		       uint32_t *ret_stack)
{
	struct process_cache *cache = symbolizer_get_cache(build->symbolizer, build->process);
	struct word_reader kernel, user;
	uint64_t hash, known;
	struct lru *place;

	build->cache = cache;
	build->time_ns = sample->time_ns;
	build->cacheable = true;
	process_files_open(build->symbolizer, cache, build->process);
	note_code_map(build);
	sample_words_read(sample, &kernel, &user);
	hash = sample_words_hash(sample, &kernel, &user);
	if (lru_get(&cache->stacks, hash, &known) ||
	    (build->settled && lru_get(&cache->settled, hash, &known))) {
		*ret_stack = (uint32_t)known;
		return true;
	}
	if (!build_stack(build, sample, &kernel, &user, ret_stack))
		return false;
	place = place_of(build);
	if (place)
		lru_put(place, hash, *ret_stack, 0);
	return true;
}

/* --- a sample --- */

/* Another text may stand in its place: of a class that the thread has loaded. */
static uint32_t virtual_name(struct profile *profile, const struct wire_sample *sample)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	size_t count;
	const void *chars = sample_words_text(sample, &count);

	if (sample->text == WIRE_TEXT_NAME)
		java_name_add_chars(&name, chars, sample->name_width, count);
	if (!name.len)
		strbuf_addstr(&name, PROFILE_VIRTUAL_THREAD);
	return profile_strn(profile, strbuf_str(&name), name.len);
}

static void name_thread(struct profile *profile, struct jvm *jvm, const struct wire_sample *sample,
			struct symbolized *ret)
{
	const char *name = NULL;
	uint64_t java_tid = sample->virtual_id;

	ret->is_virtual = java_tid;
	if (jvm && !java_tid)
		name = jvm_thread_name(jvm, sample->tid, sample->time_ns, &java_tid);
	ret->java_tid = (uint32_t)java_tid;
	if (ret->is_virtual)
		ret->thread_name = virtual_name(profile, sample);
	else if (name && *name)
		ret->thread_name = profile_string(profile, name);
	else
		ret->thread_name = profile_strn(profile, sample->comm,
						strnlen(sample->comm, sizeof(sample->comm)));
}

static bool symbolize(struct stack_build *build, const struct wire_sample *sample,
		      struct symbolized *ret)
{
	build->jvm = ret->jvm = jvm_table_get(build->symbolizer->jvms, build->process);
	if (!find_stack(build, sample, &ret->stack))
		return false;
	name_thread(build->profile, ret->jvm, sample, ret);
	return true;
}

bool symbolizer_try(struct symbolizer *symbolizer, struct profile *profile, struct process *process,
		    const struct wire_sample *sample, struct symbolized *ret)
{
	struct stack_build build = {
		.symbolizer = symbolizer, .profile = profile, .process = process, .may_wait = true
	};

	return symbolize(&build, sample, ret);
}

struct symbolized symbolizer_take(struct symbolizer *symbolizer, struct profile *profile,
				  struct process *process, const struct wire_sample *sample)
{
	struct stack_build build = { .symbolizer = symbolizer,
				     .profile = profile,
				     .process = process };
	struct symbolized symbolized = { 0 };

	symbolize(&build, sample, &symbolized);
	return symbolized;
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
	uint32_t stack = 0;

	sample_words_read(sample, &kernel, &user);
	build_stack(&build, sample, &kernel, &user, &stack);
	cache_empty(&cache);
	return stack;
}

struct symbolized symbolizer_take_now(struct symbolizer *symbolizer, struct profile *profile,
				      struct process *process, const struct wire_sample *sample)
{
	struct stack_build build = {
		.symbolizer = symbolizer, .profile = profile, .process = process, .is_early = true
	};
	struct symbolized symbolized = { 0 };

	if (process) {
		symbolize(&build, sample, &symbolized);
	} else {
		symbolized.stack = raw_stack(symbolizer, profile, sample);
		name_thread(profile, NULL, sample, &symbolized);
	}
	return symbolized;
}
