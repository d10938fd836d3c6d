/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One method's way to its names in a JVM's memory, in few gathered reads; method_name.h caches
 * what comes out. Every pointer and length on the way is hostile.
 */
#ifndef HOSTPROF_JVM_NAMES_METHOD_CHAIN_H
#define HOSTPROF_JVM_NAMES_METHOD_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vm_memory.h"

#define METHOD_WORD_BYTES 8
/* Resolved entries of a pool had the lowest bit as a mark in JDK 8. */
#define METHOD_POINTER_MARK 1ULL

/* The JVM allows 65,535 bytes; names longer than this are cut. */
#define METHOD_MAX_NAME 1024

/* What was read beside it, from its beginning on; it may be all. */
struct method_ahead {
	const uint8_t *data;
	size_t len;
};

/* What was found; addresses in the JVM. */
struct method_chain {
	uint64_t method;
	uint64_t const_method;
	uint64_t pool;	       /* ConstantPool* */
	uint64_t holder;       /* Klass* */
	uint64_t class_symbol; /* Symbol*; the others too */
	uint64_t name_symbol;
	uint64_t descriptor_symbol;		  /* 0: not known */
	uint64_t source_symbol;			  /* 0: no source file known */
	uint16_t class_len, name_len, source_len; /* as the Symbol says */
	uint16_t descriptor_len;
	uint16_t name_index;
	uint16_t descriptor_index;
	uint16_t code_size;
	uint16_t flags;
	int32_t size_words;
	uint64_t ids;
	uint64_t identity;					  /* WIRE_METHOD_IDENTITY */
	struct method_ahead class_name, name, source, descriptor; /* texts */
	struct method_ahead code; /* bytecodes, and the line table behind them */
};

/* Where entry INDEX of the ConstantPool POOL is. */
static inline uint64_t method_pool_entry(const struct jvm_layout *layout, uint64_t pool,
					 uint16_t index)
{
	return pool + layout->pool_bytes + (uint64_t)index * METHOD_WORD_BYTES;
}

/*
 * Follow METHOD, whose ConstMethod was CONST_METHOD and whose class was IDENTITY when the sample
 * was taken. -ESTALE: it is another one now; -EBADMSG: this is no method. RET_BYTES, owned: what the chain has of texts; NULL.
 */
int method_chain_read(const struct vm_memory *memory, const struct jvm_layout *layout,
		      uint64_t method, uint64_t const_method, uint64_t identity,
		      struct method_chain *ret_chain, uint8_t **ret_bytes);

/* So many methods go their way at once. */
#define METHOD_CHAINS_AT_ONCE 64

/*
 * The same of COUNT methods of which nothing else is known: the caller must know by other means that they were
 * methods before this read, and look again afterwards. Of those that are KNOWN only their identity is read, and no name.
 * RET_ERRORS: 0, or why not, of each. What the chains have of texts, owned.
 */
uint8_t *method_chains_follow(const struct vm_memory *memory, const struct jvm_layout *layout,
			      const uint64_t *methods, const bool *known, unsigned int count,
			      struct method_chain *ret_chains, int *ret_errors);

#endif
