/* SPDX-License-Identifier: Apache-2.0 */
/* What libdw says of one row of call frame information, as a rule that the step functions follow. */
#ifndef HOSTPROF_ELF_CFI_CFI_RULE_H
#define HOSTPROF_ELF_CFI_CFI_RULE_H

#include <elfutils/libdw.h>

#include "wire.h"

/* WIRE_RULE_BAD when the steps cannot do what it says. */
struct wire_rule cfi_rule(Dwarf_Frame *frame, bool signal);

#endif
