/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run of steps has seen: every distinct list of names once, with how often; and each place
 * where a walk cannot be right, once, with all that is needed to see why.
 */
#ifndef HOSTPROF_TESTS_STEP_REPORT_H
#define HOSTPROF_TESTS_STEP_REPORT_H

#include "frame_names.h"
#include "step_judge.h"

struct step_report;

/* All borrowed. */
struct step_report *step_report_new(const struct vmstructs *vs, struct frame_names *names,
				    const struct live_walk *walk);
void step_report_free(struct step_report *report);

/* TO as it was found at REGS; FROM is what it was judged by. */
void step_report_add(struct step_report *report, enum step_change change,
		     const struct user_regs_struct *regs, const struct live_stack *from,
		     const struct live_stack *to);

void step_report_print(const struct step_report *report);

#endif
