/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of symbolize/ share: the symbolizer's state and the stack being built. */
#ifndef HOSTPROF_SYMBOLIZE_SYMBOLIZER_PRIVATE_H
#define HOSTPROF_SYMBOLIZE_SYMBOLIZER_PRIVATE_H

#include "base/hmap.h"
#include "jvm/jvm.h"
#include "symbolize/kernel.h"
#include "symbolize/perf_map.h"
#include "symbolize/symbolizer.h"

/* What was resolved of one process generation. */
struct process_cache {
	struct attachment attachment;
	uint64_t mappings_serial;  /* that frames and stacks hold for */
	uint64_t touched_serial;   /* mappings_serial + 1 whose files were opened */
	struct hmap images;	   /* hash of a file's key and path → image, borrowed */
	struct hmap frames;	   /* user address and exactness → frame id; no JIT code */
	struct hmap code;	   /* hash of a compiled frame's words → frame id */
	struct hmap stacks;	   /* hash of a raw stack → stack id; none that time changes */
	bool has_code_map;	   /* of an agent: then time decides what compiled code is */
	struct perf_map *perf_map; /* owned; NULL: none */
	uint64_t next_perf_map_ns; /* when to look for one again */
};

struct symbolizer {
	struct image_cache *images;    /* borrowed */
	struct jvm_table *jvms;	       /* borrowed, may be NULL */
	struct kernel_symbols *kernel; /* owned; NULL until the first kernel frame, or on failure */
	bool kernel_tried;
	struct err kernel_err;
	struct image *vdso;	    /* borrowed */
	struct book processes;	    /* struct process_cache, owned */
	struct hmap image_mappings; /* image → mapping id */
	struct hmap kernel_frames;  /* address → frame id */
	uint32_t jit_mapping;	    /* mapping id of "[JIT]", PROFILE_NONE: not made yet */
	VEC(uint32_t) frames;	    /* the stack being built, leaf first */
};

/* One stack on its way from words to frames. */
struct stack_build {
	struct symbolizer *symbolizer;
	struct profile *profile;
	struct process *process;
	struct process_cache *cache;
	struct jvm *jvm; /* NULL: no JVM */
	uint64_t time_ns;
	bool cacheable;	   /* no frame of it depends on the time */
	bool unnamed_tail; /* the last frame pushed is file code without a symbol */
};

/* Append a frame to the stack; returns its id. */
uint32_t stack_push(struct stack_build *build, const struct profile_frame *frame);
/* Append a frame that the profile has. */
void stack_push_known(struct stack_build *build, uint32_t id);
/* A frame that is only a name: marks, pseudo files. MAPPING: id or PROFILE_NONE. */
uint32_t stack_push_name(struct stack_build *build, const char *name, enum frame_kind kind,
			 uint32_t mapping);

/* symbolize/kernel_frame.c */
void kernel_push(struct stack_build *build, uint64_t address);

/* symbolize/native.c: the image behind a mapping, opened if need be; NULL when it is no file. */
struct image *mapping_get_image(struct symbolizer *symbolizer, struct process_cache *cache,
				uint32_t pid, const struct mapping *mapping);
/* Code of a file, of the vDSO, of another JIT, or of nothing known. */
void native_push(struct stack_build *build, uint64_t address, uint64_t cache_key);

/* symbolize/java.c: false when ADDRESS is none of the JVM's code. */
bool java_push_code(struct stack_build *build, uint64_t address);
void java_push_compiled(struct stack_build *build, const uint64_t words[WIRE_COMPILED_WORDS],
			uint64_t address);
void java_push_interpreted(struct stack_build *build, const uint64_t words[WIRE_INTERPRETED_WORDS]);
uint32_t jit_mapping_id(struct stack_build *build);

/* symbolize/vdso.c: the vDSO of this kernel as an image; NULL when there is none. */
struct image *vdso_image(struct symbolizer *symbolizer);

#endif
