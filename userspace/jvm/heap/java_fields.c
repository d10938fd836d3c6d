/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share/oops/fieldInfo.hpp: up to JDK 20 InstanceKlass::_fields, six u2 for each field, whose last two are the offset
 * and two bits that say so; from 21 on _fieldinfo_stream, numbers in UNSIGNED5.
 */
#include "jvm/heap/java_fields.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "jvm/names/unsigned5.h"

/* java.lang.Thread has 24 fields, of which none has a longer description than 12 bytes. */
#define MAX_FIELDS	128
#define MAX_ARRAY_BYTES (MAX_FIELDS * 12)
#define MAX_OFFSET	4096
#define MAX_NAME	64

enum { FIELD_NAME = 1, FIELD_SIGNATURE = 2, FIELD_LOW = 4, FIELD_HIGH = 5, FIELD_SLOTS = 6 };

#define TAG_BITS   2
#define TAG_OFFSET 1

struct search {
	const struct vmstructs *vs;
	const struct jvm_layout *layout;
	struct vm_pages *pages;
	uint64_t pool;
	const char *name, *signature;
};

/* Is the symbol at INDEX of the constant pool TEXT? */
static bool is_symbol(const struct search *s, uint32_t index, const char *text)
{
	char found[MAX_NAME];
	size_t len = strlen(text);
	uint64_t symbol;
	uint16_t symbol_len;

	if (!index || index > UINT16_MAX || len > sizeof(found))
		return false;
	if (vm_pages_read(s->pages, s->pool + s->layout->pool_bytes + 8ULL * index, &symbol,
			  sizeof(symbol)) < 0 ||
	    vm_pages_read(s->pages, symbol + s->layout->symbol_length, &symbol_len,
			  sizeof(symbol_len)) < 0 ||
	    symbol_len != len)
		return false;
	return vm_pages_read(s->pages, symbol + s->layout->symbol_body, found, len) == 0 &&
	       !memcmp(found, text, len);
}

static bool is_field(const struct search *s, uint32_t name, uint32_t signature)
{
	return is_symbol(s, name, s->name) && is_symbol(s, signature, s->signature);
}

static int check_offset(uint32_t offset, uint32_t *ret_offset)
{
	if (offset < 8 || offset > MAX_OFFSET)
		return -EBADMSG;
	*ret_offset = offset;
	return 0;
}

static int find_in_slots(const struct search *s, const uint16_t *slots, size_t count,
			 uint32_t *ret_offset)
{
	for (size_t i = 0; i + FIELD_SLOTS <= count; i += FIELD_SLOTS) {
		const uint16_t *field = slots + i;
		uint32_t packed = (uint32_t)field[FIELD_HIGH] << 16 | field[FIELD_LOW];

		if (!is_field(s, field[FIELD_NAME], field[FIELD_SIGNATURE]))
			continue;
		if ((packed & ((1U << TAG_BITS) - 1)) != TAG_OFFSET)
			return -EBADMSG;
		return check_offset(packed >> TAG_BITS, ret_offset);
	}
	return -ENODATA;
}

/* A bit of FieldInfo::FieldFlags; one that no release has when it is not told. */
static uint32_t field_flag(const struct search *s, const char *name)
{
	int64_t bit;

	if (vmstructs_int_const(s->vs, name, &bit) < 0 || bit < 0 || bit > 31)
		return 0;
	return 1U << bit;
}

struct field_stream {
	struct unsigned5 numbers;
	uint32_t more[3]; /* flags that add a number each */
	uint32_t count, injected;
};

struct stream_field {
	uint32_t name, signature, offset;
};

static bool open_stream(const struct search *s, const uint8_t *bytes, size_t len,
			struct field_stream *stream)
{
	*stream = (struct field_stream){
		/* These streams came when bytes had got their bias. */
		.numbers = { .data = bytes, .len = len, .bias = 1 },
		.more = { field_flag(s, "FieldInfo::FieldFlags::_ff_initialized"),
			  field_flag(s, "FieldInfo::FieldFlags::_ff_generic"),
			  field_flag(s, "FieldInfo::FieldFlags::_ff_contended") },
	};
	return unsigned5_read(&stream->numbers, &stream->count) &&
	       unsigned5_read(&stream->numbers, &stream->injected) && stream->count <= MAX_FIELDS &&
	       stream->injected <= MAX_FIELDS;
}

static int next_field(struct field_stream *stream, struct stream_field *field)
{
	struct unsigned5 *numbers = &stream->numbers;
	uint32_t access, flags, ignored;

	if (!unsigned5_read(numbers, &field->name) || !unsigned5_read(numbers, &field->signature) ||
	    !unsigned5_read(numbers, &field->offset) || !unsigned5_read(numbers, &access) ||
	    !unsigned5_read(numbers, &flags))
		return -EBADMSG;
	/* Flags may add numbers, and nobody says which. */
	if (flags && !stream->more[0])
		return -EOPNOTSUPP;
	for (size_t k = 0; k < ARRAY_SIZE(stream->more); k++)
		if (flags & stream->more[k] && !unsigned5_read(numbers, &ignored))
			return -EBADMSG;
	return 0;
}

static int find_in_stream(const struct search *s, const uint8_t *bytes, size_t len,
			  uint32_t *ret_offset)
{
	struct field_stream stream;
	struct stream_field field;

	if (!open_stream(s, bytes, len, &stream))
		return -EBADMSG;
	for (uint32_t i = 0; i < stream.count; i++) {
		int r = next_field(&stream, &field);

		/* What its flags add counts only for those behind it. */
		if (r != -EBADMSG && is_field(s, field.name, field.signature))
			return check_offset(field.offset, ret_offset);
		if (r < 0)
			return r;
	}
	return -ENODATA;
}

/* They lie behind the class's own. */
static int find_injected(const struct search *s, const uint8_t *bytes, size_t len, uint32_t index,
			 uint32_t *ret_offset)
{
	struct field_stream stream;
	struct stream_field field;

	if (!open_stream(s, bytes, len, &stream) || index >= stream.injected)
		return -EBADMSG;
	for (uint32_t i = 0; i <= stream.count + index; i++) {
		int r = next_field(&stream, &field);

		if (r < 0)
			return r;
	}
	return check_offset(field.offset, ret_offset);
}

/* The array that a field of KLASS leads to; *RET_COUNT elements of WIDTH bytes. Caller frees. */
static int read_array(const struct search *s, uint64_t klass, const char *field, size_t width,
		      void **ret_data, size_t *ret_count)
{
	const char *type = width == 1 ? "Array<u1>" : "Array<u2>";
	uint64_t at, length_at, data_at, array;
	uint32_t count;
	int r = vmstructs_field_offset(s->vs, "InstanceKlass", field, &at);

	if (!r)
		r = vmstructs_field_offset(s->vs, "Array<int>", "_length", &length_at);
	if (!r)
		r = vmstructs_field_offset(s->vs, type, "_data", &data_at);
	if (r < 0)
		return -EOPNOTSUPP;
	r = vm_pages_read(s->pages, klass + at, &array, sizeof(array));
	if (!r)
		r = vm_pages_read(s->pages, array + length_at, &count, sizeof(count));
	if (r < 0)
		return r;
	if (!count || count > MAX_ARRAY_BYTES / width)
		return -EBADMSG;
	*ret_data = xmalloc(count * width);
	*ret_count = count;
	return vm_pages_read(s->pages, array + data_at, *ret_data, count * width);
}

int java_fields_find(const struct vmstructs *vs, const struct jvm_layout *layout,
		     struct vm_pages *pages, uint64_t klass, const char *name,
		     const char *signature, uint32_t *ret_offset)
{
	struct search s = { vs, layout, pages, 0, name, signature };
	_cleanup_free_ void *data = NULL;
	uint64_t at;
	size_t count;
	int r = vmstructs_field_offset(vs, "InstanceKlass", "_constants", &at);

	if (r < 0)
		return -EOPNOTSUPP;
	r = vm_pages_read(pages, klass + at, &s.pool, sizeof(s.pool));
	if (r < 0)
		return r;
	if (vmstructs_field_offset(vs, "InstanceKlass", "_fieldinfo_stream", &at) == 0) {
		r = read_array(&s, klass, "_fieldinfo_stream", 1, &data, &count);
		return r < 0 ? r : find_in_stream(&s, data, count, ret_offset);
	}
	r = read_array(&s, klass, "_fields", 2, &data, &count);
	return r < 0 ? r : find_in_slots(&s, data, count, ret_offset);
}

int java_fields_find_injected(const struct vmstructs *vs, const struct jvm_layout *layout,
			      struct vm_pages *pages, uint64_t klass, uint32_t index,
			      uint32_t *ret_offset)
{
	struct search s = { vs, layout, pages, 0, NULL, NULL };
	_cleanup_free_ void *data = NULL;
	size_t count;
	int r = read_array(&s, klass, "_fieldinfo_stream", 1, &data, &count);

	return r < 0 ? r : find_injected(&s, data, count, index, ret_offset);
}
