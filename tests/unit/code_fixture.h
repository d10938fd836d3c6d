/* SPDX-License-Identifier: Apache-2.0 */
/* A fabricated code heap with a segment map, and methods for its nmethods. */
#ifndef HOSTPROF_TESTS_CODE_FIXTURE_H
#define HOSTPROF_TESTS_CODE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "fake_memory.h"
#include "jvm/layout/jvm_layout.h"
#include "layout_17.h"

#define SEGMENTS      64U
#define SEGMENT_BYTES 128U
#define FREE_SEGMENT  0xff
#define KIND_NMETHOD  1
#define KIND_STUB     5

/* Offsets as JDK 17 (17.0.15) has them. */
static const struct jvm_layout code_layout_17 = {
	LAYOUT_17_NAMES,
	.feature_release = 17,
	.pool_source_index = JVM_LAYOUT_ABSENT,
	LAYOUT_17_BLOBS,
	.wire = { LAYOUT_17_WIRE_BLOBS },
};

struct code_fixture {
	struct fake_memory fake;
	struct jvm_layout layout;
	uint64_t heap, segmap;
};

static inline void code_fixture_init(struct code_fixture *f, const struct jvm_layout *layout)
{
	uint8_t unused[SEGMENTS];

	memset(f, 0, sizeof(*f));
	fake_init(&f->fake);
	f->layout = *layout;
	f->heap = fake_alloc(&f->fake, (size_t)SEGMENTS * SEGMENT_BYTES);
	memset(unused, FREE_SEGMENT, sizeof(unused));
	f->segmap = fake_add(&f->fake, unused, sizeof(unused));
	f->layout.wire.heaps[0] =
		(struct wire_code_heap){ f->heap, f->heap + (uint64_t)SEGMENTS * SEGMENT_BYTES,
					 f->segmap };
}

/* A block of COUNT segments; its blob's address. Hops lead back a segment at a time. */
static inline uint64_t code_fixture_block(struct code_fixture *f, unsigned int segment,
					  unsigned int count)
{
	uint64_t block = f->heap + (uint64_t)segment * SEGMENT_BYTES;
	const uint8_t used = 1, first = 0, one = 1;

	for (unsigned int i = 0; i < count; i++)
		fake_put(&f->fake, f->segmap + segment + i, i ? &one : &first, 1);
	fake_put(&f->fake, block + f->layout.block_used, &used, 1);
	return block + f->layout.wire.block_header;
}

static inline void code_fixture_free(struct code_fixture *f, unsigned int segment)
{
	const uint8_t used = 0;

	fake_put(&f->fake, f->heap + (uint64_t)segment * SEGMENT_BYTES + f->layout.block_used,
		 &used, 1);
}

static inline void put_u32(struct code_fixture *f, uint64_t address, uint32_t value)
{
	fake_put(&f->fake, address, &value, sizeof(value));
}

/* A blob that fills its block. */
static inline uint64_t code_fixture_blob(struct code_fixture *f, unsigned int segment,
					 unsigned int count, const char *name, uint8_t kind)
{
	uint64_t blob = code_fixture_block(f, segment, count);

	put_u32(f, blob + f->layout.wire.blob_size,
		count * SEGMENT_BYTES - f->layout.wire.block_header);
	fake_put_u64(&f->fake, blob + f->layout.blob_name, fake_string(&f->fake, name));
	if (f->layout.blob_kind != JVM_LAYOUT_ABSENT)
		fake_put(&f->fake, blob + f->layout.blob_kind, &kind, 1);
	return blob;
}

static inline uint64_t code_fixture_nmethod(struct code_fixture *f, unsigned int segment,
					    unsigned int count, uint64_t method,
					    uint32_t compile_id)
{
	uint64_t blob = code_fixture_blob(f, segment, count, "nmethod", KIND_NMETHOD);

	put_u32(f, blob + f->layout.wire.compile_id, compile_id);
	fake_put_u64(&f->fake, blob + f->layout.nmethod_method, method);
	return blob;
}

static inline uint64_t code_fixture_symbol(struct code_fixture *f, const char *text)
{
	uint64_t symbol = fake_alloc(&f->fake, f->layout.symbol_body + strlen(text) + 8);

	fake_put_u16(&f->fake, symbol + f->layout.symbol_length, (uint16_t)strlen(text));
	fake_put(&f->fake, symbol + f->layout.symbol_body, text, strlen(text));
	return symbol;
}

/* A method NAME, whose descriptor is "()LNAME;". */
static inline uint64_t code_fixture_method(struct code_fixture *f, const char *class_name,
					   const char *name)
{
	const struct jvm_layout *l = &f->layout;
	uint64_t method = fake_alloc(&f->fake, 88), const_method = fake_alloc(&f->fake, 80);
	uint64_t pool = fake_alloc(&f->fake, 256), klass = fake_alloc(&f->fake, 128);
	char descriptor[64];

	fake_put_u64(&f->fake, method + l->method_const_method, const_method);
	fake_put_u64(&f->fake, const_method + l->const_method_constants, pool);
	snprintf(descriptor, sizeof(descriptor), "()L%s;", name);
	fake_put_u16(&f->fake, const_method + l->const_method_name_index, 3);
	fake_put_u16(&f->fake, const_method + l->const_method_signature_index, 4);
	fake_put_u64(&f->fake, pool + l->pool_holder, klass);
	fake_put_u64(&f->fake, pool + l->pool_bytes + 3ULL * 8, code_fixture_symbol(f, name));
	fake_put_u64(&f->fake, pool + l->pool_bytes + 4ULL * 8, code_fixture_symbol(f, descriptor));
	fake_put_u64(&f->fake, klass + l->klass_name, code_fixture_symbol(f, class_name));
	return method;
}

#endif
