/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets on the way from a Method to its names, and sizes, as JDK 17 (17.0.15) has them. */
#ifndef HOSTPROF_TESTS_LAYOUT_17_H
#define HOSTPROF_TESTS_LAYOUT_17_H

/* Fields of struct jvm_layout for an initializer. */
#define LAYOUT_17_NAMES                                                                        \
	.method_const_method = 8, .const_method_constants = 8, .const_method_size_words = 24,  \
	.const_method_code_size = 32, .const_method_name_index = 34, .const_method_flags = 28, \
	.const_method_signature_index = 36, .pool_holder = 24,                                 \
	.klass_source_index = JVM_LAYOUT_ABSENT, .klass_name = 24, .symbol_length = 4,         \
	.symbol_body = 6, .symbol_mask = 0xffffffffffff0000ULL, .const_method_bytes = 48,      \
	.pool_bytes = 72

/* The same of code blobs, and of struct wire_jvm what finds them. */
#define LAYOUT_17_BLOBS \
	.block_used = 8, .blob_name = 96, .blob_kind = JVM_LAYOUT_ABSENT, .nmethod_method = 112
#define LAYOUT_17_WIRE_BLOBS \
	.heap_count = 1, .log2_segment = 7, .block_header = 16, .blob_size = 12, .compile_id = 304

#endif
