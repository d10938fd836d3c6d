/* SPDX-License-Identifier: Apache-2.0 */
/* walk_world.h's process with code that it has made, of which no file tells, and that CALLER has called by a register. */
#ifndef HOSTPROF_TESTS_MADE_WORLD_H
#define HOSTPROF_TESTS_MADE_WORLD_H

#include "walk_world.h"

#define MADE_AT 0x500000ULL

static uint8_t made_code[4096]; /* at MADE_AT */
static uint8_t made_call[8];	/* in front of CALLER: call *%rax */
static struct walk_piece made_pieces[4];

static inline void set_up_made(void **state)
{
	set_up(state);
	set_page(1, rule_rsp(16));
	memset(made_code, 0xcc, sizeof(made_code));
	memset(made_call, 0x90, sizeof(made_call));
	made_call[6] = 0xff;
	made_call[7] = 0xd0;
	memcpy(made_pieces, w.pieces, sizeof(w.pieces));
	made_pieces[2] = (struct walk_piece){ MADE_AT, sizeof(made_code), made_code };
	made_pieces[3] = (struct walk_piece){ CALLER - 8, sizeof(made_call), made_call };
	w.copy = (struct walk_copy){ made_pieces, ARRAY_SIZE(made_pieces) };
}

#endif
