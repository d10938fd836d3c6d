/* SPDX-License-Identifier: Apache-2.0 */
/* Source: share/oops/{oop,compressedOops,compressedKlass,markWord}.hpp; JDK 8 has the variables in memory/universe.hpp. */
#include "jvm/heap/java_objects.h"

#include <errno.h>

#include "base/macros.h"

#define MAX_SHIFT 16
/* Of a mark's 64 bits the class has 22 or more. */
#define MAX_HEADER_SHIFT 60
/* An object's class is behind its mark. */
#define KLASS_AT 8

/* A variable that has moved from class to class: JDK 22 on, 16, 8. */
struct variable {
	const char *type, *field;
};

static const struct variable oop_bases[] = { { "CompressedOops", "_base" },
					     { "CompressedOops", "_narrow_oop._base" },
					     { "Universe", "_narrow_oop._base" } };
static const struct variable oop_shifts[] = { { "CompressedOops", "_shift" },
					      { "CompressedOops", "_narrow_oop._shift" },
					      { "Universe", "_narrow_oop._shift" } };
static const struct variable klass_bases[] = { { "CompressedKlassPointers", "_base" },
					       { "CompressedKlassPointers", "_narrow_klass._base" },
					       { "Universe", "_narrow_klass._base" } };
static const struct variable klass_shifts[] = { { "CompressedKlassPointers", "_shift" },
						{ "CompressedKlassPointers",
						  "_narrow_klass._shift" },
						{ "Universe", "_narrow_klass._shift" } };

static int read_variable(const struct vmstructs *vs, const struct variable variables[3],
			 void *ret_value, size_t len)
{
	uint64_t address;

	for (unsigned int i = 0; i < 3; i++)
		if (vmstructs_static(vs, variables[i].type, variables[i].field, &address) == 0)
			return vm_memory_read(vmstructs_memory(vs), address, ret_value, len);
	return -EOPNOTSUPP;
}

static int read_coding(const struct vmstructs *vs, const struct variable bases[3],
		       const struct variable shifts[3], uint64_t *ret_base, uint8_t *ret_shift)
{
	int32_t shift;
	int r = read_variable(vs, bases, ret_base, sizeof(*ret_base));

	if (!r)
		r = read_variable(vs, shifts, &shift, sizeof(shift));
	if (r < 0)
		return r;
	if (shift < 0 || shift > MAX_SHIFT)
		return -EBADMSG;
	*ret_shift = (uint8_t)shift;
	return 0;
}

static int read_header_shift(const struct vmstructs *vs, uint8_t *ret_shift)
{
	int64_t shift;

	if (vmstructs_int_const(vs, "markWord::klass_shift", &shift) < 0)
		return -EOPNOTSUPP;
	if (shift < 0 || shift > MAX_HEADER_SHIFT)
		return -EBADMSG;
	*ret_shift = (uint8_t)shift;
	return 0;
}

int java_objects_read(const struct vmstructs *vs, const struct vm_flags *flags,
		      struct java_objects *ret_objects)
{
	struct java_objects o = { 0 };
	int r = 0;

	/* A flag that is gone stands for what has become the only way. */
	o.compact = flags->use_compact_object_headers == 1;
	o.narrow_oops = flags->use_compressed_oops != 0;
	o.narrow_klasses = o.compact || flags->use_compressed_class_pointers != 0;
	if (o.narrow_oops)
		r = read_coding(vs, oop_bases, oop_shifts, &o.oop_base, &o.oop_shift);
	if (!r && o.narrow_klasses)
		r = read_coding(vs, klass_bases, klass_shifts, &o.klass_base, &o.klass_shift);
	if (!r && o.compact)
		r = read_header_shift(vs, &o.header_shift);
	if (!r)
		*ret_objects = o;
	return r;
}

uint32_t java_objects_header(const struct java_objects *objects)
{
	return objects->compact ? 8 : objects->narrow_klasses ? 12 : 16;
}

struct wire_object java_objects_wire(const struct java_objects *objects)
{
	return (struct wire_object){
		.base = objects->klass_base,
		.place = objects->compact	   ? WIRE_KLASS_COMPACT
			 : objects->narrow_klasses ? WIRE_KLASS_NARROW
						   : WIRE_KLASS_WIDE,
		.shift = objects->klass_shift,
		.mark_shift = objects->header_shift,
	};
}

int java_objects_klass_word(const struct java_objects *objects, uint64_t klass,
			    struct java_klass_word *ret_word)
{
	uint64_t narrow = (klass - objects->klass_base) >> objects->klass_shift;

	*ret_word = (struct java_klass_word){ UINT64_MAX, klass, KLASS_AT };
	if (!objects->narrow_klasses)
		return 0;
	if (klass < objects->klass_base || narrow > UINT32_MAX)
		return -EBADMSG;
	if (objects->compact)
		*ret_word = (struct java_klass_word){ UINT64_MAX << objects->header_shift,
						      narrow << objects->header_shift, 0 };
	else
		*ret_word = (struct java_klass_word){ UINT32_MAX, narrow, KLASS_AT };
	return 0;
}
