/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share/runtime/{threadSMR,javaThread,osThread}.hpp, share/oops/{oop,arrayOop,markWord,compressedOops}.hpp,
 * java/lang/{Thread,String}.java, JDK 8 to 28.
 */
#include "jvm/heap/java_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "jvm/heap/java_fields.h"
#include "jvm/heap/java_objects.h"
#include "jvm/java_name.h"
#include "jvm/layout/vm_flags.h"

#define MAX_THREADS 65536
/* Of a name; longer ones are cut. */
#define MAX_CHARS	 512
#define MAX_STRING_CHARS (1U << 20)

/* A collection of a large heap takes longer; then names are missing. */
#define PAUSE_US   2000
#define MAX_PAUSES 100

/* Objects and the way to them. */
struct heap {
	const struct vmstructs *vs;
	const struct vm_memory *memory;
	const struct jvm_layout *layout;
	struct java_objects objects;
	/* Offsets. */
	uint64_t thread_object, thread_os, os_tid;
	bool has_handles; /* thread_object is an OopHandle */
	uint32_t eetop, name, value, coder;
	bool has_coder;
	struct java_klass_word of_string;
	unsigned int patience; /* pauses that are left, of all threads */
};

/* --- layout ----------------------------------------------------------------------------------- */

static int read_objects(struct heap *h)
{
	struct vm_flags flags;
	int r = vm_flags_read(h->vs, &flags);

	if (r < 0)
		return r;
	if (flags.use_z == 1 || flags.use_shenandoah == 1)
		return -EOPNOTSUPP;
	return java_objects_read(h->vs, &flags, &h->objects);
}

static int read_thread_layout(struct heap *h)
{
	const struct vmstructs *vs = h->vs;
	const char *type = vmstructs_field_type(vs, "JavaThread", "_threadObj");

	if (vmstructs_field_offset(vs, "JavaThread", "_threadObj", &h->thread_object) < 0 ||
	    (vmstructs_field_offset(vs, "JavaThread", "_osthread", &h->thread_os) < 0 &&
	     vmstructs_field_offset(vs, "Thread", "_osthread", &h->thread_os) < 0) ||
	    vmstructs_field_offset(vs, "OSThread", "_thread_id", &h->os_tid) < 0)
		return -EOPNOTSUPP;
	h->has_handles = type && !strcmp(type, "OopHandle");
	return 0;
}

/* A class that the JVM knows by itself: FIELD of vmClasses from JDK 17 on. */
static int read_known_class(const struct vmstructs *vs, const char *field, const char *older_field,
			    uint64_t *ret_klass)
{
	if (vmstructs_static_u64(vs, "vmClasses", field, ret_klass) == 0 ||
	    vmstructs_static_u64(vs, "SystemDictionary", older_field, ret_klass) == 0)
		return 0;
	return -EOPNOTSUPP;
}

#define KNOWN_CLASS(name)                                             \
	"_klasses[static_cast<int>(vmClassID::" name "_klass_knum)]", \
		"_well_known_klasses[SystemDictionary::" name "_klass_knum]"

static int find_field(const struct heap *h, struct vm_pages *pages, uint64_t klass,
		      const char *name, const char *signature, uint32_t *ret_offset)
{
	return java_fields_find(h->vs, h->layout, pages, klass, name, signature, ret_offset);
}

/* Before JDK 9 a string has chars. */
static int read_string_layout(struct heap *h, struct vm_pages *pages, uint64_t klass)
{
	int r = java_objects_klass_word(&h->objects, klass, &h->of_string);

	if (r < 0 || find_field(h, pages, klass, "value", "[C", &h->value) == 0)
		return r;
	h->has_coder = true;
	r = find_field(h, pages, klass, "value", "[B", &h->value);
	return r < 0 ? r : find_field(h, pages, klass, "coder", "B", &h->coder);
}

static int read_class_layout(struct heap *h)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(h->memory);
	uint64_t thread, string;
	int r = read_known_class(h->vs, KNOWN_CLASS("Thread"), &thread);

	if (!r)
		r = read_known_class(h->vs, KNOWN_CLASS("String"), &string);
	if (!r)
		r = find_field(h, pages, thread, "eetop", "J", &h->eetop);
	if (!r)
		r = find_field(h, pages, thread, "name", "Ljava/lang/String;", &h->name);
	return r < 0 ? r : read_string_layout(h, pages, string);
}

/* --- objects ---------------------------------------------------------------------------------- */

static int read_reference(const struct heap *h, uint64_t at, uint64_t *ret_object)
{
	uint64_t value = 0;
	int r = vm_memory_read(h->memory, at, &value, h->objects.narrow_oops ? 4 : 8);

	if (r < 0)
		return r;
	if (!value)
		return -ENODATA;
	*ret_object = h->objects.narrow_oops ? h->objects.oop_base + (value << h->objects.oop_shift)
					     : value;
	return 0;
}

static int check_string(const struct heap *h, uint64_t object)
{
	uint64_t word;
	int r = vm_memory_read_u64(h->memory, object + h->of_string.at, &word);

	if (r < 0)
		return r;
	return (word & h->of_string.mask) == h->of_string.value ? 0 : -ESTALE;
}

/* The chars of the array at ARRAY, WIDTH bytes each, as text. */
static int read_chars(const struct heap *h, uint64_t array, size_t width, struct strbuf *out)
{
	const uint32_t length_at = h->objects.compact ? 8 : h->objects.narrow_klasses ? 12 : 16;
	/* JDK 23 moved the first element up to the length. */
	const uint32_t data_at =
		h->objects.narrow_klasses || h->layout->feature_release >= 23 ? length_at + 4 : 24;
	uint8_t bytes[2 * MAX_CHARS];
	uint32_t length;
	int r = vm_memory_read(h->memory, array + length_at, &length, sizeof(length));

	if (r < 0)
		return r;
	if (length > MAX_STRING_CHARS)
		return -ESTALE;
	/* The length is that of bytes where there is a coder. */
	if (h->has_coder)
		length /= (uint32_t)width;
	length = MIN(length, MAX_CHARS);
	r = length ? vm_memory_read(h->memory, array + data_at, bytes, length * width) : 0;
	if (!r)
		java_name_add_chars(out, bytes, width, length);
	return r;
}

/* What leads to a name: must be the same before and after. */
struct way {
	uint64_t object, string, value;
	uint8_t coder;
};

static int read_way(const struct heap *h, uint64_t thread, struct way *ret_way)
{
	struct way way = { 0 };
	uint64_t at = thread + h->thread_object, eetop;
	int r = 0;

	if (h->has_handles)
		r = vm_memory_read_u64(h->memory, at, &at);
	if (!r)
		r = at ? vm_memory_read_u64(h->memory, at, &way.object) : -ENODATA;
	if (!r)
		r = way.object ? vm_memory_read_u64(h->memory, way.object + h->eetop, &eetop)
			       : -ENODATA;
	/* Its own object says which thread it is. */
	if (!r && eetop != thread)
		r = -ESTALE;
	if (!r)
		r = read_reference(h, way.object + h->name, &way.string);
	if (!r)
		r = check_string(h, way.string);
	if (!r)
		r = read_reference(h, way.string + h->value, &way.value);
	if (!r && h->has_coder)
		r = vm_memory_read(h->memory, way.string + h->coder, &way.coder, 1);
	if (!r)
		*ret_way = way;
	return r;
}

static bool is_same(const struct way *a, const struct way *b)
{
	return a->object == b->object && a->string == b->string && a->value == b->value &&
	       a->coder == b->coder;
}

static int read_name(const struct heap *h, uint64_t thread, char **ret_name)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct way way, after;
	int r = read_way(h, thread, &way);

	if (!r)
		r = read_chars(h, way.value, h->has_coder && !way.coder ? 1 : 2, &name);
	if (!r)
		r = read_way(h, thread, &after);
	if (r < 0)
		return r;
	if (!is_same(&way, &after))
		return -ESTALE;
	*ret_name = strbuf_take(&name);
	return 0;
}

/* --- threads ---------------------------------------------------------------------------------- */

static uint32_t read_tid(const struct heap *h, uint64_t thread)
{
	uint64_t os;
	int32_t tid;

	if (vm_memory_read_u64(h->memory, thread + h->thread_os, &os) < 0 ||
	    vm_memory_read(h->memory, os + h->os_tid, &tid, sizeof(tid)) < 0)
		return 0;
	return tid > 0 ? (uint32_t)tid : 0;
}

/* A collection is under way: what leads to an object may lead nowhere for a while. */
static bool may_come(struct heap *h, int r)
{
	if ((r != -ESTALE && r != -EFAULT) || !h->patience)
		return false;
	h->patience--;
	usleep(PAUSE_US);
	return true;
}

static void add_thread(struct heap *h, uint64_t address, struct java_threads *threads)
{
	struct java_thread thread = { .tid = read_tid(h, address) };

	if (!thread.tid)
		return;
	while (may_come(h, read_name(h, address, &thread.name)))
		;
	/* It ended meanwhile, and its memory is another's. */
	if (read_tid(h, address) == thread.tid)
		vec_push(&threads->items, thread);
	else
		free(thread.name);
}

/* JDK 8 to 10: each thread leads to the next. */
static int walk_threads(struct heap *h, uint64_t first, struct java_threads *threads)
{
	uint64_t next_at, thread = first;
	int r = vmstructs_field_offset(h->vs, "JavaThread", "_next", &next_at);

	for (unsigned int i = 0; !r && thread && i < MAX_THREADS; i++) {
		add_thread(h, thread, threads);
		r = vm_memory_read_u64(h->memory, thread + next_at, &thread);
	}
	return r;
}

static int list_threads(struct heap *h, uint64_t list, struct java_threads *threads)
{
	_cleanup_free_ uint64_t *addresses = NULL;
	uint64_t length_at, threads_at, array = 0;
	uint32_t count = 0;
	int r = vmstructs_field_offset(h->vs, "ThreadsList", "_length", &length_at);

	if (!r)
		r = vmstructs_field_offset(h->vs, "ThreadsList", "_threads", &threads_at);
	if (!r)
		r = vm_memory_read(h->memory, list + length_at, &count, sizeof(count));
	if (!r)
		r = vm_memory_read_u64(h->memory, list + threads_at, &array);
	if (r < 0)
		return r;
	if (count > MAX_THREADS)
		return -EBADMSG;
	addresses = xcalloc(count + 1, sizeof(*addresses));
	r = count ? vm_memory_read(h->memory, array, addresses, count * sizeof(*addresses)) : 0;
	for (uint32_t i = 0; !r && i < count; i++)
		add_thread(h, addresses[i], threads);
	return r;
}

void java_threads_release(struct java_threads *threads)
{
	for (size_t i = 0; i < threads->items.len; i++)
		free(threads->items.items[i].name);
	vec_release(&threads->items);
}

int java_threads_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		      struct java_threads *ret_threads)
{
	struct heap h = {
		.vs = vs, .memory = vmstructs_memory(vs), .layout = layout, .patience = MAX_PAUSES
	};
	struct java_threads threads = { 0 };
	uint64_t list;
	int r = read_objects(&h);

	if (!r)
		r = read_thread_layout(&h);
	if (!r)
		r = read_class_layout(&h);
	if (r < 0)
		return r;
	if (vmstructs_static_u64(vs, "ThreadsSMRSupport", "_java_thread_list", &list) == 0)
		r = list_threads(&h, list, &threads);
	else if (vmstructs_static_u64(vs, "Threads", "_thread_list", &list) == 0)
		r = walk_threads(&h, list, &threads);
	else
		r = -EOPNOTSUPP;
	if (r < 0) {
		java_threads_release(&threads);
		return r;
	}
	*ret_threads = threads;
	return 0;
}
