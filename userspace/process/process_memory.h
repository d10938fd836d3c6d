/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of all processes, within one budget: their mappings, and the texts that mappings
 * and processes have, each kept once. For the thread of the loop.
 */
#ifndef HOSTPROF_PROCESS_PROCESS_MEMORY_H
#define HOSTPROF_PROCESS_PROCESS_MEMORY_H

#include "base/budget/budget.h"

/* As long as nobody says something else. */
#define PROCESS_MEMORY_BYTES (16ULL << 20)
/* In the place of a path that there is no room for; such files are still opened by their mapping. */
#define PROCESS_PATH_LEFT_OUT "[path left out]"

struct budget *process_budget(void);

/*
 * TEXT, kept until process_text_unref(); NULL: there is no room for it. *OWN_BYTES (what its owner
 * has) grows by what it takes, which is nothing when somebody has it already.
 */
char *process_text_ref(const char *text, uint64_t *own_bytes);
/* One more of what process_text_ref() gave. */
char *process_text_again(char *text);
void process_text_unref(char *text); /* or NULL */

#endif
