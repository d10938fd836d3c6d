/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between the forms of Go's tables. */
#ifndef HOSTPROF_ELF_GO_GO_FORM_H
#define HOSTPROF_ELF_GO_GO_FORM_H

#include <stdbool.h>
#include <stdint.h>

/* By the magic number in front; cmd/link wrote each since that version. */
enum go_form { GO_1_2, GO_1_16, GO_1_18, GO_1_20, GO_FORMS };

struct go_layout {
	uint32_t magic;
	uint8_t header; /* bytes */
	uint8_t entry; /* bytes of a function's address, and of where it is; 8: no offsets from the text */
	uint8_t head;	 /* bytes of a function before its lists */
	bool text;	 /* the header says where the text begins (Go 1.26: 0) */
	bool unit;	 /* files are numbered within compilation units */
	uint8_t inlined; /* bytes of an entry of the tree of inlined calls; 0: another way */
};

extern const struct go_layout go_layouts[GO_FORMS];

#endif
