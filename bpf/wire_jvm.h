/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * One JVM as the step functions see it: where its code lies and how its code blobs and frames are
 * laid out. Made by userspace from the JVM's own VMStructs (src/hotspot/share/runtime/vmStructs.cpp),
 * never from a table of versions. Included by wire.h.
 */
#ifndef HOSTPROF_WIRE_JVM_H
#define HOSTPROF_WIRE_JVM_H

/* Code heaps: one, or three with SegmentedCodeCache; newer releases may add one. */
#define WIRE_JVM_HEAPS 6
/* The interpreter's method entry points (share/interpreter/abstractInterpreter.hpp, MethodKind). */
#define WIRE_JVM_ENTRIES 48
/* Bytes of a blob's beginning that are read at once; the fields below lie in them. */
#define WIRE_BLOB_BYTES 384
/* An offset that this JVM does not have. */
#define WIRE_JVM_ABSENT 0xffff

/* share/memory/heap.hpp: CodeHeap. A segment's byte says how far back its block begins. */
struct wire_code_heap {
	wire_u64 start; /* reserved bounds of its code */
	wire_u64 end;
	wire_u64 segmap; /* address of the first segment's byte */
};

/* A method entry point; both in bytes from `entries_start`. */
struct wire_entry {
	wire_u16 start;
	/*
	 * The instructions push %rax, push %rbp, mov %rsp,%rbp, push %r13 that begin the fixed frame
	 * (generate_fixed_frame() in cpu/x86/templateInterpreterGenerator_x86.cpp); 0: it makes none.
	 */
	wire_u16 frame;
};

/* How a CodeBlob says where its code begins. */
enum wire_code_begin {
	WIRE_CODE_BEGIN_OFFSET,	 /* int32 from the blob (JDK 8, 23 and later) */
	WIRE_CODE_BEGIN_POINTER, /* address (9 to 22) */
};

/* Where an nmethod's deoptimisation handler is: the patched return address of a frame. */
enum wire_deopt {
	WIRE_DEOPT_NONE,
	WIRE_DEOPT_OFFSET,  /* int32 from the blob (8, 23 and later) */
	WIRE_DEOPT_POINTER, /* address (9 to 22) */
};

/* Bytes of a chunk's fields that are read at once. */
#define WIRE_CHUNK_BYTES 128

/*
 * Frames of a virtual thread in the heap: objects of jdk.internal.vm.StackChunk, whose fields are
 * followed by words of the stack (share/oops/instanceStackChunkKlass.hpp). All offsets are in bytes
 * from the object's beginning, those of a chunk below WIRE_CHUNK_BYTES - 8.
 */
struct wire_chunks {
	/* What the word at klass_at has in these bits, for a chunk; klass_mask 0: they cannot be read. */
	wire_u64 klass_mask;
	wire_u64 klass;
	wire_u64 oop_base;
	wire_u8 oop_bytes; /* 4: the address is oop_base + (oop << oop_shift) */
	wire_u8 oop_shift;
	wire_u16 klass_at;
	wire_u16 tail;	  /* in a jdk.internal.vm.Continuation: the newest chunk */
	wire_u16 parent;  /* the next older chunk */
	wire_u16 size;	  /* int32, words of its stack */
	wire_u16 sp;	  /* int32, words from the stack's beginning to the youngest frame */
	wire_u16 bottom;  /* int32, words to its end */
	wire_u16 argsize; /* int32, words between its end and `size`; bottom is WIRE_JVM_ABSENT */
	wire_u16 stack;	  /* where the stack begins */
	wire_u16
		room; /* int32, words of a thread's stack that its frames want; or WIRE_JVM_ABSENT */
};

/* Bytes of a virtual thread's name that are read; longer ones are cut. */
#define WIRE_NAME_BYTES 256
/* And of all that a sample may have in its place. */
#define WIRE_TEXT_BYTES 1056

/*
 * What leads from a JavaThread to the virtual thread that it runs, and to that one's name. References and
 * classes are as struct wire_chunks says: bits, and where they lie. Offsets are in bytes.
 */
struct wire_virtual {
	/* Addresses: a byte, is a collection under way, and how many there were, 4 bytes. */
	wire_u64 pause_active;
	wire_u64 pause_count;
	wire_u64 klass;	       /* java.lang.VirtualThread, as klass_mask shows it */
	wire_u64 string_klass; /* java.lang.String */
	wire_u16 vthread;      /* in a JavaThread: address of a slot with the object's address */
	wire_u16 stack_base;   /* in a JavaThread: the end of its stack, 8 bytes, and its length */
	wire_u16 stack_size;
	wire_u16 id;	       /* in a java.lang.Thread: 8 bytes; 0: nothing of this can be read */
	wire_u16 name;	       /* the same: a String, or none */
	wire_u16 value, coder; /* in a String: the array, and 0 for Latin-1 */
	wire_u16 array_len, array_data;
	wire_u16 pad[3];
};

/* Where an object says of which class it is (share/oops/oop.hpp, markWord.hpp). */
enum wire_klass_place {
	WIRE_KLASS_UNKNOWN, /* or nobody wants to know */
	WIRE_KLASS_WIDE,    /* 8 bytes behind its mark */
	WIRE_KLASS_NARROW,  /* 4 bytes there: base + (narrow << shift) */
	WIRE_KLASS_COMPACT, /* the same of the mark's upper bits */
};

/* What leads from an object to its class. */
struct wire_object {
	wire_u64 base;
	wire_u8 place; /* enum wire_klass_place */
	wire_u8 shift;
	wire_u8 mark_shift; /* of a compact one: where in the mark the class begins */
	wire_u8 pad[5];
};

/* The object that is called through a vtable or itable stub. */
struct wire_receiver {
	struct wire_object object; /* place 0: nobody wants to know, or knows */
	wire_u16 blob_name;	   /* in a CodeBlob: the address of its name */
	wire_u16 pad[3];
};

/*
 * What leads from a thread pointer (%fs) to the thread's own Thread, and what proves that it is: offsets in bytes.
 */
struct wire_own_thread {
	wire_u16
		self; /* from the thread pointer: address of its Thread; 0: not known, or nobody wants to know */
	wire_u16 stack_base,
		stack_size; /* in a JavaThread: the end of its stack, 8 bytes, and its length */
	wire_u16 pad;
};

/* What leads from a Thread to the method that it compiles: ciEnv, CompileTask, Method. Offsets in bytes. */
struct wire_compiling {
	wire_u16 env;		  /* in a CompilerThread; 0: nothing of this is wanted, or known */
	wire_u16 task;		  /* in a ciEnv */
	wire_u16 method, osr_bci; /* in a CompileTask: an address, int32 */
};

/*
 * What leads from a JavaThread to the methods of the interpreted frames that it is putting in the place of a compiled one: struct members of
 * JavaThread, vframeArray, vframeArrayElement (share/runtime/vframeArray.hpp). Offsets in bytes.
 */
struct wire_unpacking {
	wire_u16
		array; /* in a JavaThread: address of a vframeArray, or 0; 0: nothing of this is known */
	wire_u16 frames;   /* in that one: int32, how many elements */
	wire_u16 elements; /* where the first one lies, that of the youngest frame */
	wire_u16 element_bytes;
	wire_u16 method, bci; /* in an element: an address, int32 */
	wire_u16 bytecodes;   /* in a ConstMethod: where its bytecodes begin */
	wire_u16 pad;
};

struct wire_jvm {
	wire_u32 serial; /* of this JVM, as in struct wire_space; 0: no JVM */
	wire_u8 heap_count;
	wire_u8 log2_segment;
	wire_u8 block_header; /* bytes of a HeapBlock before its blob */
	wire_u8 entry_count;
	/* 0, all of these: a HotSpot whose layout cannot be read; its code is walked blindly. */
	wire_u64 interpreter_start;
	wire_u64 interpreter_end;
	wire_u64 code_start; /* code cache, reserved bounds of all heaps */
	wire_u64 code_end;
	wire_u64 call_stub_return; /* StubRoutines::_call_stub_return_address */
	wire_u64 return_barrier;   /* StubRoutines::_cont_returnBarrier; 0: none */
	wire_u64 enter_return;	   /* ContinuationEntry::_return_pc, in enterSpecial; 0: none */
	struct wire_code_heap heaps[WIRE_JVM_HEAPS];

	/* Bytes from the beginning of a CodeBlob or nmethod; all below WIRE_BLOB_BYTES - 8. */
	wire_u16 blob_bytes; /* to read, so that all of these are in it */
	wire_u16 blob_size;  /* int32 */
	wire_u16 frame_size; /* int32, in 8-byte words, saved %rbp and return address included */
	wire_u16 frame_complete; /* int32 or int16, bytes from the code's beginning; < 0: never */
	wire_u16 code_begin;	 /* as code_begin_kind says */
	wire_u16 deopt;		 /* as deopt_kind says */
	wire_u16 deopt_mh;   /* a second one, for method handle call sites, or WIRE_JVM_ABSENT */
	wire_u16 orig_pc;    /* int32: where in the frame, from its sp, the true pc is kept */
	wire_u16 compile_id; /* int32 */
	wire_u8 frame_complete_bytes; /* 2 or 4 */
	wire_u8 code_begin_kind;      /* enum wire_code_begin */
	wire_u8 deopt_kind;	      /* enum wire_deopt */
	wire_u8 const_method_ids;     /* offset, see WIRE_METHOD_IDENTITY; 0: they are elsewhere */

	/* Offsets in a JavaThread and what it points to, bytes; WIRE_JVM_ABSENT: not known. */
	wire_u16 thread_saved_pc;   /* JavaThread::_saved_exception_pc */
	wire_u16 thread_anchor;	    /* JavaThread::_anchor; sp, pc, fp follow, each 8 bytes */
	wire_u16 thread_cont_entry; /* JavaThread::_cont_entry */
	wire_u16 anchor_sp, anchor_pc, anchor_fp; /* in a JavaFrameAnchor */
	wire_u16 wrapper_anchor;		  /* JavaCallWrapper::_anchor */

	/* Slots of an interpreted frame in 8-byte words from the frame pointer. */
	wire_s8 method_slot;
	wire_s8 bcp_slot;
	wire_s8 sender_sp_slot;
	wire_s8 pad1;

	/* The way from a Method to its class's name: offsets of the pointers to follow. */
	wire_u32 method_const_method;
	wire_u32 const_method_constants;
	wire_u32 pool_holder;
	wire_u32 klass_name;
	/* The bits of a Symbol's first 8 bytes that never change: all but its reference count. */
	wire_u64 symbol_mask;

	/* Entry points, by start. The last one is no entry: its start is where they end. */
	wire_u64 entries_start;
	struct wire_entry entries[WIRE_JVM_ENTRIES];

	struct wire_chunks chunks;
	struct wire_virtual virtuals;

	wire_u16 thread_exception_pc; /* as thread_saved_pc: JavaThread::_exception_pc */
	wire_u16 pad2[3];

	struct wire_receiver receiver;
	struct wire_own_thread own;
	struct wire_compiling compiling;
	struct wire_unpacking unpacking;
};

/* Slots of the call stub's frame, words from %rbp: cpu/x86/stubGenerator_x86_64.cpp, call_stub. */
#define WIRE_ENTRY_WRAPPER (-6)
#define WIRE_ENTRY_RBX	   (-7)
#define WIRE_ENTRY_R13	   (-9)
#define WIRE_ENTRY_R15	   (-11)

/*
 * What is known of a pc in a code blob, kept per cpu; checked by the compile id and the segment map
 * when it is used, once in a tick: a blob that is gone may have left its id, when the next one takes
 * the end of its place (CodeHeap::split_block() in share/memory/heap.cpp). Not less often: methods of
 * one shape are compiled into each other's place within 30 ms.
 */
struct wire_hot_code {
	wire_u64 pc;
	wire_u64 blob;
	wire_u32 serial;	  /* of the JVM */
	wire_u32 tick;		  /* when it was checked */
	wire_u32 frame_size : 23; /* words */
	wire_u32 entering : 1;	  /* WIRE_COMPILED_ENTERING */
	wire_u32 back : 8;	  /* what the segment map said of pc's segment */
	wire_u32 compile_id;
};

/*
 * What is known of an interpreted Method, kept per cpu. It holds for one tick, while the name of
 * its class still begins with the same word: nobody unloads a class that was on a stack, uses its
 * memory anew and runs that within so short a time.
 */
struct wire_hot_method {
	wire_u64 method;
	wire_u64 const_method;
	wire_u64 symbol; /* of its class's name */
	wire_u64 word;	 /* what was there, by the mask */
	wire_u64 identity;
	wire_u32 serial;
	wire_u32 tick;
};

/* Time in ticks of 8 ms. */
#define WIRE_TICK_SHIFT 23

/* Entries of one cpu; powers of two. Of codes as many as there is room for. */
#define WIRE_HOT_CODES 1024
/* Code that was met: three times what a large program runs, of all JVMs together; a power of two. */
#define WIRE_MET_CODES	   32768
#define WIRE_MAX_HOT_CODES 8192
#define WIRE_HOT_METHODS   512

/* A blob that is too many hops of the segment map away: found by userspace. */
struct wire_far_key {
	wire_u64 segment; /* address of the segment that holds the pc */
	wire_u32 serial;
	wire_u32 pad;
};

#define WIRE_MAX_FAR_BLOBS 4096

/* The JavaThread of a thread, by tid: seen in %r15 while it ran Java code. */
struct wire_thread {
	wire_u64 thread;
	wire_u64 start_ns; /* of the task; another one: the tid was used again */
	wire_u32 serial;   /* of the JVM */
	wire_u32 pad;
};

#define WIRE_MAX_THREADS 4096

_Static_assert(sizeof(struct wire_code_heap) == 24, "wire_code_heap");
_Static_assert(sizeof(struct wire_chunks) == 48, "wire_chunks");
_Static_assert(sizeof(struct wire_virtual) == 56, "wire_virtual");
_Static_assert(sizeof(struct wire_receiver) == 24, "wire_receiver");
_Static_assert(sizeof(struct wire_own_thread) == 8, "wire_own_thread");
_Static_assert(sizeof(struct wire_compiling) == 8, "wire_compiling");
_Static_assert(sizeof(struct wire_unpacking) == 16, "wire_unpacking");
_Static_assert(sizeof(struct wire_hot_code) == 32, "wire_hot_code");
_Static_assert(sizeof(struct wire_hot_method) == 48, "wire_hot_method");
_Static_assert(sizeof(struct wire_far_key) == 16, "wire_far_key");
_Static_assert(sizeof(struct wire_thread) == 24, "wire_thread");

#endif
