/* SPDX-License-Identifier: Apache-2.0 */
/* Source: share/oops/klass.hpp (_layout_helper), JDK 21 to 28. */
#include "jvm/continuation/jvm_chunks.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "jvm/continuation/jvm_classes.h"
#include "jvm/heap/java_fields.h"
#include "jvm/heap/java_objects.h"
#include "jvm/layout/vm_flags.h"

#define WORD_BYTES 8
/* Of the fields that the JVM adds to chunks: cont, flags, pc, maxThawingSize (STACKCHUNK_INJECTED_FIELDS in share/classfile/javaClasses.hpp). */
#define ADDED_MAX_THAWING 3

struct reader {
	const struct vmstructs *vs;
	const struct jvm_layout *layout;
	struct vm_pages *pages;
	uint64_t chunk, continuation; /* Klass* */
};

static int find_classes(struct reader *r)
{
	int ret = jvm_classes_find(r->vs, r->layout, r->pages, "jdk/internal/vm/StackChunk",
				   &r->chunk);

	return ret < 0 ? ret
		       : jvm_classes_find(r->vs, r->layout, r->pages,
					  "jdk/internal/vm/Continuation", &r->continuation);
}

/* --- their fields ----------------------------------------------------------------------------- */

static int find_field(const struct reader *r, uint64_t klass, const char *name,
		      const char *signature, uint16_t *ret_offset)
{
	uint32_t offset;
	int ret = java_fields_find(r->vs, r->layout, r->pages, klass, name, signature, &offset);

	if (ret < 0)
		return ret;
	*ret_offset = (uint16_t)offset;
	return 0;
}

/* InstanceStackChunkKlass::_offset_of_stack is the size of an instance without a stack. */
static int read_stack_offset(const struct reader *r, struct wire_chunks *chunks)
{
	uint64_t offset;
	int32_t helper;
	int ret = vmstructs_field_offset(r->vs, "Klass", "_layout_helper", &offset);

	if (!ret && offset > JVM_LAYOUT_MAX_STRUCT)
		return -EBADMSG;
	if (!ret)
		ret = vm_pages_read(r->pages, r->chunk + offset, &helper, sizeof(helper));
	if (ret < 0)
		return ret;
	helper &= ~(int32_t)(WORD_BYTES - 1);
	if (helper <= 0 || helper > WIRE_CHUNK_BYTES)
		return -EBADMSG;
	chunks->stack = (uint16_t)helper;
	return 0;
}

static bool fits(const struct wire_chunks *chunks, uint16_t offset, unsigned int bytes)
{
	return offset + bytes <= chunks->stack && offset % bytes == 0;
}

/* The arguments' size until JDK 22, then the stack's bottom. */
static int read_end(const struct reader *r, struct wire_chunks *chunks, uint16_t *ret_offset)
{
	int ret = find_field(r, r->chunk, "bottom", "I", ret_offset);

	chunks->bottom = chunks->argsize = WIRE_JVM_ABSENT;
	if (!ret)
		chunks->bottom = *ret_offset;
	if (ret != -ENODATA)
		return ret;
	ret = find_field(r, r->chunk, "argsize", "I", ret_offset);
	if (!ret)
		chunks->argsize = *ret_offset;
	return ret;
}

/* Where it is not told, frames that are on their way are shown only if they are all of the chunk's. */
static void read_room(const struct reader *r, struct wire_chunks *chunks)
{
	uint32_t offset;

	chunks->room = WIRE_JVM_ABSENT;
	if (java_fields_find_injected(r->vs, r->layout, r->pages, r->chunk, ADDED_MAX_THAWING,
				      &offset) == 0 &&
	    fits(chunks, (uint16_t)offset, 4))
		chunks->room = (uint16_t)offset;
}

static int read_offsets(const struct reader *r, struct wire_chunks *chunks)
{
	static const char of_chunks[] = "Ljdk/internal/vm/StackChunk;";
	uint16_t end;
	int ret = read_stack_offset(r, chunks);

	if (!ret)
		ret = find_field(r, r->continuation, "tail", of_chunks, &chunks->tail);
	if (!ret)
		ret = find_field(r, r->chunk, "parent", of_chunks, &chunks->parent);
	if (!ret)
		ret = find_field(r, r->chunk, "size", "I", &chunks->size);
	if (!ret)
		ret = find_field(r, r->chunk, "sp", "I", &chunks->sp);
	if (!ret)
		ret = read_end(r, chunks, &end);
	if (ret < 0)
		return ret;
	read_room(r, chunks);
	return fits(chunks, chunks->parent, chunks->oop_bytes) && fits(chunks, chunks->size, 4) &&
			       fits(chunks, chunks->sp, 4) && fits(chunks, end, 4)
		       ? 0
		       : -EBADMSG;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int read_objects(const struct reader *r, const struct vm_flags *flags,
			struct wire_chunks *chunks)
{
	struct java_klass_word word;
	struct java_objects objects;
	int ret = java_objects_read(r->vs, flags, &objects);

	if (!ret)
		ret = java_objects_klass_word(&objects, r->chunk, &word);
	if (ret < 0)
		return ret;
	chunks->oop_bytes = java_objects_reference_bytes(&objects);
	chunks->oop_base = objects.oop_base;
	chunks->oop_shift = objects.oop_shift;
	chunks->klass_mask = word.mask;
	chunks->klass = word.value;
	chunks->klass_at = word.at;
	return 0;
}

static int read_all(struct reader *r, const struct vm_flags *flags, struct wire_chunks *chunks)
{
	int ret = find_classes(r);

	if (!ret)
		ret = read_objects(r, flags, chunks);
	return ret < 0 ? ret : read_offsets(r, chunks);
}

int jvm_chunks_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		    struct vm_pages *pages, struct wire_chunks *ret_chunks)
{
	struct reader reader = { .vs = vs, .layout = layout, .pages = pages };
	struct wire_chunks chunks = { 0 };
	struct vm_flags flags;
	int ret = vm_flags_read(vs, &flags);

	memset(ret_chunks, 0, sizeof(*ret_chunks));
	/* It moves objects while threads run, and its references have colours. */
	if (!ret && flags.use_z == 1)
		ret = -EOPNOTSUPP;
	if (!ret)
		ret = read_all(&reader, &flags, &chunks);
	if (ret < 0)
		return ret == -ENODATA ? -EOPNOTSUPP : ret;
	*ret_chunks = chunks;
	return 0;
}
