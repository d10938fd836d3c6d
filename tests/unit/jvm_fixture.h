/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fabricated JVM whose layout can be read: VMStructs of the shapes that JDK 8, 17, 21 and 25
 * have, and one code heap with a call stub, an interpreter, continuation stubs and enterSpecial.
 */
#ifndef HOSTPROF_TESTS_JVM_FIXTURE_H
#define HOSTPROF_TESTS_JVM_FIXTURE_H

#include <stdlib.h>

#include "fake_vm.h"

#define JVM_HEAP_BYTES	 0x4000
#define JVM_RESERVED	 (240U << 20)
#define JVM_SEGMENT	 128
#define JVM_FRAME_OFFSET 24 /* of the fixed frame in an entry's code */

struct fake_jvm {
	struct fake_vm vm;
	uint32_t release;
	uint64_t heap, heap_object, heap_list, heap_items, segmap;
	uint64_t queue, interpreter, names;
	uint64_t call_stub, barrier, enter_return, enter_nmethod;
	uint64_t next_block;
	/* Variables that statics lead to. */
	uint64_t at_code, at_heaps, at_low, at_high, at_major, at_call_stub, at_barrier, at_enter;
	uint64_t at_threads, at_version, at_preempt;
	uint64_t array_bytes, element_bytes; /* of a vframeArray */
	bool stripped; /* exports nothing of continuations but JavaThread::_vthread */
};

#define JVM_MAX_FIELDS 96

struct jvm_fields {
	struct fake_field items[JVM_MAX_FIELDS];
	size_t count;
};

static inline void jvm_fields_add(struct jvm_fields *fields, const struct fake_field *items,
				  size_t count)
{
	assert_true(fields->count + count <= JVM_MAX_FIELDS);
	memcpy(fields->items + fields->count, items, count * sizeof(*items));
	fields->count += count;
}

static const struct fake_field jvm_common_fields[] = {
	{ "Method", "_constMethod", 8, 0 },
	{ "ConstMethod", "_constants", 8, 0 },
	{ "ConstMethod", "_constMethod_size", 24, 0 },
	{ "ConstMethod", "_code_size", 32, 0 },
	{ "ConstMethod", "_name_index", 34, 0 },
	{ "ConstMethod", "_signature_index", 36, 0 },
	{ "ConstantPool", "_pool_holder", 24, 0 },
	{ "Klass", "_name", 24, 0 },
	{ "Symbol", "_length", 4, 0 },
	{ "Symbol", "_body", 6, 0 },
	{ "StubQueue", "_stub_buffer", 8, 0 },
	{ "StubQueue", "_buffer_limit", 20, 0 },
	{ "StubQueue", "_queue_end", 28, 0 },
	{ "InterpreterCodelet", "_description", 0, 0 },
	{ "InterpreterCodelet", "_size", 8, 0 },
	{ "CodeHeap", "_memory", 8, 0 },
	{ "CodeHeap", "_segmap", 120, 0 },
	{ "CodeHeap", "_log2_segment_size", 256, 0 },
	{ "VirtualSpace", "_low_boundary", 0, 0 },
	{ "VirtualSpace", "_high_boundary", 8, 0 },
	{ "VirtualSpace", "_low", 16, 0 },
	{ "JavaFrameAnchor", "_last_Java_sp", 0, 0 },
	{ "JavaFrameAnchor", "_last_Java_pc", 8, 0 },
	{ "JavaFrameAnchor", "_last_Java_fp", 16, 0 },
	{ "JavaCallWrapper", "_anchor", 32, 0 },
};

static const struct fake_field jvm_fields_8[] = {
	{ "ConstMethod", "_flags", 28, 0 },
	{ "InstanceKlass", "_source_file_name_index", 258, 0 },
	{ "HeapBlock::Header", "_length:size_t", 0, 0 },
	{ "HeapBlock::Header", "_used:bool", 8, 0 },
	{ "CodeBlob", "_name", 8, 0 },
	{ "CodeBlob", "_size", 16, 0 },
	{ "CodeBlob", "_code_offset", 32, 0 },
	{ "CodeBlob", "_frame_complete_offset", 36, 0 },
	{ "CodeBlob", "_frame_size", 44, 0 },
	{ "nmethod", "_method", 64, 0 },
	{ "nmethod", "_deoptimize_offset", 148, 0 },
	{ "nmethod", "_deoptimize_mh_offset", 152, 0 },
	{ "nmethod", "_orig_pc_offset", 200, 0 },
	{ "nmethod", "_compile_id", 204, 0 },
	{ "JavaThread", "_anchor", 576, 0 },
};

static const struct fake_field jvm_fields_17[] = {
	{ "ConstMethod", "_flags", 28, 0 },
	{ "ConstantPool", "_source_file_name_index", 54, 0 },
	{ "GrowableArrayBase", "_len", 0, 0 },
	{ "GrowableArray<int>", "_data", 8, 0 },
	{ "HeapBlock::Header", "_length:size_t", 0, 0 },
	{ "HeapBlock::Header", "_used:bool", 8, 0 },
	{ "CodeBlob", "_name", 96, 0 },
	{ "CodeBlob", "_size", 12, 0 },
	{ "CodeBlob", "_code_begin:address", 32, 0 },
	{ "CodeBlob", "_frame_complete_offset", 20, 0 },
	{ "CodeBlob", "_frame_size", 28, 0 },
	{ "CompiledMethod", "_method", 112, 0 },
	{ "CompiledMethod", "_deopt_handler_begin:address", 128, 0 },
	{ "CompiledMethod", "_deopt_mh_handler_begin:address", 136, 0 },
	{ "nmethod", "_orig_pc_offset", 300, 0 },
	{ "nmethod", "_compile_id", 304, 0 },
	{ "JavaThread", "_anchor", 656, 0 },
	{ "JavaThread", "_saved_exception_pc", 856, 0 },
	{ "JavaThread", "_exception_pc", 984, 0 },
	{ "JavaThread", "_vframe_array_head", 712, 0 },
	{ "vframeArray", "_frames", 172, 0 },
	{ "vframeArrayElement", "_bci", 48, 0 },
	{ "vframeArrayElement", "_method", 56, 0 },
};

static const struct fake_field jvm_fields_25[] = {
	{ "ConstMethod", "_flags._flags", 28, 0 },
	{ "ConstantPool", "_source_file_name_index", 62, 0 },
	/* Elsewhere than any release has it, so that its offset counts. */
	{ "GrowableArrayBase", "_len", 16, 0 },
	{ "GrowableArray<int>", "_data", 8, 0 },
	{ "HeapBlock::Header", "_length:uint32_t", 0, 0 },
	{ "HeapBlock::Header", "_used:bool", 4, 0 },
	{ "CodeBlob", "_name", 8, 0 },
	{ "CodeBlob", "_size", 24, 0 },
	{ "CodeBlob", "_kind:CodeBlobKind", 56, 0 },
	{ "CodeBlob", "_code_offset", 36, 0 },
	{ "CodeBlob", "_frame_complete_offset:int16_t", 54, 0 },
	{ "CodeBlob", "_frame_size", 44, 0 },
	{ "nmethod", "_method", 80, 0 },
	{ "nmethod", "_deopt_handler_offset", 176, 0 },
	{ "nmethod", "_deopt_mh_handler_offset", 180, 0 },
	{ "nmethod", "_orig_pc_offset", 208, 0 },
	{ "nmethod", "_compile_id", 212, 0 },
	{ "JavaThread", "_anchor", 1152, 0 },
	{ "JavaThread", "_saved_exception_pc", 1336, 0 },
	{ "JavaThread", "_exception_pc", 1512, 0 },
	{ "JavaThread", "_vframe_array_head", 1208, 0 },
	{ "vframeArray", "_frames", 188, 0 },
	{ "vframeArrayElement", "_bci", 56, 0 },
	{ "vframeArrayElement", "_method", 64, 0 },
	{ "JavaThread", "_vthread", 1128, 0 },
};

#define JVM_ADD(fields, items) jvm_fields_add(fields, items, ARRAY_SIZE(items))

static inline void jvm_add_shape(const struct fake_jvm *f, struct jvm_fields *fields)
{
	static const struct fake_field vthread = { "JavaThread", "_vthread", 904, 0 };

	JVM_ADD(fields, jvm_common_fields);
	if (f->release == 8)
		JVM_ADD(fields, jvm_fields_8);
	else if (f->release < 25)
		JVM_ADD(fields, jvm_fields_17);
	else
		JVM_ADD(fields, jvm_fields_25);
	if (f->release == 21)
		jvm_fields_add(fields, &vthread, 1);
}

static inline void jvm_add_statics(const struct fake_jvm *f, struct jvm_fields *fields)
{
	const struct fake_field always[] = {
		{ "AbstractInterpreter", "_code", f->at_code, 1 },
		{ "Abstract_VM_Version", "_vm_major_version", f->at_major, 1 },
		{ "Abstract_VM_Version", "_s_vm_release", f->at_version, 1 },
		{ "StubRoutines", "_call_stub_return_address", f->at_call_stub, 1 },
	};
	const struct fake_field only_8[] = {
		{ "CodeCache", "_heap", f->at_heaps, 1 },
		{ "Threads", "_thread_list", f->at_threads, 1 },
	};
	const struct fake_field since_9[] = {
		{ "CodeCache", "_heaps", f->at_heaps, 1 },
		{ "CodeCache", "_low_bound", f->at_low, 1 },
		{ "CodeCache", "_high_bound", f->at_high, 1 },
	};
	const struct fake_field continuations[] = {
		{ "StubRoutines", "_cont_returnBarrier", f->at_barrier, 1 },
		{ "ContinuationEntry", "_return_pc", f->at_enter, 1 },
	};
	const struct fake_field cont_entry = { "JavaThread", "_cont_entry", 1560, 0 };
	/* By the library's own symbols. */
	const struct fake_field preempt = { "Continuation", "freeze_preempt_entry", f->at_preempt,
					    1 };

	JVM_ADD(fields, always);
	if (f->release == 8)
		JVM_ADD(fields, only_8);
	else
		JVM_ADD(fields, since_9);
	if (f->release >= 21 && !f->stripped)
		JVM_ADD(fields, continuations);
	if (f->release >= 25)
		jvm_fields_add(fields, &cont_entry, 1);
	if (f->release >= 25 && !f->stripped)
		jvm_fields_add(fields, &preempt, 1);
}

/* --- code ------------------------------------------------------------------------------------- */

static inline uint32_t jvm_header(const struct fake_jvm *f)
{
	return f->release >= 25 ? 8 : 16;
}

/* Where a blob of this shape keeps its parts. */
struct jvm_blob_shape {
	uint32_t name, size, code, frame_size, code_offset, header;
};

static inline struct jvm_blob_shape jvm_blob_shape(const struct fake_jvm *f)
{
	if (f->release == 8)
		return (struct jvm_blob_shape){ 8, 16, 32, 44, 300, 64 };
	if (f->release < 25)
		return (struct jvm_blob_shape){ 96, 12, 32, 28, 0, 104 };
	return (struct jvm_blob_shape){ 8, 24, 36, 44, 300, 64 };
}

static inline void jvm_put_i32(struct fake_jvm *f, uint64_t at, int32_t value)
{
	fake_put(&f->vm.fake, at, &value, sizeof(value));
}

/* The next block of the heap, and in it a blob whose code takes CODE_BYTES; its code's address. */
static inline uint64_t jvm_add_blob(struct fake_jvm *f, const char *name, int32_t frame_size,
				    uint32_t code_bytes)
{
	struct jvm_blob_shape shape = jvm_blob_shape(f);
	uint32_t before = 320, size = before + code_bytes;
	uint32_t segments = (jvm_header(f) + size + JVM_SEGMENT - 1) / JVM_SEGMENT;
	uint64_t block = f->next_block, blob = block + jvm_header(f);

	assert_true(block + (uint64_t)segments * JVM_SEGMENT < f->heap + JVM_HEAP_BYTES);
	jvm_put_i32(f, block, (int32_t)segments);
	fake_put(&f->vm.fake, block + (f->release >= 25 ? 4 : 8), &(uint8_t){ 1 }, 1);
	fake_put_u64(&f->vm.fake, blob + shape.name, fake_string(&f->vm.fake, name));
	jvm_put_i32(f, blob + shape.size, (int32_t)size);
	jvm_put_i32(f, blob + shape.frame_size, frame_size);
	if (f->release == 8 || f->release >= 25)
		jvm_put_i32(f, blob + shape.code, (int32_t)before);
	else
		fake_put_u64(&f->vm.fake, blob + shape.code, blob + before);
	f->next_block = block + (uint64_t)segments * JVM_SEGMENT;
	return blob + before;
}

/* An InterpreterCodelet of SIZE bytes; FRAME: its code makes the fixed frame. */
static inline uint64_t jvm_put_codelet(struct fake_jvm *f, uint64_t at, const char *name, int size,
				       bool frame)
{
	static const uint8_t fixed_frame[] = { 0x50, 0x55, 0x48, 0x8b, 0xec, 0x41, 0x55 };

	fake_put_u64(&f->vm.fake, at, fake_string(&f->vm.fake, name));
	jvm_put_i32(f, at + 8, size);
	if (frame)
		fake_put(&f->vm.fake, at + 16 + JVM_FRAME_OFFSET, fixed_frame, sizeof(fixed_frame));
	return at + (uint64_t)size;
}

static inline void jvm_put_queue(struct fake_jvm *f, int32_t limit, int32_t end)
{
	fake_put_u64(&f->vm.fake, f->queue + 8, f->interpreter);
	jvm_put_i32(f, f->queue + 20, limit);
	jvm_put_i32(f, f->queue + 28, end);
}

#define JVM_INTERPRETER_BYTES 640

static inline void jvm_add_interpreter(struct fake_jvm *f)
{
	uint64_t at = f->interpreter = jvm_add_blob(f, "Interpreter", 0, JVM_INTERPRETER_BYTES);

	at = jvm_put_codelet(f, at, "error exits", 96, false);
	at = jvm_put_codelet(f, at, "method entry point (kind = zerolocals)", 160, true);
	at = jvm_put_codelet(f, at, "method entry point (kind = java_lang_math_sin)", 64, false);
	at = jvm_put_codelet(f, at, "native method entry point (kind = native)", 128, true);
	jvm_put_codelet(f, at, "nop", 192, false);
	jvm_put_queue(f, JVM_INTERPRETER_BYTES, JVM_INTERPRETER_BYTES);
}

#define JVM_CONT_ENTRY 1336

/* The thaw stub, the return barrier and the one for exceptions behind it. */
static inline void jvm_add_continuations(struct fake_jvm *f)
{
	static const uint8_t barrier[] = { 0x5d, 0xc3, 0x49, 0x8b, 0xa7, 0x38, 0x05, 0, 0, 0x50 };
	static const uint8_t call[] = { 0xe8, 0, 0, 0, 0, 0x0f, 0x1f, 0x84, 0x00 };
	uint64_t stubs = jvm_add_blob(f, "StubRoutines (continuation stubs)", 0, 256), enter;

	fake_put(&f->vm.fake, stubs + 60, barrier, sizeof(barrier));
	fake_put(&f->vm.fake, stubs + 160, barrier, sizeof(barrier));
	f->barrier = stubs + 62;
	jvm_add_blob(f, "native nmethod", 6, 128);
	enter = jvm_add_blob(f, "native nmethod", 10, 256);
	f->enter_nmethod = enter;
	fake_put(&f->vm.fake, enter + 40, call, sizeof(call)); /* to itself */
	fake_put(&f->vm.fake, enter + 90, call, sizeof(call));
	jvm_put_i32(f, enter + 91, (int32_t)(int64_t)(stubs - (enter + 95)));
	f->enter_return = enter + 95;
}

/* --- the whole -------------------------------------------------------------------------------- */

static inline void jvm_put_heap(struct fake_jvm *f)
{
	struct fake_memory *fake = &f->vm.fake;

	fake_put_u64(fake, f->heap_object + 8, f->heap);
	fake_put_u64(fake, f->heap_object + 16, f->heap + JVM_RESERVED);
	fake_put_u64(fake, f->heap_object + 120 + 16, f->segmap);
	jvm_put_i32(f, f->heap_object + 256, 7);
	jvm_put_i32(f, f->heap_list + (f->release == 25 ? 16 : 0), 1);
	fake_put_u64(fake, f->heap_list + 8, f->heap_items);
	fake_put_u64(fake, f->heap_items, f->heap_object);
	fake_put_u64(fake, f->at_heaps, f->release == 8 ? f->heap_object : f->heap_list);
	fake_put_u64(fake, f->at_low, f->heap);
	fake_put_u64(fake, f->at_high, f->heap + JVM_RESERVED);
}

static inline void jvm_alloc(struct fake_jvm *f)
{
	uint64_t *const variables[] = { &f->at_code,	&f->at_heaps,	&f->at_low,
					&f->at_high,	&f->at_major,	&f->at_call_stub,
					&f->at_barrier, &f->at_enter,	&f->at_preempt,
					&f->at_threads, &f->at_version, &f->segmap };

	fake_init(&f->vm.fake);
	f->heap = fake_alloc(&f->vm.fake, JVM_HEAP_BYTES);
	f->next_block = f->heap;
	for (unsigned int i = 0; i < ARRAY_SIZE(variables); i++)
		*variables[i] = fake_alloc(&f->vm.fake, 8);
	f->queue = fake_alloc(&f->vm.fake, 48);
	f->heap_object = fake_alloc(&f->vm.fake, 264);
	f->heap_list = fake_alloc(&f->vm.fake, 24);
	f->heap_items = fake_alloc(&f->vm.fake, 64);
}

static inline void jvm_fill(struct fake_jvm *f)
{
	struct fake_memory *fake = &f->vm.fake;
	/* JDK 8 is HotSpot 25. */
	int32_t major = f->release == 8 ? 25 : (int32_t)f->release;

	f->call_stub = jvm_add_blob(f, "StubRoutines (1)", 0, 64) + 20;
	jvm_add_interpreter(f);
	if (f->release >= 21)
		jvm_add_continuations(f);
	jvm_put_heap(f);
	fake_put_u64(fake, f->at_code, f->queue);
	fake_put_u64(fake, f->at_call_stub, f->call_stub);
	fake_put_u64(fake, f->at_barrier, f->barrier);
	fake_put_u64(fake, f->at_enter, f->enter_return);
	fake_put_u64(fake, f->at_threads, 0x1000);
	fake_put_u64(fake, f->at_version, fake_string(fake, "1.2.3+4"));
	fake_put(fake, f->at_major, &major, sizeof(major));
}

/* What its VMStructs say. */
static inline void jvm_fill_tables(struct fake_jvm *f, const struct jvm_fields *fields)
{
	static const struct fake_type flag = { "Flag", 32 };
	struct fake_type types[] = { { "ConstMethod", 56 },
				     { "ConstantPool", 72 },
				     { "InterpreterCodelet", 16 },
				     { "HeapBlock", 0 },
				     { "JVMFlag", 32 },
				     { "vframeArray", f->array_bytes },
				     { "vframeArrayElement", f->element_bytes } };

	types[3].size = jvm_header(f);
	if (f->release == 8)
		types[4] = flag;
	fake_vm_fill(&f->vm, fields->items, fields->count, types, ARRAY_SIZE(types));
}

/* Memory only: its VMStructs are not open. RELEASE is 8, 17, 21 or 25. */
static inline struct fake_jvm *fake_jvm_fill(uint32_t release, bool stripped)
{
	struct fake_jvm *f = calloc(1, sizeof(*f));
	struct jvm_fields fields = { .count = 0 };

	f->release = release;
	f->stripped = stripped;
	f->array_bytes = release >= 25 ? 5160 : 5464;
	f->element_bytes = release >= 25 ? 96 : 88;
	jvm_alloc(f);
	jvm_fill(f);
	jvm_add_shape(f, &fields);
	jvm_add_statics(f, &fields);
	jvm_fill_tables(f, &fields);
	return f;
}

static inline struct fake_jvm *fake_jvm_new(uint32_t release, bool stripped)
{
	struct fake_jvm *f = fake_jvm_fill(release, stripped);

	assert_int_equal(vmstructs_open_memory(&f->vm.fake.memory, f->vm.symbols, &f->vm.vs), 0);
	return f;
}

static inline void fake_jvm_free(struct fake_jvm *f)
{
	fake_vm_release(&f->vm);
	free(f);
}

#endif
