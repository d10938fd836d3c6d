/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/mman.h>

#include "agent.h"

/* 2 MB: with the ring, some 6 of the 8 MB that the agent may take. */
#define METHOD_SLOTS (1U << 17)
#define METHOD_MAX   (METHOD_SLOTS / 4 * 3)
/* Nobody reads a method of more lines; it keeps a METHOD record far below the record limit. */
#define METHOD_MAX_LINES 8192

struct method_slot {
	jmethodID method;
	uint64_t number; /* 0: free */
};

int method_table_open(struct method_table *table)
{
	void *map = mmap(NULL, method_table_bytes(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(table, 0, sizeof(*table));
	if (map == MAP_FAILED)
		return -1;
	table->slots = map;
	table->next_number = 1;
	return 0;
}

void method_table_close(struct method_table *table)
{
	if (table->slots)
		munmap(table->slots, method_table_bytes());
	table->slots = NULL;
}

uint32_t method_table_bytes(void)
{
	return METHOD_SLOTS * (uint32_t)sizeof(struct method_slot);
}

/* Gives the pages back, too: an idle agent holds none. */
void method_table_clear(struct method_table *table)
{
	if (madvise(table->slots, method_table_bytes(), MADV_DONTNEED))
		memset(table->slots, 0, method_table_bytes());
	table->count = 0;
	table->epoch++;
}

static struct method_slot *find_slot(const struct method_table *table, jmethodID method)
{
	uint64_t hash = (uint64_t)(uintptr_t)method * 0x9e3779b97f4a7c15ULL;
	uint32_t at = (uint32_t)(hash >> 40) % METHOD_SLOTS;

	while (table->slots[at].number && table->slots[at].method != method)
		at = (at + 1) % METHOD_SLOTS;
	return &table->slots[at];
}

uint64_t method_table_find(const struct method_table *table, jmethodID method)
{
	return find_slot(table, method)->number;
}

static uint64_t insert(struct method_table *table, jmethodID method)
{
	struct method_slot *slot;

	if (table->count >= METHOD_MAX)
		method_table_clear(table);
	slot = find_slot(table, method);
	slot->method = method;
	slot->number = table->next_number++;
	table->count++;
	return slot->number;
}

/* What JVMTI says of one method; strings and lines are JVMTI's, given back by text_release(). */
struct method_text {
	char *class_signature;
	char *name;
	char *descriptor;
	char *source;
	jvmtiLineNumberEntry *lines;
	jint line_count;
	const char *class_name; /* within class_signature */
	uint16_t class_len;
	uint16_t name_len;
	uint16_t source_len;
	uint16_t descriptor_len; /* 0: without it */
	bool cut;
};

static void text_release(struct agent *a, struct method_text *text)
{
	jvmtiEnv *jvmti = a->jvmti;

	(*jvmti)->Deallocate(jvmti, (unsigned char *)text->class_signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)text->name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)text->descriptor);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)text->source);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)text->lines);
}

static uint16_t text_len(const char *s, bool *cut)
{
	size_t len = s ? strlen(s) : 0;

	if (len > UINT16_MAX) {
		len = UINT16_MAX;
		*cut = true;
	}
	return (uint16_t)len;
}

/* "Lpkg/A;" to "pkg/A"; anything else stays. */
static void set_class_name(struct method_text *text)
{
	text->class_name = text->class_signature;
	text->class_len = text_len(text->class_signature, &text->cut);
	if (text->class_len < 3 || text->class_name[0] != 'L')
		return;
	text->class_name++;
	text->class_len = (uint16_t)(text->class_len - 2);
}

/* A part of one would be another method's. */
static void set_descriptor(struct method_text *text)
{
	size_t len = text->descriptor ? strlen(text->descriptor) : 0;

	if (len > CODEMAP_MAX_DESCRIPTOR)
		text->cut = true;
	else
		text->descriptor_len = (uint16_t)len;
}

static void read_class(struct agent *a, JNIEnv *jni, jmethodID method, struct method_text *text)
{
	jvmtiEnv *jvmti = a->jvmti;
	jclass class = NULL;

	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) || !class)
		return;
	if ((*jvmti)->GetClassSignature(jvmti, class, &text->class_signature, NULL))
		text->class_signature = NULL;
	if (a->can_source && (*jvmti)->GetSourceFileName(jvmti, class, &text->source))
		text->source = NULL;
	(*jni)->DeleteLocalRef(jni, class);
}

static bool read_text(struct agent *a, JNIEnv *jni, jmethodID method, struct method_text *text)
{
	jvmtiEnv *jvmti = a->jvmti;

	memset(text, 0, sizeof(*text));
	if ((*jvmti)->GetMethodName(jvmti, method, &text->name, &text->descriptor, NULL)) {
		text->name = text->descriptor = NULL;
		return false;
	}
	read_class(a, jni, method, text);
	if (!text->class_signature)
		return false;
	if (a->can_lines &&
	    (*jvmti)->GetLineNumberTable(jvmti, method, &text->line_count, &text->lines)) {
		text->lines = NULL;
		text->line_count = 0;
	}
	if (text->line_count > METHOD_MAX_LINES) {
		text->line_count = METHOD_MAX_LINES;
		text->cut = true;
	}
	set_class_name(text);
	set_descriptor(text);
	text->name_len = text_len(text->name, &text->cut);
	text->source_len = text_len(text->source, &text->cut);
	return true;
}

static void add_descriptor(struct codemap_method *m, char *at, const struct method_text *text)
{
	m->record.flags |= CODEMAP_FLAG_DESCRIPTOR;
	memcpy(at, &text->descriptor_len, sizeof(text->descriptor_len));
	memcpy(at + sizeof(text->descriptor_len), text->descriptor, text->descriptor_len);
}

static void fill_record(struct codemap_method *m, const struct method_text *text)
{
	struct codemap_line *lines = (void *)(m + 1);
	char *at = (char *)(lines + text->line_count);

	if (text->cut)
		m->record.flags |= CODEMAP_FLAG_CUT;
	m->class_len = text->class_len;
	m->name_len = text->name_len;
	m->source_len = text->source_len;
	m->line_count = (uint16_t)text->line_count;
	for (jint i = 0; i < text->line_count; i++) {
		lines[i].bci = (uint16_t)text->lines[i].start_location;
		lines[i].line = (uint16_t)text->lines[i].line_number;
	}
	memcpy(at, text->class_name, text->class_len);
	memcpy(at + text->class_len, text->name, text->name_len);
	at += text->class_len + text->name_len;
	if (text->source_len)
		memcpy(at, text->source, text->source_len);
	if (text->descriptor_len)
		add_descriptor(m, at + text->source_len, text);
}

/* The number is entered together with the record, so that it never names what was not published. */
static bool publish_text(struct agent *a, jmethodID method, const struct method_text *text)
{
	struct codemap_method *m;
	size_t size = sizeof(*m) + (size_t)text->line_count * sizeof(struct codemap_line) +
		      text->class_len + text->name_len + text->source_len;
	uint64_t now = agent_now_ns();

	if (text->descriptor_len)
		size += sizeof(text->descriptor_len) + text->descriptor_len;
	m = (void *)agent_reserve(a, CODEMAP_METHOD, (uint32_t)size, now);
	if (!m)
		return false;
	fill_record(m, text);
	if (agent_is_replaying(a))
		m->record.flags |= CODEMAP_FLAG_REPLAYED;
	m->number = insert(&a->methods, method);
	ring_commit(&a->ring, &m->record);
	return true;
}

bool method_publish(struct agent *a, JNIEnv *jni, jmethodID method)
{
	struct method_text text;
	bool fits = true;

	if (read_text(a, jni, method, &text))
		fits = publish_text(a, method, &text);
	text_release(a, &text);
	return fits;
}
