/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of symbolize/ share: the symbolizer's state and the stack being built. */
#ifndef HOSTPROF_SYMBOLIZE_SYMBOLIZER_PRIVATE_H
#define HOSTPROF_SYMBOLIZE_SYMBOLIZER_PRIVATE_H

#include "base/cache/lru.h"
#include "base/hmap.h"
#include "base/worker.h"
#include "elf/go/go_frames.h"
#include "jvm/jvm.h"
#include "symbolize/kernel.h"
#include "symbolize/perf_map.h"
#include "symbolize/source.h"
#include "symbolize/symbolizer.h"
#include "symbolize/words/sample_words.h"
#include "symbolize/words/stack_tails.h"

/* What was resolved of one process generation. */
struct process_cache {
	struct attachment attachment;
	uint64_t mappings_serial;  /* that frames and stacks hold for */
	uint64_t touched_serial;   /* mappings_serial + 1 whose files were opened */
	uint64_t open_again_ns;	   /* not before, if they are many */
	struct lru images;	   /* hash of a file's key and path → image, a reference */
	struct lru frames;	   /* a query's key → frames; none that time changes */
	struct lru stacks;	   /* hash of a raw stack → stack id; the same */
	struct lru settled;	   /* likewise, by an agent's code map since its last change */
	uint64_t code_changes;	   /* which is this one */
	uint64_t tails_owner;	   /* of its threads' last stacks; 0: none are kept */
	struct lru pages;	   /* of code, whose file a worker was asked to read */
	bool has_code_map;	   /* of an agent: then time decides what compiled code is */
	struct perf_map *perf_map; /* owned; NULL: none */
	struct perf_map *jit_dump; /* the same */
	uint64_t next_perf_map_ns; /* when to look for them again */
};

struct symbolizer {
	struct image_cache *images;    /* borrowed */
	struct jvm_table *jvms;	       /* borrowed */
	struct worker_pool *pool;      /* borrowed; NULL: nothing is read beside */
	struct kernel_symbols *kernel; /* owned; NULL until they were read, or on failure */
	struct kernel_symbols
		*kernel_data; /* owned; NULL until its variables were read, or on failure */
	bool kernel_asked, kernel_read, kernel_data_asked;
	bool jvm_frames; /* of allocations they stay */
	struct err kernel_err;
	struct image *vdso;	      /* borrowed */
	struct book processes;	      /* struct process_cache, owned */
	struct hmap image_mappings;   /* image_number() → mapping id */
	struct lru kernel_frames;     /* address → frames */
	VEC(uint32_t) haskell;	      /* mapping ids: symbolize/own_stack.c */
	uint32_t jit_mapping;	      /* mapping id of "[JIT]", PROFILE_NONE: not made yet */
	VEC(uint32_t) frames;	      /* the stack being built, leaf first */
	VEC(struct stack_mark) marks; /* of it */
	struct stack_tails tails;
	uint64_t last_owner;	 /* of them */
	struct answer answer;	 /* of the source that is being asked */
	struct java_answer java; /* scratch */
	struct go_frames go;	 /* the same */
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
	bool by_code_map;  /* but for those that depend on an agent's code map */
	bool settled;	   /* which since then has not changed */
	bool unnamed_tail; /* the last frame pushed is file code without a symbol */
	bool may_wait;	   /* for files to be parsed: then */
	bool waits;	   /* one is missing yet, and no stack is made */
	bool is_early;	   /* its turn comes later, and with it another look */
	bool is_raw;	   /* nothing is known of the process: addresses as they are */
};

/* The cache of this generation with this set of mappings: what was found by others may be wrong. */
struct process_cache *symbolizer_get_cache(struct symbolizer *symbolizer, struct process *process);

/* symbolize/symbolizer_arrive.c: what is asked about a frame. */
struct symbol_query user_word_query(const struct user_word *word);

/* symbolize/symbolizer_push.c: append a frame to the stack; returns its id. */
uint32_t stack_push(struct stack_build *build, const struct profile_frame *frame);
/* Append a frame that the profile has. */
void stack_push_known(struct stack_build *build, uint32_t id);
/* A frame that is only a name: marks, pseudo files. MAPPING: id or PROFILE_NONE. */
uint32_t stack_push_name(struct stack_build *build, const char *name, enum frame_kind kind,
			 uint32_t mapping);

/* The frames of the first source that has any, else what is known instead. */
void stack_push_answer(struct stack_build *build, struct symbol_query *query);
/* For the caches of frames: what goes. */
lru_drop_fn kept_frames_drop;

/* symbolize/kernel_frame.c: their symbols begin to be read. */
void kernel_ask(struct symbolizer *symbolizer);
symbol_find_fn kernel_find;

/*
 * symbolize/process_files.c: of every mapping that was not looked at yet the file is opened, while it can be. And those that
 * USER has frames of begin to be parsed: until its turn comes a worker can have read several.
 */
void process_files_open(struct symbolizer *symbolizer, struct process_cache *cache,
			struct process *process);
void process_files_read(struct symbolizer *symbolizer, struct process_cache *cache,
			struct process *process, struct word_reader user);

/* symbolize/native.c: the image behind a mapping, opened if need be; NULL when it is no file. */
struct image *mapping_get_image(struct symbolizer *symbolizer, struct process_cache *cache,
				uint32_t pid, const struct mapping *mapping);
/* Has it been opened for this process before? */
bool mapping_has_image(struct process_cache *cache, const struct mapping *mapping);
/* What maps QUERY's address, looked up once whichever sources ask. */
void query_locate(struct stack_build *build, struct symbol_query *query);
/* An address of a process of which nothing is known; code of a file or of the vDSO; of another JIT; memory. */
symbol_find_fn native_find_raw;
symbol_find_fn native_find_file;
symbol_find_fn native_find_perf_map;
symbol_find_fn native_find_memory;

/* symbolize/java.c: by an agent's code map; compiled and interpreted methods from outside. */
symbol_find_fn java_find_code;
symbol_find_fn java_find_compiled;
symbol_find_fn java_find_interpreted;
uint32_t jit_mapping_id(struct stack_build *build);

/*
 * symbolize/allocation.c: of an allocation the class, before the user frames; and behind them, when all are
 * there, what the JVM did for it goes, from the frame at index FIRST on.
 */
void allocation_push_class(struct stack_build *build, const struct wire_sample *sample);
void allocation_drop_jvm_frames(struct stack_build *build, size_t first);

/*
 * symbolize/own_stack.c: what the stack is called that a runtime keeps the frames of its own code on, in which the walk has
 * ended; NULL: it is none that is known.
 */
const char *own_stack_of(const struct stack_build *build);

/*
 * symbolize/shown.c: what is no code of the thread. WORDS: WIRE_FRAME_RECEIVER's; and where USER has one, what the thread
 * compiles.
 */
void shown_push_receiver(struct stack_build *build, const uint64_t *words);
void shown_push_compiling(struct stack_build *build, struct word_reader user);
/* Of -e jit the method that was compiled, before all frames. */
void shown_push_compiled(struct stack_build *build, const struct wire_sample *sample);
/* Of -e classload the class, likewise. */
void shown_push_loaded(struct stack_build *build, const struct wire_sample *sample);
/* Of -e gc the operation, likewise. */
void shown_push_pause(struct stack_build *build, const struct wire_sample *sample);

/*
 * symbolize/waits/wait.c: the kernel's frames of a switch itself go, those of the wake-up of SAMPLE's waker, and those that tell us of SAMPLE,
 * where it has a cause.
 */
void wait_drop_tracing(struct stack_build *build, const struct wire_sample *sample);

/* symbolize/vdso.c: the vDSO of this kernel as an image; NULL when there is none. */
struct image *vdso_image(struct symbolizer *symbolizer);

#endif
