/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/klass_names.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cache/lru.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "jvm/java_name.h"

/* The JVM allows 65,535 bytes; longer names are cut. */
#define MAX_NAME 1024
/* Of one JVM: some thousand classes are sampled. */
#define MAX_CACHE_BYTES (512U << 10)
#define WORD_BYTES	8

/* For that time the class is believed to be what was read: a JVM may have thousands of samples of one in a second. */
#define CONFIRM_NS (50 * NSEC_PER_MSEC)

struct klass_symbol {
	uint64_t address, identity;
	uint16_t len;
};

struct klass_entry {
	struct klass_symbol symbol;
	uint64_t read_ns; /* when it was found to be there */
	char name[];
};

struct klass_names {
	struct vm_memory memory;
	struct jvm_layout layout;
	struct lru entries; /* Klass* → struct klass_entry, owned */
	char raw[MAX_NAME + 1];
	struct strbuf text;
};

static void drop_entry(uint64_t value, void *data)
{
	(void)data;
	free((void *)(uintptr_t)value);
}

struct klass_names *klass_names_new(const struct vm_memory *memory, const struct jvm_layout *layout)
{
	struct klass_names *names = xcalloc(1, sizeof(*names));

	names->memory = *memory;
	names->layout = *layout;
	lru_init(&names->entries, MAX_CACHE_BYTES, drop_entry, names);
	return names;
}

void klass_names_free(struct klass_names *names)
{
	if (!names)
		return;
	lru_clear(&names->entries);
	strbuf_release(&names->text);
	free(names);
}

static int read_symbol(const struct klass_names *names, uint64_t klass, struct klass_symbol *symbol)
{
	const struct vm_memory *memory = &names->memory;
	const struct jvm_layout *l = &names->layout;
	uint64_t word;
	int r;

	if (!klass || klass % WORD_BYTES)
		return -EBADMSG;
	r = vm_memory_read_u64(memory, klass + l->klass_name, &symbol->address);
	if (!r && (!symbol->address || symbol->address % WORD_BYTES))
		return -EBADMSG;
	if (!r) {
		const struct vm_span spans[] = {
			{ symbol->address, &word, sizeof(word) },
			{ symbol->address + l->symbol_length, &symbol->len, sizeof(symbol->len) },
		};

		r = memory->read(memory, spans, ARRAY_SIZE(spans));
	}
	if (r < 0)
		return r == -EFAULT ? -EBADMSG : r;
	symbol->identity = WIRE_CLASS_IDENTITY(symbol->address, word, l->symbol_mask);
	return symbol->len ? 0 : -EBADMSG;
}

static struct klass_entry *find_entry(struct klass_names *names, uint64_t klass)
{
	uint64_t value;

	return lru_get(&names->entries, klass, &value) ? (void *)(uintptr_t)value : NULL;
}

/* READ_NS: before it was read. */
static int add_entry(struct klass_names *names, uint64_t klass, const struct klass_symbol *symbol,
		     uint64_t read_ns, const char **ret_name)
{
	size_t len = MIN(symbol->len, MAX_NAME), size;
	struct klass_entry *entry;
	struct klass_symbol again;
	int r = vm_memory_read(&names->memory, symbol->address + names->layout.symbol_body,
			       names->raw, len);

	/* What was unloaded meanwhile is not named. */
	if (!r)
		r = read_symbol(names, klass, &again);
	if (r < 0)
		return r == -EFAULT ? -EBADMSG : r;
	if (again.identity != symbol->identity)
		return -ESTALE;
	strbuf_reset(&names->text);
	java_name_add_symbol(&names->text, names->raw, len);
	size = sizeof(*entry) + names->text.len + 1;
	entry = xmalloc(size);
	entry->symbol = *symbol;
	entry->read_ns = read_ns;
	memcpy(entry->name, strbuf_str(&names->text), names->text.len + 1);
	lru_put(&names->entries, klass, (uintptr_t)entry, size);
	*ret_name = entry->name;
	return 0;
}

/* Is KLASS what it was, by one read? */
static bool is_yet(const struct klass_names *names, uint64_t klass, const struct klass_entry *entry)
{
	const struct jvm_layout *l = &names->layout;
	uint64_t address, word;
	const struct vm_span spans[] = {
		{ klass + l->klass_name, &address, sizeof(address) },
		{ entry->symbol.address, &word, sizeof(word) },
	};

	return names->memory.read(&names->memory, spans, ARRAY_SIZE(spans)) == 0 &&
	       address == entry->symbol.address &&
	       WIRE_CLASS_IDENTITY(address, word, l->symbol_mask) == entry->symbol.identity;
}

int klass_names_read(struct klass_names *names, uint64_t klass, const char **ret_name)
{
	uint64_t now_ns = clock_now_ns();
	struct klass_entry *entry = find_entry(names, klass);
	struct klass_symbol symbol;
	int r;

	if (entry && is_yet(names, klass, entry)) {
		entry->read_ns = now_ns;
		*ret_name = entry->name;
		return 0;
	}
	r = read_symbol(names, klass, &symbol);
	return r < 0 ? r : add_entry(names, klass, &symbol, now_ns, ret_name);
}

int klass_names_read_as_of(struct klass_names *names, uint64_t klass, uint64_t time_ns,
			   const char **ret_name)
{
	const struct klass_entry *entry = find_entry(names, klass);

	if (!entry || time_ns >= entry->read_ns + CONFIRM_NS)
		return klass_names_read(names, klass, ret_name);
	*ret_name = entry->name;
	return 0;
}

int klass_names_find(struct klass_names *names, uint64_t klass, const char **ret_name)
{
	const struct klass_entry *entry = find_entry(names, klass);

	if (!entry)
		return klass_names_read(names, klass, ret_name);
	*ret_name = entry->name;
	return 0;
}

int klass_names_find_proven(struct klass_names *names, uint64_t klass, uint64_t identity,
			    const char **ret_name)
{
	const struct klass_entry *entry = find_entry(names, klass);
	int r = 0;

	if (!entry || entry->symbol.identity != identity) {
		r = klass_names_read(names, klass, ret_name);
		entry = find_entry(names, klass);
	}
	if (r < 0)
		return r;
	if (!entry || entry->symbol.identity != identity)
		return -ESTALE;
	*ret_name = entry->name;
	return 0;
}
