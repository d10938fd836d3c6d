/* SPDX-License-Identifier: Apache-2.0 */
/* One method in a JVM's memory: pkg.Outer$Inner.work(). */
#ifndef HOSTPROF_TESTS_METHOD_FIXTURE_H
#define HOSTPROF_TESTS_METHOD_FIXTURE_H

#include "fake_memory.h"
#include "jvm/java_name.h"
#include "jvm/names/method_name.h"
#include "layout_17.h"

/* Offsets as JDK 17 (17.0.15) has them. */
static const struct jvm_layout layout_17 = {
	LAYOUT_17_NAMES,
	.feature_release = 17,
	.pool_source_index = 54,
	.wire = { .const_method_ids = 32 },
};

#define NAME_INDEX	 7UL
#define DESCRIPTOR_INDEX 8UL
#define SOURCE_INDEX	 9UL
#define CODE_BYTES	 20
#define DESCRIPTOR	 "(I[Lpkg/Outer;)Z"
#define SYMBOL_BYTES	 64

struct fixture {
	struct fake_memory fake;
	struct jvm_layout layout;
	struct method_names *names;
	uint64_t method, const_method, pool, klass;
	uint64_t class_symbol, name_symbol, descriptor_symbol, source_symbol;
};

static inline void put_symbol(struct fixture *f, uint64_t symbol, const char *text)
{
	fake_put_u16(&f->fake, symbol + f->layout.symbol_length, (uint16_t)strlen(text));
	fake_put(&f->fake, symbol + f->layout.symbol_body, text, strlen(text));
}

static inline void put_method(struct fixture *f)
{
	const struct jvm_layout *l = &f->layout;
	/* Line 30 at bci 0, 31 at bci 4, 33 at bci 10. */
	static const uint8_t lines[] = { 0xff, 0, 60, 4 << 3 | 1, 6 << 3 | 2, 0 };

	fake_put_u64(&f->fake, f->method + l->method_const_method, f->const_method);
	fake_put_u64(&f->fake, f->const_method + l->const_method_constants, f->pool);
	fake_put_u16(&f->fake, f->const_method + l->const_method_name_index, NAME_INDEX);
	fake_put_u16(&f->fake, f->const_method + l->const_method_signature_index, DESCRIPTOR_INDEX);
	fake_put_u16(&f->fake, f->const_method + l->const_method_code_size, CODE_BYTES);
	fake_put_u16(&f->fake, f->const_method + l->const_method_flags, 1);
	fake_put_u16(&f->fake, f->const_method + l->const_method_size_words, 10);
	fake_put(&f->fake, f->const_method + l->const_method_bytes + CODE_BYTES, lines,
		 sizeof(lines));
	fake_put_u64(&f->fake, f->pool + l->pool_holder, f->klass);
	fake_put_u64(&f->fake, f->pool + l->pool_bytes + 8 * NAME_INDEX, f->name_symbol);
	fake_put_u64(&f->fake, f->pool + l->pool_bytes + 8 * DESCRIPTOR_INDEX,
		     f->descriptor_symbol | 1);
	fake_put_u64(&f->fake, f->pool + l->pool_bytes + 8 * SOURCE_INDEX, f->source_symbol | 1);
	if (l->pool_source_index != JVM_LAYOUT_ABSENT)
		fake_put_u16(&f->fake, f->pool + l->pool_source_index, SOURCE_INDEX);
	else
		fake_put_u16(&f->fake, f->klass + l->klass_source_index, SOURCE_INDEX);
	fake_put_u64(&f->fake, f->klass + l->klass_name, f->class_symbol);
	put_symbol(f, f->class_symbol, "pkg/Outer$Inner");
	put_symbol(f, f->name_symbol, "work");
	put_symbol(f, f->descriptor_symbol, DESCRIPTOR);
	put_symbol(f, f->source_symbol, "Outer.java");
}

static inline struct fixture *fixture_new(const struct jvm_layout *layout)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fake_init(&f->fake);
	f->layout = *layout;
	f->method = fake_alloc(&f->fake, 88);
	f->const_method = fake_alloc(&f->fake, 80);
	f->pool = fake_alloc(&f->fake, 256);
	f->klass = fake_alloc(&f->fake, 512);
	f->class_symbol = fake_alloc(&f->fake, SYMBOL_BYTES);
	f->name_symbol = fake_alloc(&f->fake, SYMBOL_BYTES);
	f->descriptor_symbol = fake_alloc(&f->fake, 2 * JAVA_MAX_DESCRIPTOR);
	f->source_symbol = fake_alloc(&f->fake, SYMBOL_BYTES);
	put_method(f);
	f->names = method_names_new(&f->fake.memory, &f->layout);
	return f;
}

static inline int setup(void **state)
{
	*state = fixture_new(&layout_17);
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	method_names_free(f->names);
	free(f);
	return 0;
}

static inline uint64_t bcp(const struct fixture *f, unsigned int bci)
{
	return f->const_method + f->layout.const_method_bytes + bci;
}

/* What BPF would have found when the sample was taken. */
static inline uint64_t identity(const struct fixture *f)
{
	const struct jvm_layout *l = &f->layout;
	const uint8_t *const_method = f->fake.bytes + (f->const_method - FAKE_BASE);
	uint64_t word, ids;

	memcpy(&word, f->fake.bytes + (f->class_symbol - FAKE_BASE), sizeof(word));
	memcpy(&ids, const_method + l->wire.const_method_ids, sizeof(ids));
	return WIRE_METHOD_IDENTITY(WIRE_CLASS_IDENTITY(f->class_symbol, word, l->symbol_mask),
				    ids);
}

static inline int find(struct fixture *f, uint64_t at, struct java_frame *ret_frame)
{
	return method_names_find(f->names, f->method, f->const_method, identity(f), at, ret_frame);
}

#endif
