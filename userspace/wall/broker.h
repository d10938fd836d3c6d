/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who carries out what may never come back: a page of another process may be a file's whose server does
 * not answer, and so may a path, and who waits for it cannot even be killed. A broker is a process of
 * its own, with what rights it needs and nothing that anybody would miss; it parses nothing of what it reads.
 */
#ifndef HOSTPROF_WALL_BROKER_H
#define HOSTPROF_WALL_BROKER_H

#include "wall/trade.h"

extern const struct trade broker_trade;

#endif
