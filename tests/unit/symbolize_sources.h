/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, kernel symbols, perf maps and a JVM that the test makes up, in place of the library's. A
 * function is 0x100 bytes long and its name says where: "f3" at 0x300. Included once per test.
 */
#ifndef HOSTPROF_TESTS_SYMBOLIZE_SOURCES_H
#define HOSTPROF_TESTS_SYMBOLIZE_SOURCES_H

#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "elf/go/go_frames.h"
#include "elf/image.h"
#include "fake_clock.h"
#include "jvm/jvm.h"
#include "process/mappings.h"
#include "symbolize/kernel.h"
#include "symbolize/perf_map.h"

struct image {
	enum image_state state;
	const char *path, *build_id;
	uint64_t start, limit; /* of its text; limit 0: not ELF */
	uint64_t bias;	       /* address minus offset */
	bool cpp;
	uint64_t
		bounded; /* functions without names are 0x100 bytes long up to here, 0: nobody says */
	uint64_t go;	 /* Go's tables name what is below, of two frames each */
	unsigned int opens, loads, finds, refs;
};

struct jvm {
	uint64_t code_start, code_end;
	bool has_code_map;
	enum java_lookup of_code, of_compiled, of_interpreted; /* answers */
	uint64_t told_class;				       /* has a name, as 7 has */
	unsigned int inlined;				       /* methods at every address */
	const char *method;
	unsigned int asked_code, asked_compiled, asked_interpreted, asked_receivers;
	uint64_t asked_ns;
};

static struct {
	struct image images[8]; /* by inode */
	bool unseen;		/* nobody knows yet which files are behind mappings */
	unsigned int seen;	/* that was said of so many */
	struct jvm jvm;
	bool is_jvm;
	int kernel;
	unsigned int kernel_reads, data_reads;
	const char *perf_map; /* the name that it gives; NULL: there is none */
	unsigned int perf_map_opens, jit_dump_opens;
	const char *jit_dump; /* the same of a dump, and only of addresses with bit 8 */
} parts;

/* --- elf/ --- */

struct image *image_cache_open(struct image_cache *cache, const struct file_key *key, uint32_t pid,
			       uint64_t start, uint64_t end, const char *path)
{
	struct image *image = &parts.images[key->inode % ARRAY_SIZE(parts.images)];

	(void)cache;
	assert_true(pid && start < end);
	image->path = path;
	image->opens++;
	if (image->state == IMAGE_DROPPED)
		image->state = IMAGE_NEW;
	return image;
}

bool image_cache_has_seen(const struct image_cache *cache, const struct file_key *key, uint32_t pid,
			  uint64_t start, uint64_t end, const char *path)
{
	(void)cache, (void)key, (void)path;
	assert_true(pid && start < end);
	return !parts.unseen;
}

struct image *image_cache_open_seen(struct image_cache *cache, const struct file_key *key,
				    uint32_t pid, uint64_t start, uint64_t end, const char *path,
				    const struct file_id *seen)
{
	parts.seen += seen && seen->inode == key->inode;
	return image_cache_open(cache, key, pid, start, end, path);
}

struct image *image_want(struct image *image)
{
	image->refs++;
	return image;
}

void image_unwant(struct image *image)
{
	assert_true(image->refs > 0);
	image->refs--;
}

uint64_t image_number(const struct image *image)
{
	return (uint64_t)(image - parts.images) + 1;
}

struct image *image_cache_add_memory(struct image_cache *cache, const char *name, const void *data,
				     size_t len)
{
	struct image *image = &parts.images[7];

	(void)cache;
	assert_true(data && len);
	image->path = name;
	image->opens++;
	return image;
}

void image_load(struct image_cache *cache, struct image *image)
{
	(void)cache;
	image->loads++;
	image->state = IMAGE_LOADING;
}

enum image_state image_state(const struct image *image)
{
	return image->state;
}

const char *image_path(const struct image *image)
{
	return image->path;
}

const char *image_build_id(const struct image *image)
{
	return image->build_id ? image->build_id : "";
}

void image_text_range(const struct image *image, uint64_t *ret_start, uint64_t *ret_limit,
		      uint64_t *ret_offset)
{
	*ret_start = image->start;
	*ret_limit = image->limit;
	*ret_offset = image->start - image->bias;
}

bool image_offset_to_address(const struct image *image, uint64_t offset, uint64_t *ret_address)
{
	*ret_address = offset + image->bias;
	return image->state == IMAGE_READY && image->limit;
}

bool image_find_symbol(struct image *image, uint64_t address, struct elf_symbol *ret_symbol)
{
	static char name[32];

	image->finds++;
	snprintf(name, sizeof(name), "f%" PRIx64, address >> 8);
	*ret_symbol = (struct elf_symbol){ .name = name, .cpp = image->cpp };
	return address >= image->start && address < image->limit;
}

bool image_find_go(struct image *image, uint64_t address, struct go_frames *ret_frames)
{
	if (address >= image->go)
		return false;
	*ret_frames = (struct go_frames){ .count = 2,
					  .text_bytes = 20,
					  .frame = { { 0, 6, 21 }, { 11, 6, 22 } } };
	memcpy(ret_frames->text, "inner\0g.go\0main.run", 20);
	return true;
}

bool image_find_function(struct image *image, uint64_t address, uint64_t *ret_start)
{
	*ret_start = address & ~0xffULL;
	return address < image->bounded;
}

/* --- kernel --- */

#define KERNEL	0xffffffff81000000ULL
#define TRACING 0xe00

struct kernel_symbols {
	int unused;
};

int kernel_symbols_new_data(struct kernel_symbols **ret_symbols, struct err *err)
{
	static struct kernel_symbols symbols;

	parts.data_reads++;
	if (parts.kernel)
		return err_set(err, parts.kernel, "hidden");
	*ret_symbols = &symbols;
	return 0;
}

const char *kernel_symbols_at(const struct kernel_symbols *symbols, uint64_t address)
{
	assert_non_null(symbols);
	return address == KERNEL ? "variable" : NULL;
}

int kernel_symbols_new(struct kernel_symbols **ret_symbols, struct err *err)
{
	static struct kernel_symbols symbols;

	parts.kernel_reads++;
	if (parts.kernel)
		return err_set(err, parts.kernel, "hidden");
	*ret_symbols = &symbols;
	return 0;
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	(void)symbols;
}

bool kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
			 const char **ret_name, const char **ret_module)
{
	static char name[32];

	(void)symbols;
	/* The pages from TRACING on are those of a tracepoint's program and of who calls it, and of a switch. */
	static const char *const tracing[] = { "bpf_prog_1_ours", "bpf_trace_run2",
					       "__bpf_trace_x",	  "__traceiter_x",
					       "bpf_trampoline_", "__schedule" };
	uint64_t page = address >> 8 & 0xfff;

	if (page >= TRACING && page < TRACING + ARRAY_SIZE(tracing))
		snprintf(name, sizeof(name), "%s", tracing[page - TRACING]);
	else
		snprintf(name, sizeof(name), "k%" PRIx64, page);
	*ret_name = name;
	*ret_module = address & 0x10000000 ? "ext4" : "kernel";
	return true;
}

const char *kernel_symbols_build_id(const struct kernel_symbols *symbols)
{
	(void)symbols;
	return "c0ffee";
}

/* --- perf maps --- */

struct perf_map *perf_map_open(uint32_t pid)
{
	assert_true(pid);
	parts.perf_map_opens++;
	return parts.perf_map ? xcalloc(1, 1) : NULL;
}

bool perf_map_is_dump(const char *path)
{
	return strcmp(path, "/tmp/jit-7.dump") == 0;
}

struct perf_map *perf_map_open_dump(uint32_t pid, const struct mapping *mapping)
{
	assert_true(pid);
	assert_true(perf_map_is_dump(mapping->path));
	parts.jit_dump_opens++;
	return parts.jit_dump ? memset(xcalloc(1, 1), 1, 1) : NULL;
}

void perf_map_free(struct perf_map *map)
{
	free(map);
}

const char *perf_map_find(struct perf_map *map, uint64_t address)
{
	assert_non_null(map);
	if (*(const char *)map)
		return address & 0x100 ? parts.jit_dump : NULL;
	return address & 0x800 ? NULL : parts.perf_map;
}

/* --- jvm/ --- */

const char *jvm_find_class(struct jvm *jvm, uint64_t klass)
{
	(void)jvm;
	return klass == 0x7000 ? "a.Outside" : NULL;
}

const char *jvm_receiver_class(struct jvm *jvm, const uint64_t words[WIRE_RECEIVER_WORDS])
{
	jvm->asked_receivers++;
	return words[1] == 0x7000 && words[2] == 9 ? "a.Called" : NULL;
}

const char *jvm_class_name(const struct jvm *jvm, uint64_t class_id)
{
	return class_id == 7 || class_id == jvm->told_class ? "byte[]" : NULL;
}

bool jvm_has_code_map(const struct jvm *jvm)
{
	return jvm->has_code_map;
}

bool jvm_code_is_settled(const struct jvm *jvm, uint64_t time_ns, uint64_t *ret_changes)
{
	(void)jvm, (void)time_ns, (void)ret_changes;
	return false;
}

static inline struct java_frame java_frame_of(const struct jvm *jvm, bool inlined)
{
	return (struct java_frame){ .class_name = "p.C",
				    .method = jvm->method ? jvm->method : "m",
				    .source = "C.java",
				    .line = inlined ? 7 : 70,
				    .bci = inlined ? 3 : 30,
				    .inlined = inlined };
}

enum java_lookup jvm_find_code(struct jvm *jvm, uint64_t address, uint64_t time_ns,
			       struct java_answer *ret_answer)
{
	if (address < jvm->code_start || address >= jvm->code_end)
		return JAVA_ELSEWHERE;
	jvm->asked_code++;
	jvm->asked_ns = time_ns;
	ret_answer->stub = "stub";
	ret_answer->count = jvm->inlined + 1;
	for (unsigned int i = 0; i <= jvm->inlined; i++)
		ret_answer->frames[i] = java_frame_of(jvm, i < jvm->inlined);
	return jvm->of_code;
}

enum java_lookup jvm_find_interpreted(struct jvm *jvm, const uint64_t words[WIRE_INTERPRETED_WORDS],
				      struct java_answer *ret_answer)
{
	(void)words;
	jvm->asked_interpreted++;
	ret_answer->count = 1;
	ret_answer->frames[0] = java_frame_of(jvm, false);
	return jvm->of_interpreted;
}

void jvm_meet_compiled(struct jvm *jvm, const uint64_t *const words[], unsigned int count)
{
	(void)words;
	jvm->asked_compiled += count;
}

enum java_lookup jvm_find_compiled(struct jvm *jvm, const uint64_t words[WIRE_COMPILED_WORDS],
				   struct java_answer *ret_answer)
{
	(void)words;
	jvm->asked_compiled++;
	ret_answer->stub = "blob";
	ret_answer->count = 1;
	ret_answer->frames[0] = java_frame_of(jvm, false);
	return jvm->of_compiled;
}

#endif
