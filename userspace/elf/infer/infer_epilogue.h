/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The return of functions whose call frame information ends before their frame does: compilers up to gcc 4.4 describe no
 * epilogues (JNA's library is made by one). Where the frame pointer tells the frame a return can only follow on the frame
 * pointer's own restoring, whatever the record says.
 */
#ifndef HOSTPROF_ELF_INFER_INFER_EPILOGUE_H
#define HOSTPROF_ELF_INFER_INFER_EPILOGUE_H

#include <stddef.h>

#include "elf/cfi/cfi_rows.h"

/* Change ROWS of a page where its code, LEN bytes from offset AT in the page on, has such a return. */
void infer_epilogues(struct cfi_rows *rows, uint32_t at, const uint8_t *code, size_t len);

#endif
