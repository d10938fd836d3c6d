/* SPDX-License-Identifier: Apache-2.0 */
/* Where a file's notes say that its USDT probes are (SystemTap's sys/sdt.h). */
#ifndef HOSTPROF_ELF_PROBE_USDT_NOTES_H
#define HOSTPROF_ELF_PROBE_USDT_NOTES_H

#include <stdint.h>

#include "elf/elf_file.h"
#include "elf/probe/usdt_args.h"

/* Addresses are the file's own. */
struct usdt_note {
	uint64_t address;   /* of the nop */
	uint64_t semaphore; /* 0: the probe has none */
	struct usdt_arg args[USDT_MAX_ARGS];
};

/* Call FN for each place of the probe NAME of PROVIDER. Notes that are not whole end the search. */
void usdt_notes_find(struct elf_file *file, const char *provider, const char *name,
		     void (*fn)(const struct usdt_note *note, void *data), void *data);

#endif
