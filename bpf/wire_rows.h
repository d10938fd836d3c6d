/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Unwind tables as they cross the kernel line: userspace writes, the step functions read.
 *
 * A *rule* says how to get from a frame to its caller. A *row* gives the rule of the code from its
 * offset up to the next row's. The rows of one page of a file's text are a *block* (or a chain of
 * them), found by (file, page) and shared by all processes that map the file. A process is a
 * *space*: a sorted list of *ranges*, each a piece of a file. Included by wire.h.
 */
#ifndef HOSTPROF_WIRE_ROWS_H
#define HOSTPROF_WIRE_ROWS_H

#define WIRE_PAGE_SHIFT 12
#define WIRE_PAGE_BYTES (1U << WIRE_PAGE_SHIFT)

/* Numbers of registers in call frame information: System V ABI for x86-64, figure 3.36. */
enum dwarf_register {
	DWARF_RAX,
	DWARF_RDX,
	DWARF_RCX,
	DWARF_RBX,
	DWARF_RSI,
	DWARF_RDI,
	DWARF_RBP,
	DWARF_RSP,
	DWARF_R8,
	DWARF_R9,
	DWARF_R10,
	DWARF_R11,
	DWARF_R12,
	DWARF_R13,
	DWARF_R14,
	DWARF_R15,
	DWARF_REGISTERS
};

enum wire_rule_kind {
	WIRE_RULE_NONE,	  /* nothing is known of this code: frame pointers, if it has such */
	WIRE_RULE_CFA,	  /* CFA = register + offset */
	WIRE_RULE_DEREF,  /* CFA = *(register + offset [+ 8 * index]) + 8 * add */
	WIRE_RULE_PLT,	  /* CFA = %rsp + offset, and 8 more from the add-th byte of 16 on */
	WIRE_RULE_SIGNAL, /* a signal frame: the interrupted registers lie in a ucontext at %rsp */
	WIRE_RULE_END,	  /* the thread's first frame */
	WIRE_RULE_BAD,	  /* described, but by something that the steps cannot do */
	/*
	 * The frame pointer is to be followed: code that switches stacks. cfa_add is 1 where that is the
	 * caller's own, below which its return address lies.
	 */
	WIRE_RULE_FP,
	/*
	 * Go's runtime.morestack, mcall and systemstack on the thread's own stack, and before 1.21 asmcgocall: the goroutine that was left is
	 * m.curg (native/goroutine.h). ra_slot is how many words below %fs the thread's g is, cfa_offset where curg is in m,
	 * rbp_slot the word of a g that has its sched.bp, cfa_add an enum wire_left. Where there is none, as FP.
	 */
	WIRE_RULE_GOROUTINE,
	WIRE_RULE_KIND_COUNT,
	/*
	 * In no table: what the cache of hot pcs keeps of code of which nothing is known, when its bytes have said that the frame
	 * pointer leads on; cfa_add is struct unwind_cursor's made.
	 */
	WIRE_RULE_CHAINED = WIRE_RULE_KIND_COUNT
};

/* By what a goroutine's stack was left for the thread's own. FRAMED: with a frame of its own. */
enum wire_left {
	WIRE_LEFT_BY_MORESTACK,
	WIRE_LEFT_BY_MCALL,
	WIRE_LEFT_BY_SYSTEMSTACK,
	WIRE_LEFT_BY_MCALL_FRAMED,
	WIRE_LEFT_BY_SYSTEMSTACK_FRAMED,
	WIRE_LEFT_COUNT
};

/* Where a register of the caller is: at CFA - 8 * slot. */
#define WIRE_SLOT_SAME	   0	  /* it is still in the register */
#define WIRE_SLOT_LOST	   0xff	  /* nobody knows */
#define WIRE_RBP_SLOT_LOST 0x7fff /* the same of the wider slot */
/* The return address is in a register (vfork), its DWARF number in the low bits. */
#define WIRE_RA_REGISTER 0x80

/* In cfa_index: no call frame information says so, the code itself does. */
#define WIRE_INFERRED 0x80
/* Likewise: the function may have another frame's return address in place of its own, to go on there (native/landing.h). */
#define WIRE_LANDS 0x40
/* What is left of it. */
#define WIRE_INDEX_REGISTER 0x0f

struct wire_rule {
	wire_u8 kind;	 /* enum wire_rule_kind */
	wire_u8 cfa_reg; /* enum dwarf_register */
	wire_u8 ra_slot; /* 1 in nearly all code */
	wire_u8 rbx_slot;
	wire_s32 cfa_offset; /* bytes */
	wire_s16 cfa_add;
	wire_u16 rbp_slot;
	wire_u8 r13_slot;
	wire_u8 r15_slot;
	/* DEREF: 8 times this register is added before (DWARF number; 0: none). And the bits above. */
	wire_u8 cfa_index;
	/*
	 * The slots of rbp, rbx, r13 and r15 count from this register + 16, not from the CFA (DWARF
	 * number; 0: from the CFA): code that realigns its stack.
	 */
	wire_u8 home_reg;
};

struct wire_row {
	wire_u16 offset; /* in the page */
	wire_u16 rule;	 /* index into the rule table; 0 is WIRE_RULE_NONE */
};

#define WIRE_BLOCK_ROWS 124

struct wire_block {
	wire_u32 generation;  /* changes when the block gets other rows; 0 while it is free */
	wire_u32 next;	      /* the block that continues this page; 0: none */
	wire_u32 used_s;      /* when it was last read; CLOCK_MONOTONIC seconds, written by BPF */
	wire_u16 count;	      /* rows, at least 1 */
	wire_u16 next_offset; /* where the next block's rows begin */
	struct wire_row rows[WIRE_BLOCK_ROWS]; /* rising offsets; a page's first row is at 0 */
};

struct wire_page_key {
	wire_u32 file; /* number of the file's content, given by userspace; never 0 */
	wire_u32 page; /* the file's own virtual address >> WIRE_PAGE_SHIFT */
};

struct wire_page {
	wire_u32 block; /* the first; never 0 */
	wire_u32 generation;
};

struct wire_range {
	wire_u64 start;
	wire_u64 end;
	wire_u64 bias;	 /* process address - bias = the file's own virtual address */
	wire_u32 file;	 /* 0: code without a file (JIT); it is walked by frame pointers */
	wire_u32 serial; /* of the list that it is part of */
};

/* Value of a process, by tgid. */
struct wire_space {
	wire_u64 start_ns;   /* of the process; another one: the pid was used again */
	wire_u32 exec_id;    /* another one: it runs another program now */
	wire_u32 serial;     /* of its list; lists are shared after a fork, and never changed */
	wire_u32 first;	     /* index of its first range */
	wire_u32 count;	     /* sorted by start, without overlaps */
	wire_u64 exec_pages; /* mm->exec_vm when it was read; 0: don't compare */
	wire_u32 used_s;     /* written by BPF */
	wire_u32 strays;     /* addresses outside of all ranges so far; written by BPF */
	wire_u32 jvm;	     /* key of its layout in the map of JVMs; 0: no JVM */
	wire_u32 pad;
};

/* A process that no sample has told of yet. */
struct wire_process {
	wire_u32 tgid; /* 0: there is none */
	wire_u32 exec_id;
	wire_u64 start_ns; /* both as in its space */
};

/* wire_space.jvm: libjvm.so is mapped, but its layout is not known yet; Java frames are missed. */
#define WIRE_JVM_PENDING 0xffffffff

/* After so many the list is taken for whole, and an address outside it for a wrong one. */
#define WIRE_MAX_STRAYS 64

/* The rule of a pc, kept per cpu. */
struct wire_hot {
	wire_u64 pc;
	wire_u32 serial; /* of the space; 0: empty */
	wire_u32 epoch;	 /* entries last two seconds, so that what is used shows in used_s */
	struct wire_rule rule;
};

/* Hot entries of one cpu; a power of two. */
#define WIRE_HOT_ENTRIES 1024

/*
 * What userspace needs to go on with a walk that BPF could not finish for want of rows or ranges.
 * Followed by copy_bytes of stack, and by the sample itself as the next record of the same tid and
 * time, which has WIRE_SAMPLE_RESUMED set.
 */
/* Of memory, behind the copy of the stack, one after the other. */
struct wire_piece {
	wire_u64 at;
	wire_u32 bytes;
	wire_u32 pad;
};

/* A Continuation, and fields and frames of its three newest chunks. */
#define WIRE_MISS_HEAP_PIECES 7
/* Of all of them together. */
#define WIRE_MISS_HEAP_BYTES 24576
/* OpenBLAS's dgetrf_parallel() calls itself four times, its frames have 540 KB, and of each some pages here and there are written. */
#define WIRE_MISS_BEYOND_PIECES 16

struct wire_miss {
	wire_u32 size; /* of the whole record in bytes */
	wire_u16 kind; /* WIRE_MISS */
	wire_u8 leaf, exact;
	wire_u64 time_ns; /* the sample's */
	wire_u32 tgid, tid;
	wire_u64 pc;
	/* By DWARF number; without regs_kept only rbx, rbp, rsp, r13, r15. */
	wire_u64 regs[DWARF_REGISTERS];
	wire_u64 exec_pages;
	wire_u64 copy_at;
	wire_u32 copy_bytes;
	wire_u8 linked;
	wire_u8 code_bytes; /* of code that are valid: 0 or WIRE_MISS_CODE_BYTES */
	wire_u8 regs_kept;  /* all of regs are what they are in this frame, leaf or not */
	wire_u8 at_entry;   /* of the leaf: pc is its function's first instruction */
	wire_u32 jvm;	    /* wire_space.jvm */
	wire_u8 guessed;    /* struct unwind_cursor's, as linked */
	wire_u8 unmounted; /* userspace's: it is no stack, but pc is where a virtual thread's newest chunk lies, which heap[] has */
	wire_u8 pad1[2];
	wire_u64 stack_top;  /* the same; 0: not known */
	wire_u64 thread;     /* the JavaThread, 0: not known; what was in it then: */
	wire_u64 anchor[3];  /* sp, pc, fp */
	wire_u64 cont_entry; /* JavaThread::_cont_entry; 0: none */
	/* JavaThread::_vframe_array_head, 0: none; if it is one, it is the first piece below. WIRE_MISS_UNKNOWN: nobody knows. */
	wire_u64 unpacking;
	wire_u64 trampoline; /* of return probes, 0: none; in the copy are the true addresses */
	wire_u64 tls;	     /* where %fs points; 0: not known */
	/*
	 * Of a thread that puts frames in place what it knows of them (bpf/hotspot/unpacking.h); of a virtual thread what leads to
	 * its frames in the heap, and these (bpf/hotspot/frozen.h); of a thread that has left
	 * a stack by its frame pointer, as Go's runtime a goroutine's, what of that one lies there.
	 */
	wire_u32 heap_bytes;
	wire_u32 heap_count;
	struct wire_piece heap[WIRE_MISS_HEAP_PIECES];
	/*
	 * What is there of the main thread's stack beyond the copy, where that ends in a buffer that was hardly written, or of a
	 * goroutine's; behind the pieces of the heap.
	 */
	wire_u32 beyond_bytes;
	wire_u32 beyond_count;
	struct wire_piece beyond[WIRE_MISS_BEYOND_PIECES];
#define WIRE_MISS_UNKNOWN     (~0ULL)
#define WIRE_MISS_CODE_BYTES  32
#define WIRE_MISS_CODE_BEHIND 8
	wire_u8 code[WIRE_MISS_CODE_BYTES]; /* from WIRE_MISS_CODE_BEHIND bytes before pc on */
	wire_u8 copy[];
};

/*
 * 110 frames of python3 can be 70 KiB, 900 of Java and JNI 450; Java's threads have stacks of 1 MiB.
 * How much of it is copied is decided when the programs are loaded.
 */
#define WIRE_MISS_MAX_COPY   1048576
#define WIRE_MISS_LEAST_COPY 262144
/* The copy begins so far below the stack pointer: the red zone. */
#define WIRE_MISS_BELOW 128

_Static_assert(sizeof(struct wire_rule) == 16, "wire_rule");
_Static_assert(sizeof(struct wire_row) == 4, "wire_row");
_Static_assert(sizeof(struct wire_block) == 512, "wire_block");
_Static_assert(sizeof(struct wire_range) == 32, "wire_range");
_Static_assert(sizeof(struct wire_space) == 48, "wire_space");
_Static_assert(sizeof(struct wire_process) == 16, "wire_process");
_Static_assert(sizeof(struct wire_hot) == 32, "wire_hot");
_Static_assert(sizeof(struct wire_miss) == 680, "wire_miss");

#endif
