/* SPDX-License-Identifier: Apache-2.0 */
/* `hostprof list events`: which of them this machine has now, and why it has not the others. */
#ifndef HOSTPROF_CMD_LIST_LIST_EVENTS_H
#define HOSTPROF_CMD_LIST_LIST_EVENTS_H

#include <stdbool.h>

#include "base/strbuf.h"

/* Each is opened for a moment. */
void list_events(struct strbuf *out, bool as_json);

#endif
