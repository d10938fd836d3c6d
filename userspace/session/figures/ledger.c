/* SPDX-License-Identifier: Apache-2.0 */
#include "session/figures/ledger.h"

#include "symbolize/words/sample_words.h"

struct ledger_key {
	uint32_t pid;
	uint32_t exec_id;
	uint64_t start_ns;
};

static const struct {
	const char *counter;
	bool whole;
} reason_info[UNWIND_REASON_COUNT] = {

#define UNWIND_REASON(name, id, whole, text) [UNWIND_##name] = { "unwind." id, whole },
#include "unwind_reasons.def"
#undef UNWIND_REASON
};

static const char *const loss_ids[WIRE_LOSS_COUNT] = {

#define WIRE_LOSS(name, id, text) [WIRE_LOSS_##name] = (id),
#include "wire_losses.def"
#undef WIRE_LOSS
};

void ledger_init(struct ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
	intern_init(&ledger->keys);
}

static struct ledger_key key_of(const struct ledger_entry *entry)
{
	return (struct ledger_key){ entry->pid, entry->exec_id, entry->start_ns };
}

static void entry_free(struct ledger_entry *entry)
{
	free(entry->exe);
	free(entry->container_id);
	free(entry->cgroup);
	free(entry->jvm_version);
	free(entry->main_class);
	free(entry->container_name);
	free(entry->container_image);
	hmap_release(&entry->threads);
	free(entry);
}

void ledger_release(struct ledger *ledger)
{
	struct ledger_entry **entry;

	vec_for_each (entry, &ledger->entries)
		entry_free(*entry);
	vec_release(&ledger->entries);
	book_release(&ledger->book);
	intern_release(&ledger->keys);
	container_names_release(&ledger->containers);
}

static void name_container(struct ledger *ledger, struct ledger_entry *entry)
{
	static const struct container_about none;
	const struct container_about *about = &none;

	if (entry->container_id[0])
		about = container_names_find(&ledger->containers, entry->container_id);
	entry->container_name = xstrdup(about->name);
	entry->container_image = xstrdup(about->image);
}

static struct ledger_entry *entry_new(struct ledger *ledger, const struct ledger_key *key,
				      const struct process *process, const char *comm)
{
	struct ledger_entry *entry = xcalloc(1, sizeof(*entry));

	entry->pid = key->pid;
	entry->exec_id = key->exec_id;
	entry->start_ns = key->start_ns;
	entry->is_new = true;
	entry->profile_id = PROFILE_NONE;
	snprintf(entry->name, sizeof(entry->name), "%s",
		 process && process->comm[0] ? process->comm : comm);
	entry->exec_count = process ? process->exec_count : 0;
	entry->exe = xstrdup(process && process->exe ? process->exe : "");
	entry->cgroup = xstrdup(process && process->cgroup ? process->cgroup : "");
	entry->container_id = xstrdup(process ? process->container_id : "");
	entry->jvm_version = xstrdup("");
	entry->main_class = xstrdup("");
	name_container(ledger, entry);
	return entry;
}

struct ledger_entry *ledger_get(struct ledger *ledger, uint32_t pid, uint32_t exec_id,
				uint64_t start_ns, const struct process *process, const char *comm)
{
	struct ledger_key key = { pid, exec_id, start_ns };
	bool is_new;
	uint32_t index = intern_put(&ledger->keys, &key, sizeof(key), &is_new);

	if (is_new)
		vec_push(&ledger->entries, entry_new(ledger, &key, process, comm));
	return ledger->entries.items[index];
}

static void detach(struct ledger *ledger, struct ledger_entry *entry)
{
	book_detach(&ledger->book, &entry->process->attached, &entry->attachment);
	entry->process = NULL;
}

static void attach(struct ledger *ledger, struct ledger_entry *entry, struct process *process)
{
	if (entry->process == process)
		return;
	if (entry->process)
		detach(ledger, entry);
	ledger_forget(ledger, process);
	book_attach(&ledger->book, &process->attached, &entry->attachment);
	entry->process = process;
	entry->is_new = false;
}

static struct ledger_entry *find(const struct ledger *ledger, const struct process *process)
{
	return book_entry(&ledger->book, &process->attached, struct ledger_entry, attachment);
}

const struct ledger_entry *ledger_find(const struct ledger *ledger, const struct process *process)
{
	return find(ledger, process);
}

void ledger_forget(struct ledger *ledger, struct process *process)
{
	struct ledger_entry *entry = find(ledger, process);

	if (entry)
		detach(ledger, entry);
}

static void replace_string(char **to, const char *from)
{
	if (!from || !*from || !strcmp(*to, from))
		return;
	free(*to);
	*to = xstrdup(from);
}

/* Tables hold the labels of the first sample: a process must not become two by a late label. */
void ledger_entry_set_jvm(struct ledger_entry *entry, const char *version, const char *main_class)
{
	replace_string(&entry->jvm_version, version);
	replace_string(&entry->main_class, main_class);
}

/* What reached the thread's first frame past frames that are missing is not whole. */
static enum unwind_reason reason_of(const struct wire_sample *sample)
{
	struct word_reader kernel, user;
	struct user_word word;

	if (!reason_info[sample->reason].whole)
		return sample->reason;
	sample_words_read(sample, &kernel, &user);
	while (user_word_next(&user, &word))
		if (word.kind == WIRE_FRAME_MARK &&
		    (word.words[0] & WIRE_FRAME_ADDRESS_MASK) == WIRE_MARK_ANCHOR)
			return UNWIND_SKIPPED;
	return sample->reason;
}

/* Once it has something in its books: who only wakes others' threads has not. */
static void count_process(struct ledger *ledger, struct ledger_entry *entry)
{
	ledger->processes += !entry->is_counted;
	entry->is_counted = true;
}

static void count_sample(struct ledger *ledger, struct ledger_entry *entry,
			 const struct wire_sample *sample)
{
	struct ledger_count *count = &entry->counts[sample->event];
	enum unwind_reason reason = reason_of(sample);

	count_process(ledger, entry);
	count->samples++;
	count->weight += sample->weight;
	count->complete += reason_info[reason].whole;
	ledger->samples++;
	ledger->complete += reason_info[reason].whole;
	ledger->reasons[reason]++;
}

void ledger_count_lost(struct ledger *ledger, struct ledger_entry *entry, unsigned int event,
		       enum wire_loss why, const struct ledger_loss *loss)
{
	if (entry) {
		count_process(ledger, entry);
		entry->counts[event].lost += loss->count;
		entry->counts[event].lost_weight += loss->weight;
	}
	ledger->losses[why].count += loss->count;
	ledger->losses[why].weight += loss->weight;
}

const char *ledger_loss_id(enum wire_loss why)
{
	return loss_ids[why];
}

uint64_t ledger_lost(const struct ledger *ledger)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < WIRE_LOSS_COUNT; i++)
		count += ledger->losses[i].count;
	return count;
}

uint32_t ledger_profile_process(struct ledger_entry *entry, struct profile *profile)
{
	struct profile_process process = { .pid = entry->pid, .exec_count = entry->exec_count };

	if (entry->profile_id != PROFILE_NONE)
		return entry->profile_id;
	process.start_ns = entry->start_ns;
	process.name = profile_string(profile, entry->name);
	process.exe = profile_string(profile, entry->exe);
	process.container_id = profile_string(profile, entry->container_id);
	process.cgroup = profile_string(profile, entry->cgroup);
	process.jvm_version = profile_string(profile, entry->jvm_version);
	process.main_class = profile_string(profile, entry->main_class);
	process.container_name = profile_string(profile, entry->container_name);
	process.container_image = profile_string(profile, entry->container_image);
	entry->profile_id = profile_process(profile, &process);
	return entry->profile_id;
}

uint32_t ledger_profile_thread(struct ledger_entry *entry, struct profile *profile, uint32_t tid,
			       const struct symbolized *symbolized)
{
	struct profile_thread thread = {
		.process = ledger_profile_process(entry, profile),
		.tid = tid,
		.name = symbolized->thread_name,
		.java_tid = symbolized->java_tid,
		.is_virtual = symbolized->is_virtual,
	};
	uint64_t key = (uint64_t)tid << 32 | thread.name;
	uint64_t id;

	/* There are many, and their numbers tell them apart. */
	if (thread.is_virtual)
		return profile_thread(profile, &thread);
	if (hmap_get(&entry->threads, key, &id))
		return (uint32_t)id;
	id = profile_thread(profile, &thread);
	hmap_put(&entry->threads, key, id);
	return (uint32_t)id;
}

/* The entry of SAMPLE's process, with its labels, and its thread. */
static struct ledger_entry *enter(struct ledger *ledger, struct profile *profile,
				  struct process *process, const struct wire_sample *sample,
				  const struct symbolized *symbolized, uint32_t *ret_thread)
{
	struct jvm *jvm = symbolized->jvm;
	char comm[WIRE_COMM_LEN + 1] = { 0 };
	struct ledger_entry *entry;

	memcpy(comm, sample->comm, WIRE_COMM_LEN);
	entry = ledger_get(ledger, sample->tgid, sample->exec_id, sample->start_ns, process, comm);
	attach(ledger, entry, process);
	if (ledger->greet && (entry->profile_id == PROFILE_NONE || (jvm && !entry->is_jvm)))
		ledger->greet(entry, process, jvm, sample, ledger->greet_data);
	/* Who only wakes others' threads is not asked for more. */
	entry->is_jvm |= jvm && !sample->waker;
	*ret_thread = ledger_profile_thread(entry, profile, sample->tid, symbolized);
	return entry;
}

struct ledger_entry *ledger_take(struct ledger *ledger, struct profile *profile,
				 struct process *process, const struct wire_sample *sample,
				 const struct symbolized *symbolized, uint32_t *ret_thread)
{
	struct ledger_entry *entry =
		enter(ledger, profile, process, sample, symbolized, ret_thread);

	count_sample(ledger, entry, sample);
	return entry;
}

uint32_t ledger_name_thread(struct ledger *ledger, struct profile *profile, struct process *process,
			    const struct wire_sample *sample, const struct symbolized *symbolized)
{
	uint32_t thread;

	enter(ledger, profile, process, sample, symbolized, &thread);
	return thread;
}

/* The index of an entry is its place in `keys`: those that stay are counted anew. */
void ledger_reset_ids(struct ledger *ledger)
{
	size_t kept = 0;

	intern_release(&ledger->keys);
	intern_init(&ledger->keys);
	for (size_t i = 0; i < ledger->entries.len; i++) {
		struct ledger_entry *entry = ledger->entries.items[i];
		struct ledger_key key = key_of(entry);

		if (!entry->process && !entry->is_new) {
			entry_free(entry);
			continue;
		}
		entry->is_new = false;
		entry->profile_id = PROFILE_NONE;
		hmap_clear(&entry->threads);
		intern_put(&ledger->keys, &key, sizeof(key), NULL);
		ledger->entries.items[kept++] = entry;
	}
	ledger->entries.len = kept;
}

static void write_entry(struct ledger_entry *entry, struct profile *profile,
			const uint32_t *event_ids, unsigned int event_count)
{
	for (unsigned int i = 0; i < event_count; i++) {
		const struct ledger_count *count = &entry->counts[i];
		struct profile_quality quality = {
			.event = event_ids[i],
			.samples = count->samples,
			.complete = count->complete,
			.weight = count->weight,
			.lost = count->lost,
			.lost_weight = count->lost_weight,
		};

		if (!count->samples && !count->lost)
			continue;
		quality.process = ledger_profile_process(entry, profile);
		profile_add_quality(profile, &quality);
	}
	memset(entry->counts, 0, sizeof(entry->counts));
}

void ledger_write(struct ledger *ledger, struct profile *profile, const uint32_t *event_ids,
		  unsigned int event_count)
{
	struct ledger_entry **entry;

	vec_for_each (entry, &ledger->entries)
		write_entry(*entry, profile, event_ids, event_count);
}

void ledger_write_reasons(const struct ledger *ledger, struct profile *profile)
{
	for (unsigned int i = 0; i < UNWIND_REASON_COUNT; i++)
		if (ledger->reasons[i] && !reason_info[i].whole)
			profile_add_counter(profile, reason_info[i].counter, "",
					    ledger->reasons[i]);
	for (unsigned int i = 0; i < WIRE_LOSS_COUNT; i++)
		if (ledger->losses[i].count)
			profile_add_counter(profile, "samples.lost", loss_ids[i],
					    ledger->losses[i].count);
}
