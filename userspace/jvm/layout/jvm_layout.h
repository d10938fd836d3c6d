/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hostprof needs to know of one JVM's memory, gathered from its VMStructs: where the
 * interpreter and the code cache lie, what an interpreted frame holds, and the way from a Method
 * to its names.
 */
#ifndef HOSTPROF_JVM_LAYOUT_JVM_LAYOUT_H
#define HOSTPROF_JVM_LAYOUT_JVM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

/* An offset that this JVM does not have. */
#define JVM_LAYOUT_ABSENT UINT32_MAX

/* Sizes of foreign structs are refused above this; the largest (InstanceKlass) has 520. */
#define JVM_LAYOUT_MAX_STRUCT 4096

struct jvm_layout {
	/* Addresses in the process. */
	uint64_t interpreter_start, interpreter_end;
	uint64_t code_start, code_end; /* reserved bounds of the code cache */

	/* Interpreted frames: 8-byte words from the frame pointer. */
	int8_t method_slot;
	int8_t bcp_slot;
	int8_t sender_sp_slot;

	uint32_t feature_release; /* 8, 11, 17, …; 0 unknown */

	/* The static variable with the call stub's return address: others of libjvm's lie near it. */
	uint64_t call_stub_at;

	/* Byte offsets. */
	uint32_t method_const_method;
	uint32_t const_method_constants;
	uint32_t const_method_size_words; /* ConstMethod._constMethod_size */
	uint32_t const_method_code_size;
	uint32_t const_method_name_index;
	uint32_t const_method_signature_index;
	uint32_t const_method_flags;
	uint32_t pool_holder;
	uint32_t pool_source_index;  /* 17+, else absent */
	uint32_t klass_source_index; /* 8 to 16, else absent */
	uint32_t klass_name;
	uint32_t symbol_length;
	uint32_t symbol_body;

	/* Sizes in bytes: bytecodes follow a ConstMethod, entries follow a ConstantPool. */
	uint32_t const_method_bytes;
	uint32_t pool_bytes;

	/*
	 * Code blobs: where a block's flag that it is in use (HeapBlock::Header._used, a byte; or
	 * absent), the name (a C string's address), the kind (a byte; absent before JDK 23, where
	 * nmethods are told by their name) and an nmethod's Method* are.
	 */
	uint32_t block_used;
	uint32_t blob_name;
	uint32_t blob_kind;
	uint8_t blob_kind_nmethod;
	uint32_t nmethod_method;

	/* The part of it that the step functions need; its serial is for the caller to set. */
	struct wire_jvm wire;

	/*
	 * `wire` lacks what virtual threads need, since none has run yet: its return_barrier,
	 * enter_return, thread_cont_entry, chunks or virtuals may still come. See jvm_layout_refresh().
	 */
	bool provisional;
	bool chunks_final;  /* wire.chunks was looked for; all zeros: its frames cannot be read */
	bool virtual_final; /* wire.virtuals likewise; all zeros: its threads' names cannot be */

	/* The bits of a Symbol's first 8 bytes that never change; see WIRE_CLASS_IDENTITY. */
	uint64_t symbol_mask;

	/* What UNSIGNED5 subtracts from every byte: 0 before JDK 20, then 1. */
	uint8_t unsigned5_bias;
};

#endif
