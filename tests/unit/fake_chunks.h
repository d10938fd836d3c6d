/* SPDX-License-Identifier: Apache-2.0 */
/* A fabricated JVM's own description of StackChunk and Continuation: classes, their fields as streams, flags. */
#ifndef HOSTPROF_TESTS_FAKE_CHUNKS_H
#define HOSTPROF_TESTS_FAKE_CHUNKS_H

#include <stdlib.h>
#include <string.h>

#include "fake_vm.h"
#include "jvm/continuation/jvm_chunks.h"

#define POOL_BYTES 72
#define CHUNK	   0
#define CONT	   1
#define FLAGS	   4
#define FLAG_BYTES 24UL
#define BASE	   (FAKE_BASE - 0x10000)

enum { COMPRESSED_OOPS, COMPRESSED_CLASSES, COMPACT_HEADERS, ZGC };

struct chunks_vm {
	struct fake_vm vm;
	struct jvm_layout layout;
	uint64_t classes, flags, values[FLAGS];
	uint64_t oop_shift, klass_base; /* variables */
	uint64_t klass[2], stream[2], pool[2];
	uint8_t bytes[2][64];
	size_t len[2];
};

/* In a pool. */
enum { A_CHUNK = 9, AN_INT, PARENT = 200, SIZE, SP, BOTTOM, TAIL, ARGSIZE };

/* A number as HotSpot packs it, of one or two bytes. */
static inline void pack(struct chunks_vm *f, int class, uint32_t value)
{
	uint8_t *bytes = f->bytes[class];

	if (value >= 191) {
		bytes[f->len[class]++] = (uint8_t)(192 + (value - 191) % 64);
		value = (value - 191) / 64;
	}
	bytes[f->len[class]++] = (uint8_t)(value + 1);
}

/* Name and signature are pool indices. */
static inline void pack_field(struct chunks_vm *f, int class, uint32_t name, uint32_t offset,
			      uint32_t flags)
{
	pack(f, class, name);
	pack(f, class, name == PARENT || name == TAIL ? A_CHUNK : AN_INT);
	pack(f, class, offset);
	pack(f, class, 2);
	pack(f, class, flags);
}

static inline void put_stream(struct chunks_vm *f, int class)
{
	fake_put(&f->vm.fake, f->stream[class], &(int32_t){ (int32_t)f->len[class] }, 4);
	fake_put(&f->vm.fake, f->stream[class] + 4, f->bytes[class], f->len[class]);
}

/* A Symbol: its length at 4, its bytes at 6. */
static inline uint64_t put_symbol(struct chunks_vm *f, const char *name)
{
	uint64_t symbol = fake_alloc(&f->vm.fake, 80);

	fake_put(&f->vm.fake, symbol + 4, &(uint16_t){ (uint16_t)strlen(name) }, 2);
	fake_put(&f->vm.fake, symbol + 6, name, strlen(name));
	return symbol;
}

/* An InstanceKlass: helper at 8, name at 24, pool at 40, stream at 48. */
static inline void put_class(struct chunks_vm *f, int class, const char *name, uint32_t size)
{
	static const char *const names[] = { "parent", "size", "sp", "bottom", "tail", "argsize" };
	struct fake_memory *fake = &f->vm.fake;

	f->klass[class] = fake_alloc(fake, 64);
	f->pool[class] = fake_alloc(fake, POOL_BYTES + 300 * 8);
	f->stream[class] = fake_alloc(fake, 80);
	fake_put(fake, f->klass[class] + 8, &(uint32_t){ size }, 4);
	fake_put_u64(fake, f->klass[class] + 24, put_symbol(f, name));
	fake_put_u64(fake, f->klass[class] + 40, f->pool[class]);
	fake_put_u64(fake, f->klass[class] + 48, f->stream[class]);
	fake_put_u64(fake, f->pool[class] + POOL_BYTES + 8 * A_CHUNK,
		     put_symbol(f, "Ljdk/internal/vm/StackChunk;"));
	fake_put_u64(fake, f->pool[class] + POOL_BYTES + 8 * AN_INT, put_symbol(f, "I"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		fake_put_u64(fake, f->pool[class] + POOL_BYTES + 8 * (PARENT + i),
			     put_symbol(f, names[i]));
}

/* Four of a chunk, COUNT of which are said to be its own, and then ADDED. */
static inline void pack_fields(struct chunks_vm *f, uint32_t count, uint32_t added)
{
	pack(f, CHUNK, count);
	pack(f, CHUNK, added);
	pack_field(f, CHUNK, PARENT, 40, 0);
	pack_field(f, CHUNK, SIZE, 12, 0);
	pack_field(f, CHUNK, SP, 24, 0);
	pack_field(f, CHUNK, BOTTOM, 28, 0);
}

static inline void put_fields(struct chunks_vm *f)
{
	pack(f, CONT, 2);
	pack(f, CONT, 0);
	pack_field(f, CONT, SP, 12, 0);
	pack_field(f, CONT, TAIL, 32, 0);
	put_stream(f, CONT);
	pack_fields(f, 4, 1);
	pack_field(f, CHUNK, SP, 16, 2); /* injected: its name is another number */
	put_stream(f, CHUNK);
}

static inline void put_flags(struct chunks_vm *f)
{
	static const char *const names[] = { "UseCompressedOops", "UseCompressedClassPointers",
					     "UseCompactObjectHeaders", "UseZGC" };
	static const uint8_t values[] = { 1, 1, 0, 0 };

	for (unsigned int i = 0; i < FLAGS; i++) {
		f->values[i] = fake_add(&f->vm.fake, &values[i], 1);
		fake_put_u64(&f->vm.fake, f->flags + i * FLAG_BYTES, f->values[i]);
		fake_put_u64(&f->vm.fake, f->flags + i * FLAG_BYTES + 8,
			     fake_string(&f->vm.fake, names[i]));
	}
}

static inline uint64_t add_u64(struct chunks_vm *f, uint64_t value)
{
	return fake_add(&f->vm.fake, &value, sizeof(value));
}

/* OLDER: as JDK 21 calls what it knows of compressed addresses. */
static inline void open_vm(struct chunks_vm *f, bool older)
{
	const struct fake_field fields[] = {
		{ "JVMFlag", "_addr", 0, 0 },
		{ "JVMFlag", "_name", 8, 0 },
		{ "JVMFlag", "flags", add_u64(f, f->flags), 1 },
		{ "JVMFlag", "numFlags", add_u64(f, FLAGS), 1 },
		{ "vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]",
		  f->classes, 1 },
		{ "Klass", "_layout_helper", 8, 0 },
		{ "InstanceKlass", "_constants", 40, 0 },
		{ "InstanceKlass", "_fieldinfo_stream", 48, 0 },
		{ "Array<int>", "_length", 0, 0 },
		{ "Array<u1>", "_data", 4, 0 },
		{ "CompressedOops", older ? "_narrow_oop._base" : "_base", add_u64(f, 0x7000), 1 },
		{ "CompressedOops", older ? "_narrow_oop._shift" : "_shift", f->oop_shift, 1 },
		{ "CompressedKlassPointers", older ? "_narrow_klass._base" : "_base", f->klass_base,
		  1 },
		{ "CompressedKlassPointers", older ? "_narrow_klass._shift" : "_shift",
		  add_u64(f, 3), 1 },
	};
	static const struct fake_type types[] = { { "JVMFlag", FLAG_BYTES } };
	static const struct fake_type shift = { "markWord::klass_shift", 42 };

	fake_vm_fill(&f->vm, fields, ARRAY_SIZE(fields), types, ARRAY_SIZE(types));
	fake_vm_add_pairs(&f->vm, VM_INTS, &shift, 1);
	assert_int_equal(vmstructs_open_memory(&f->vm.fake.memory, f->vm.symbols, &f->vm.vs), 0);
}

static inline struct chunks_vm *new_vm(bool older)
{
	struct chunks_vm *f = calloc(1, sizeof(*f));
	struct fake_memory *fake = &f->vm.fake;

	fake_init(fake);
	f->layout = (struct jvm_layout){ .klass_name = 24,
					 .symbol_length = 4,
					 .symbol_body = 6,
					 .pool_bytes = POOL_BYTES,
					 .unsigned5_bias = 1 };
	f->classes = fake_alloc(fake, 192 * 8);
	f->flags = fake_alloc(fake, FLAGS * FLAG_BYTES);
	f->oop_shift = add_u64(f, 3);
	f->klass_base = add_u64(f, BASE);
	put_class(f, CHUNK, "jdk/internal/vm/StackChunk", 48 | 1);
	put_class(f, CONT, "jdk/internal/vm/Continuation", 40);
	/* Some other classes before them, and numbers that are none. */
	fake_put_u64(fake, f->classes + 8, 0x1001);
	fake_put_u64(fake, f->classes + 16, 0x5000);
	fake_put_u64(fake, f->classes + 24, f->classes);
	fake_put_u64(fake, f->classes + 100 * 8, f->klass[CONT]);
	fake_put_u64(fake, f->classes + 191 * 8, f->klass[CHUNK]);
	put_flags(f);
	open_vm(f, older);
	return f;
}

static inline void set_flag(struct chunks_vm *f, unsigned int flag, uint8_t value)
{
	fake_put(&f->vm.fake, f->values[flag], &value, 1);
}

static inline void close_vm(struct chunks_vm *f)
{
	fake_vm_release(&f->vm);
	free(f);
}

static inline int read_it(struct chunks_vm *f, struct wire_chunks *ret_chunks)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(vmstructs_memory(f->vm.vs));

	return jvm_chunks_read(f->vm.vs, &f->layout, pages, ret_chunks);
}

#endif
