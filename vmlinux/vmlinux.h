/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The kernel types that bpf/ uses, by hand, in place of a dumped vmlinux.h: fields only, in any
 * order, for what is relocated against the running kernel's BTF (CO-RE), and whole layouts for
 * what is user ABI. Names are those of Linux 6.1 .. 6.18.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
typedef __s64 ktime_t;

enum { false = 0, true = 1 };

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum { BPF_ANY = 0, BPF_NOEXIST = 1 };

enum { BPF_F_NO_PREALLOC = 1 << 0, BPF_F_MMAPABLE = 1 << 10 };

enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 << 0 };

enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };

enum {
	BPF_RB_AVAIL_DATA = 0,
	BPF_RB_RING_SIZE = 1,
	BPF_RB_CONS_POS = 2,
	BPF_RB_PROD_POS = 3,
};

/* arch/x86/include/asm/ptrace.h; the layout is user ABI (core dumps, signal frames). */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

/* include/uapi/linux/bpf_perf_event.h: the context of a perf_event program. */
struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

/* arch/x86/include/asm/local64.h: a counter of 8 bytes, read as it is */
typedef struct {
	long a;
} local64_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* kernel/events/uprobes.c: the mapping [uprobes] of a process that was probed */
struct xol_area {
	unsigned long vaddr;
};

/* include/linux/uprobes.h */
struct uprobes_state {
	struct xol_area *xol_area; /* only with CONFIG_UPROBES; NULL: never probed */
};

struct return_instance {
	unsigned long stack; /* the stack pointer that the function was entered with */
	unsigned long orig_ret_vaddr;
	struct return_instance *next; /* of the function entered before */
};

struct uprobe_task {
	unsigned long vaddr;	 /* the probed instruction's address, */
	unsigned long xol_vaddr; /* and that of its copy, which runs instead */
	struct return_instance *return_instances;
};

/* include/linux/rwsem.h, spinlock_types.h: only where they lie is of use */
struct rw_semaphore {
	local64_t count;
};

struct spinlock {
	unsigned int rlock;
};

struct mm_struct {
	struct uprobes_state uprobes_state;
	struct rw_semaphore mmap_lock;
	unsigned long start_stack;
	unsigned long end_code;
	unsigned long exec_vm; /* pages of executable mappings */
	unsigned long flags;   /* until Linux 6.17 */
};

/* From Linux 6.18 on. */
typedef struct {
	unsigned long __mm_flags[1];
} mm_flags_t;

struct mm_struct___bits {
	mm_flags_t flags;
};

/* kernel/sched/sched.h */
struct rq {
	__u64 clock;
	__u64 clock_task; /* less what interrupts and the hypervisor took */
};

struct cfs_rq {
	struct rq *rq; /* only with CONFIG_FAIR_GROUP_SCHED */
};

struct sched_entity {
	__u64 exec_start; /* up to when sum_exec_runtime is, by the run queue's clock_task */
	__u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq; /* only with CONFIG_FAIR_GROUP_SCHED */
};

/* arch/x86/include/asm/processor.h */
struct thread_struct {
	unsigned long fsbase;
};

/* include/linux/fs.h, fdtable.h */
struct inode {
	unsigned short i_mode;
};

struct file {
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

/* include/linux/kernfs.h, cgroup-defs.h */
struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
	int level;
	struct cgroup *ancestors[]; /* from Linux 6.1 on */
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

/* include/linux/sched/signal.h */
struct sighand_struct {
	struct spinlock siglock;
};

/* include/linux/types.h */
struct list_head {
	struct list_head *next;
};

/* include/linux/sched.h */
struct task_struct {
	struct thread_struct thread;
	struct sched_entity se;
	unsigned int flags;
	struct mm_struct *mm;
	struct files_struct *files;
	struct sighand_struct *sighand;
	struct css_set *cgroups;
	unsigned int __state;
	int exit_state;
	int on_cpu;
	struct uprobe_task *utask; /* only with CONFIG_UPROBES; NULL: never probed */
	int pid;
	int tgid;
	struct list_head tasks; /* of the processes: their first threads */
	struct task_struct *group_leader;
	__u64 start_time; /* CLOCK_MONOTONIC */
	__u64 self_exec_id;
	char comm[16];
};

/* include/linux/timerqueue_types.h, hrtimer_types.h, perf_event.h: a cpu-clock event's timer */
struct timerqueue_node {
	ktime_t expires;
};

struct hrtimer {
	struct timerqueue_node node;
};

struct hw_perf_event {
	struct hrtimer hrtimer;
	local64_t prev_count; /* of cpu-clock: local_clock() at its last tick */
};

struct perf_event {
	struct hw_perf_event hw;
};

/* What struct bpf_perf_event_data is inside the kernel (include/linux/perf_event.h). */
struct bpf_perf_event_data_kern {
	struct perf_event *event;
};

/* include/linux/bpf.h, kernel/bpf/task_iter.c: the context of a program that is shown all threads */
struct seq_file {
	__u64 index;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
