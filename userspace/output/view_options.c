/* SPDX-License-Identifier: Apache-2.0 */
#include "output/view_options.h"
#include "output/calltree.h"

void view_tree_options(const struct view_options *options, struct calltree_options *ret_tree)
{
	*ret_tree = (struct calltree_options){
		.event = options->event,
		.lines = options->lines,
		.annotate = options->annotate,
		.names = options->names,
		.count = !options->total,
		.all_user = options->all_user,
		.all_kernel = options->all_kernel,
	};
}
