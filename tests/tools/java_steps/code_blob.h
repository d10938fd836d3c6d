/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code blobs of a live JVM, found and named without the step functions or their layout: the
 * other opinion of a test. Everything is read anew at every call.
 */
#ifndef HOSTPROF_TESTS_CODE_BLOB_H
#define HOSTPROF_TESTS_CODE_BLOB_H

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/vmstructs.h"

struct code_blob {
	uint64_t address, code_begin;
	uint64_t method; /* of an nmethod, else 0 */
	int32_t size, frame_size, frame_complete, compile_id, level;
	bool is_osr;
	char name[64]; /* "nmethod", "I2C/C2I adapters" */
};

/* -ENOENT: no blob is at ADDRESS. */
int code_blob_find(const struct vmstructs *vs, uint64_t address, struct code_blob *ret_blob);

#endif
