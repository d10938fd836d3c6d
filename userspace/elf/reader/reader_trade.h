/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader's side: here, and nowhere else, bytes of files that somebody else made are parsed; in a process that has no right to
 * anything but the files it is given.
 */
#ifndef HOSTPROF_ELF_READER_READER_TRADE_H
#define HOSTPROF_ELF_READER_READER_TRADE_H

#include "wall/trade.h"

extern const struct trade reader_trade;

#endif
