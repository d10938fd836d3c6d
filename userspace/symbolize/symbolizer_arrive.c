// SPDX-License-Identifier: Apache-2.0
/* What a sample needs that has just arrived: files are opened, and names are read while they are there. */
#include "base/hmap.h"
#include "symbolize/symbolizer_private.h"

static uint64_t words_key(const uint64_t *words, size_t count)
{
	return hash_bytes(words, count * sizeof(words[0]));
}

struct symbol_query user_word_query(const struct user_word *word)
{
	struct symbol_query query = { .kind = ASK_CODE,
				      .address = word->address,
				      .key = word->cache_key,
				      .words = word->words };

	if (word->kind == WIRE_FRAME_INTERPRETED || word->kind == WIRE_FRAME_COMPILING) {
		query.kind = ASK_INTERPRETED;
		query.key = words_key(word->words, WIRE_INTERPRETED_WORDS);
	} else if (word->kind == WIRE_FRAME_COMPILED) {
		query.kind = ASK_COMPILED;
		query.key = words_key(word->words, WIRE_COMPILED_WORDS);
	}
	return query;
}

/* What the JVM reads it remembers. KNOWN: frames that need not be asked for; may be NULL. */
static void read_names(struct jvm *jvm, struct word_reader user, struct lru *known)
{
	const uint64_t *compiled[JVM_MEET_FRAMES];
	struct java_answer answer;
	struct user_word word;
	unsigned int count = 0;
	uint64_t value;

	while (user_word_next(&user, &word)) {
		struct symbol_query query = user_word_query(&word);

		if (word.kind == WIRE_FRAME_RECEIVER) {
			jvm_receiver_class(jvm, word.words);
			continue;
		}
		if (query.kind == ASK_CODE || (known && lru_get(known, query.key, &value)))
			continue;
		if (query.kind == ASK_INTERPRETED) {
			jvm_find_interpreted(jvm, word.words, &answer);
			continue;
		}
		compiled[count++] = word.words;
		if (count == JVM_MEET_FRAMES) {
			jvm_meet_compiled(jvm, compiled, count);
			count = 0;
		}
	}
	if (count)
		jvm_meet_compiled(jvm, compiled, count);
}

void symbolizer_read_names(struct jvm *jvm, const struct wire_sample *sample)
{
	struct word_reader kernel, user;

	sample_words_read(sample, &kernel, &user);
	read_names(jvm, user, NULL);
}

/* FRESH: what of USER is no frame of the last stack. */
static void read_new_names(struct process_cache *cache, struct jvm *jvm,
			   const struct wire_sample *sample, const struct word_reader *kernel,
			   const struct word_reader *user, const struct word_reader *fresh)
{
	uint64_t known;

	if (fresh->at < fresh->end &&
	    !lru_get(&cache->stacks, sample_words_hash(sample, kernel, user), &known))
		read_names(jvm, *fresh, &cache->frames);
}

bool symbolizer_arrive(struct symbolizer *symbolizer, struct process *process,
		       const struct wire_sample *sample)
{
	struct word_reader kernel, user, fresh;
	struct process_cache *cache;
	struct stack_tail_key key;
	struct jvm *jvm;

	if (!process)
		return !sample_words_need_names(sample);
	cache = symbolizer_get_cache(symbolizer, process);
	process_files_open(symbolizer, cache, process);
	if (sample->kernel_frames)
		kernel_ask(symbolizer);
	sample_words_read(sample, &kernel, &user);
	key = (struct stack_tail_key){ cache->tails_owner, sample->tid };
	fresh = user;
	fresh.end -= stack_tails_common(&symbolizer->tails, &key, &user);
	process_files_read(symbolizer, cache, process, fresh);
	if (!sample_words_need_names(sample))
		return true;
	jvm = jvm_table_get(symbolizer->jvms, process);
	if (jvm)
		read_new_names(cache, jvm, sample, &kernel, &user, &fresh);
	return jvm != NULL;
}
