/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's compressed line number table of a method. Source: share/code/compressedStream.{hpp,cpp}
 * (CompressedLineNumberReadStream), share/utilities/unsigned5.hpp, JDK 8 to 28.
 */
#ifndef HOSTPROF_JVM_NAMES_LINE_TABLE_H
#define HOSTPROF_JVM_NAMES_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct line_entry {
	uint16_t bci;
	uint16_t line;
};

/*
 * Decode up to MAX entries from the bytes that follow a method's bytecodes; returns how many. A
 * table that is cut or makes no sense ends where it does so. UNSIGNED5_BIAS: 0 before JDK 20,
 * then 1.
 */
size_t line_table_decode(const void *data, size_t len, uint8_t unsigned5_bias,
			 struct line_entry *ret_entries, size_t max);

/* The line of a bytecode index; 0 when there is none. Entries need not be sorted. */
uint16_t line_table_find(const struct line_entry *entries, size_t count, uint16_t bci);

#endif
