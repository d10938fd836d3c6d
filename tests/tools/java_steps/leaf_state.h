/* SPDX-License-Identifier: Apache-2.0 */
/* A name for what is special about a stack: of two with the same name one is enough to keep. */
#ifndef HOSTPROF_TESTS_LEAF_STATE_H
#define HOSTPROF_TESTS_LEAF_STATE_H

#include "frame_names.h"
#include "step_judge.h"

#define LEAF_STATE_BYTES 160

/* "c2_prologue_push", "interpreter_body_deopt", "i2c_c2i_adapters_pop", … */
void leaf_state_name(const struct vmstructs *vs, const struct jvm_layout *layout,
		     struct frame_names *names, const struct live_walk *walk,
		     const struct user_regs_struct *regs, const struct live_stack *stack,
		     enum step_change change, char ret_state[LEAF_STATE_BYTES]);

#endif
