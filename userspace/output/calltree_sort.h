/* SPDX-License-Identifier: Apache-2.0 */
/* Sort the keys of a call tree by their labels from the root on; a prefix comes first. */
#ifndef HOSTPROF_OUTPUT_CALLTREE_SORT_H
#define HOSTPROF_OUTPUT_CALLTREE_SORT_H

#include "output/calltree_keys.h"

void calltree_sort(struct calltree_keys *keys);

#endif
