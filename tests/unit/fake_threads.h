/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fabricated heap with threads, in the shapes of JDK 8 (chars, a chain of threads, whole references), 17 (bytes, handles,
 * narrow references and classes) and 25 (fields as a stream, compact headers).
 */
#ifndef HOSTPROF_TESTS_FAKE_THREADS_H
#define HOSTPROF_TESTS_FAKE_THREADS_H

#include "fake_vm.h"
#include "jvm/layout/jvm_layout.h"

#define OBJECT_BYTES 64
/* Of java.lang.Thread, java.lang.String. */
#define EETOP 16
#define NAME  24
#define VALUE 16
#define CODER 20
/* In the JVM's own structs. */
#define THREAD_OBJECT	8
#define THREAD_OS	16
#define THREAD_NEXT	24
#define THREAD_PENDING	776
#define THREAD_LOCKS	784 /* 80 bytes */
#define THREAD_STACK	864
#define THREAD_OWNER_ID 880
#define THREAD_VIRTUAL	904
#define THREAD_BYTES	912
#define MONITOR_OWNER	64
#define MONITOR_OBJECT	8
#define OS_TID		4
#define OS_PTHREAD	8
#define KLASS_POOL	8
#define KLASS_FIELDS	16
#define KLASS_NAME	24
#define NARROW_SHIFT	3
#define HEADER_SHIFT	42
#define CLASS_SHIFT	10
#define FLAG_BYTES	24UL
#define THREAD_ID	48
#define BLOCKER		56
#define EXCLUSIVE	12 /* of an AbstractOwnableSynchronizer */
#define GC_ACTIVE	5
#define GC_COUNT	8

struct world {
	struct fake_vm vm;
	struct jvm_layout layout;
	uint32_t release;
	bool narrow, compact, no_comp_level, no_stack_size, no_vthread, no_monitors;
	uint64_t flags, flag_array, flag_count, first_thread, list, oop_base, oop_shift, klass_base,
		klass_shift, thread_klass_at, string_klass_at, heap, heap_at;
	uint64_t thread_klass, string_klass, virtual_klass, synchronizer_klass, classes;
	uint64_t threads[4];
	unsigned int thread_count;
};

static struct world w;

static struct fake_memory *memory(void)
{
	return &w.vm.fake;
}

static inline uint64_t aligned(size_t len)
{
	memory()->used = (memory()->used + 1023) & ~(size_t)1023;
	return fake_alloc(memory(), len);
}

static inline uint64_t add_symbol(const char *text)
{
	uint64_t symbol = fake_alloc(memory(), 16 + strlen(text));

	fake_put_u16(memory(), symbol + 4, (uint16_t)strlen(text));
	fake_put(memory(), symbol + 6, text, strlen(text));
	return symbol;
}

static inline void put_symbol(uint64_t pool, unsigned int index, const char *text)
{
	fake_put_u64(memory(), pool + w.layout.pool_bytes + 8ULL * index, add_symbol(text));
}

struct field {
	const char *name, *signature;
	uint32_t offset;
	bool initialized; /* has one more number in a stream */
};

/* Numbers below 191 take a byte each. */
static inline uint64_t add_stream(const struct field *fields, unsigned int count)
{
	uint8_t bytes[64], *at = bytes;
	uint32_t len;
	uint64_t array;

	*at++ = (uint8_t)(count + 1);
	*at++ = 1;
	for (unsigned int i = 0; i < count; i++) {
		const uint8_t field[] = { (uint8_t)(2 * i + 1), (uint8_t)(2 * i + 2),
					  (uint8_t)fields[i].offset, 0, fields[i].initialized };

		for (unsigned int k = 0; k < sizeof(field); k++)
			*at++ = (uint8_t)(field[k] + 1);
		if (fields[i].initialized)
			*at++ = 77;
	}
	len = (uint32_t)(at - bytes);
	array = fake_alloc(memory(), 4 + len);
	fake_put(memory(), array, &len, 4);
	fake_put(memory(), array + 4, bytes, len);
	return array;
}

static inline uint64_t add_slots(const struct field *fields, unsigned int count)
{
	uint16_t slots[6 * 8];
	uint32_t len = 6 * count;
	uint64_t array = fake_alloc(memory(), 4 + 2ULL * len);

	for (unsigned int i = 0; i < count; i++) {
		const uint16_t slot[] = { 0,
					  (uint16_t)(2 * i + 1),
					  (uint16_t)(2 * i + 2),
					  0,
					  (uint16_t)(fields[i].offset << 2 | 1),
					  0 };

		memcpy(slots + 6 * i, slot, sizeof(slot));
	}
	fake_put(memory(), array, &len, 4);
	fake_put(memory(), array + 4, slots, 2ULL * len);
	return array;
}

static inline uint64_t add_klass(const struct field *fields, unsigned int count)
{
	uint64_t klass = aligned(64), pool = fake_alloc(memory(), w.layout.pool_bytes + 256);

	fake_put_u64(memory(), klass + KLASS_POOL, pool);
	for (unsigned int i = 0; i < count; i++) {
		put_symbol(pool, 2 * i + 1, fields[i].name);
		put_symbol(pool, 2 * i + 2, fields[i].signature);
	}
	fake_put_u64(memory(), klass + KLASS_FIELDS,
		     w.release >= 21 ? add_stream(fields, count) : add_slots(fields, count));
	return klass;
}

static inline void put_reference(uint64_t at, uint64_t object)
{
	uint32_t narrow = (uint32_t)((object - FAKE_BASE) >> NARROW_SHIFT);

	if (w.narrow)
		fake_put(memory(), at, &narrow, 4);
	else
		fake_put_u64(memory(), at, object);
}

static inline uint64_t add_object(uint64_t klass)
{
	uint64_t object = fake_alloc(memory(), OBJECT_BYTES);
	uint32_t narrow = (uint32_t)((klass - FAKE_BASE) >> CLASS_SHIFT);

	if (w.compact)
		fake_put_u64(memory(), object, (uint64_t)narrow << HEADER_SHIFT | 5);
	else if (w.narrow)
		fake_put(memory(), object + 8, &narrow, 4);
	else
		fake_put_u64(memory(), object + 8, klass);
	return object;
}

/* LEN bytes or, of WIDTH 2, half as many chars. */
static inline uint64_t add_string(const void *chars, uint32_t len, unsigned int width)
{
	const unsigned int length_at = w.compact ? 8 : w.narrow ? 12 : 16;
	const unsigned int data_at = w.narrow ? length_at + 4 : 24;
	uint64_t string = add_object(w.string_klass), array = fake_alloc(memory(), 32 + len);
	uint8_t coder = width == 2;
	uint32_t count = w.release == 8 ? len / 2 : len;

	fake_put(memory(), array + length_at, &count, 4);
	fake_put(memory(), array + data_at, chars, len);
	put_reference(string + VALUE, array);
	if (w.release > 8)
		fake_put(memory(), string + CODER, &coder, 1);
	return string;
}

static inline uint64_t add_thread(int32_t tid, uint64_t name)
{
	uint64_t thread = fake_alloc(memory(), THREAD_BYTES), os = fake_alloc(memory(), 16);
	uint64_t object = add_object(w.thread_klass);

	fake_put(memory(), os + OS_TID, &tid, 4);
	fake_put_u64(memory(), thread + THREAD_OS, os);
	fake_put_u64(memory(), thread + THREAD_OBJECT,
		     w.release == 8 ? object : fake_add(memory(), &object, 8));
	fake_put_u64(memory(), object + EETOP, thread);
	if (name)
		put_reference(object + NAME, name);
	fake_put_u64(memory(), object + THREAD_ID, 1000 + (uint64_t)tid);
	w.threads[w.thread_count++] = thread;
	return object;
}

static inline void put_flag(const char *name, uint8_t value)
{
	uint64_t count, at;

	memcpy(&count, memory()->bytes + (w.flag_count - FAKE_BASE), 8);
	at = w.flag_array + count * FLAG_BYTES;
	fake_put_u64(memory(), at, fake_add(memory(), &value, 1));
	fake_put_u64(memory(), at + 8, fake_string(memory(), name));
	fake_put_u64(memory(), w.flag_count, count + 1);
}

/* What VMStructs will tell. */
struct told {
	struct fake_field fields[64];
	size_t count;
};

static inline void tell(struct told *told, const struct fake_field *fields, size_t count)
{
	assert_true(told->count + count <= ARRAY_SIZE(told->fields));
	memcpy(told->fields + told->count, fields, count * sizeof(*fields));
	told->count += count;
}

static inline void tell_references(struct told *told)
{
	const char *const universe = w.release == 8 ? "Universe" : "CompressedOops";
	const char *const klasses = w.release == 8 ? "Universe" : "CompressedKlassPointers";
	const bool is_new = w.release >= 24;
	const struct fake_field fields[] = {
		{ "JVMFlag", "_addr", 0, 0 },
		{ "JVMFlag", "_name", 8, 0 },
		{ "JVMFlag", "flags", w.flags, 1 },
		{ "JVMFlag", "numFlags", w.flag_count, 1 },
		{ universe, is_new ? "_base" : "_narrow_oop._base", w.oop_base, 1 },
		{ universe, is_new ? "_shift" : "_narrow_oop._shift", w.oop_shift, 1 },
		{ klasses, is_new ? "_base" : "_narrow_klass._base", w.klass_base, 1 },
		{ klasses, is_new ? "_shift" : "_narrow_klass._shift", w.klass_shift, 1 },
	};

	tell(told, fields, ARRAY_SIZE(fields));
}

static inline void tell_classes(struct told *told)
{
	const char *const known = w.release == 8 ? "SystemDictionary" : "vmClasses";
	const struct fake_field fields[] = {
		{ known,
		  w.release == 8 ? "_well_known_klasses[SystemDictionary::Thread_klass_knum]"
				 : "_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]",
		  w.thread_klass_at, 1 },
		{ known,
		  w.release == 8 ? "_well_known_klasses[SystemDictionary::String_klass_knum]"
				 : "_klasses[static_cast<int>(vmClassID::String_klass_knum)]",
		  w.string_klass_at, 1 },
		{ "vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]",
		  w.classes, 1 },
		{ "InstanceKlass", "_constants", KLASS_POOL, 0 },
		{ "InstanceKlass", w.release >= 21 ? "_fieldinfo_stream" : "_fields", KLASS_FIELDS,
		  0 },
		{ "Klass", "_primary_supers[0]", 48, 0 },
		{ "Array<int>", "_length", 0, 0 },
		{ "Array<u1>", "_data", 4, 0 },
		{ "Array<u2>", "_data", 4, 0 },
		{ "Universe", "_collectedHeap", w.heap_at, 1 },
		{ "CollectedHeap", w.release >= 21 ? "_is_stw_gc_active" : "_is_gc_active",
		  GC_ACTIVE, 0 },
		{ "CollectedHeap", "_total_collections", GC_COUNT, 0 },
	};

	tell(told, fields, ARRAY_SIZE(fields));
}

static inline void tell_threads(struct told *told)
{
	const struct fake_field fields[] = {
		{ "JavaThread", w.release == 8 ? "_threadObj:oop" : "_threadObj:OopHandle",
		  THREAD_OBJECT, 0 },
		{ w.release >= 25 ? "Thread" : "JavaThread", "_osthread", THREAD_OS, 0 },
		{ "OSThread", "_thread_id", OS_TID, 0 },
		{ "OSThread", "_pthread_id", OS_PTHREAD, 0 },
		{ "JavaThread", "_next", THREAD_NEXT, 0 },
		{ "ThreadsList", "_length", 4, 0 },
		{ "ThreadsList", "_threads", 16, 0 },
		{ "JavaThread", w.no_vthread ? "_another" : "_vthread", THREAD_VIRTUAL, 0 },
		{ "JavaThread", "_stack_base", THREAD_STACK, 0 },
		{ "JavaThread", w.no_stack_size ? "_other" : "_stack_size", THREAD_STACK + 8, 0 },
		{ w.release == 8 ? "Threads" : "ThreadsSMRSupport",
		  w.release == 8 ? "_thread_list" : "_java_thread_list", w.first_thread, 1 },
	};

	tell(told, fields, ARRAY_SIZE(fields));
}

static inline void tell_compiler(struct told *told)
{
	const struct fake_field fields[] = {
		{ "CompilerThread", "_env", 2016, 0 },
		{ "ciEnv", "_task", 112, 0 },
		{ "CompileTask", "_method", 8, 0 },
		{ "CompileTask", "_osr_bci", 24, 0 },
		{ "CompileTask", w.no_comp_level ? "_other_level" : "_comp_level", 40, 0 },
		{ "CompileTask", "_compile_id", 16, 0 },
	};

	tell(told, fields, ARRAY_SIZE(fields));
}

static inline void tell_locks(struct told *told)
{
	const struct fake_field fields[] = {
		{ w.release == 8 ? "Thread" : "JavaThread",
		  w.no_monitors ? "_else" : "_current_pending_monitor", THREAD_PENDING, 0 },
		{ "ObjectMonitor", "_owner", MONITOR_OWNER, 0 },
		{ "ObjectMonitor", "_object", MONITOR_OBJECT, 0 },
		{ "JavaThread", w.release >= 24 ? "_monitor_owner_id" : "_no_owner_id",
		  THREAD_OWNER_ID, 0 },
		{ "JavaThread", w.release >= 21 ? "_lock_stack" : "_no_lock_stack", THREAD_LOCKS,
		  0 },
		{ "LockStack", "_top", 0, 0 },
		{ "LockStack", "_base[0]", 16, 0 },
	};

	tell(told, fields, ARRAY_SIZE(fields));
}

static inline void open_vm(void)
{
	const struct fake_type types[] = { { "JVMFlag", FLAG_BYTES } };
	const struct fake_type ints[] = { { "FieldInfo::FieldFlags::_ff_initialized", 0 },
					  { "markWord::klass_shift", HEADER_SHIFT } };
	struct told told = { .count = 0 };

	tell_references(&told);
	tell_classes(&told);
	tell_threads(&told);
	tell_compiler(&told);
	tell_locks(&told);
	fake_vm_fill(&w.vm, told.fields, told.count, types, ARRAY_SIZE(types));
	fake_vm_add_pairs(&w.vm, VM_INTS, ints, ARRAY_SIZE(ints));
	assert_int_equal(vmstructs_open_memory(&memory()->memory, w.vm.symbols, &w.vm.vs), 0);
}

/* The JVM of RELEASE without threads. */
static inline void begin(uint32_t release)
{
	static const struct field thread_fields[] = {
		{ "other", "J", 40, true },
		{ "name", "I", 44, false },
		{ "eetop", "J", EETOP, false },
		{ "name", "Ljava/lang/String;", NAME, false },
		{ "tid", "J", THREAD_ID, false },
		{ "parkBlocker", "Ljava/lang/Object;", BLOCKER, false }
	};
	static const struct field synchronizer_fields[] = {
		{ "exclusiveOwnerThread", "Ljava/lang/Thread;", EXCLUSIVE, false }
	};
	struct field string_fields[] = { { "value", release == 8 ? "[C" : "[B", VALUE, false },
					 { "coder", "B", CODER, false } };
	const uint32_t shift = NARROW_SHIFT, class_shift = CLASS_SHIFT;
	const uint64_t base = FAKE_BASE;

	memset(&w, 0, sizeof(w));
	fake_init(memory());
	fake_alloc(memory(), 8); /* nothing lies at the base */
	w.release = release;
	w.narrow = release > 8;
	w.compact = release == 25;
	w.layout = (struct jvm_layout){ .feature_release = release,
					.pool_bytes = 64,
					.klass_name = KLASS_NAME,
					.symbol_length = 4,
					.symbol_body = 6,
					.unsigned5_bias = release >= 20 };
	w.flag_array = fake_alloc(memory(), 8 * FLAG_BYTES);
	w.flags = fake_add(memory(), &w.flag_array, 8);
	w.flag_count = fake_alloc(memory(), 8);
	w.oop_base = fake_add(memory(), &base, 8);
	w.oop_shift = fake_add(memory(), &shift, 4);
	w.klass_base = fake_add(memory(), &base, 8);
	w.klass_shift = fake_add(memory(), &class_shift, 4);
	w.first_thread = fake_alloc(memory(), 8);
	w.heap = fake_alloc(memory(), 16);
	w.heap_at = fake_add(memory(), &w.heap, 8);
	w.thread_klass = add_klass(thread_fields, ARRAY_SIZE(thread_fields));
	w.string_klass = add_klass(string_fields, release == 8 ? 1 : 2);
	w.thread_klass_at = fake_add(memory(), &w.thread_klass, 8);
	w.string_klass_at = fake_add(memory(), &w.string_klass, 8);
	w.virtual_klass = add_klass(NULL, 0);
	fake_put_u64(memory(), w.virtual_klass + KLASS_NAME, add_symbol("java/lang/VirtualThread"));
	w.synchronizer_klass = add_klass(synchronizer_fields, ARRAY_SIZE(synchronizer_fields));
	fake_put_u64(memory(), w.synchronizer_klass + KLASS_NAME,
		     add_symbol("java/util/concurrent/locks/AbstractOwnableSynchronizer"));
	w.classes = fake_alloc(memory(), 192 * 8);
	fake_put_u64(memory(), w.classes + 101 * 8, w.synchronizer_klass);
	fake_put_u64(memory(), w.classes + 100 * 8, w.virtual_klass);
	put_flag("UseCompressedOops", w.narrow);
	put_flag("UseCompressedClassPointers", w.narrow);
	put_flag("UseCompactObjectHeaders", w.compact);
}

/* What was added since begin() is listed from now on. */
static inline void list_threads(void)
{
	uint64_t list = fake_alloc(memory(), 32);
	uint64_t array = fake_add(memory(), w.threads, sizeof(w.threads));

	fake_put(memory(), list + 4, &w.thread_count, 4);
	fake_put_u64(memory(), list + 16, array);
	fake_put_u64(memory(), w.first_thread, w.release == 8 ? w.threads[0] : list);
	for (unsigned int i = 0; w.release == 8 && i + 1 < w.thread_count; i++)
		fake_put_u64(memory(), w.threads[i] + THREAD_NEXT, w.threads[i + 1]);
}

static inline uint64_t word_at(uint64_t address)
{
	uint64_t value;

	memcpy(&value, memory()->bytes + (address - FAKE_BASE), sizeof(value));
	return value;
}

/* Thread WHICH becomes another one's. */
static inline void put_tid(unsigned int which, int32_t tid)
{
	fake_put(memory(), word_at(w.threads[which] + THREAD_OS) + OS_TID, &tid, sizeof(tid));
}

/* So many collections have ended. */
static inline void collect(uint32_t count)
{
	fake_put(memory(), w.heap + GC_COUNT, &count, 4);
}

static inline bool has_read(const struct vm_span *spans, unsigned int count, const char *text)
{
	for (unsigned int i = 0; i < count; i++)
		if (spans[i].len == strlen(text) && !memcmp(spans[i].data, text, spans[i].len))
			return true;
	return false;
}

#endif
