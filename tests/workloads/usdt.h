/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A USDT probe as SystemTap's sys/sdt.h describes it, for programs of tests: a nop, and a note of type 3 of "stapsdt" that has its address, the
 * base's, the semaphore's, and three strings.
 */
#ifndef HOSTPROF_TESTS_USDT_H
#define HOSTPROF_TESTS_USDT_H

/* SEMAPHORE: a symbol's name, or "0". */
#define USDT_PROBE(provider, name, semaphore)                                  \
	__asm__ volatile("1:	nop\n"                                            \
			 "	.pushsection .note.stapsdt, \"\", @note\n"          \
			 "	.balign 4\n"                                        \
			 "	.long 8, 3f - 2f, 3\n"                              \
			 "	.asciz \"stapsdt\"\n"                               \
			 "2:	.quad 1b, usdt_base, " semaphore "\n"          \
			 "	.asciz \"" provider "\", \"" name "\", \"\"\n" \
			 "3:	.balign 4\n"                                      \
			 "	.popsection\n")

/* Once in a program: where it was linked, and a semaphore. */
#define USDT_BASE                                                \
	__asm__(".pushsection .stapsdt.base, \"a\", @progbits\n" \
		"usdt_base: .byte 0\n"                           \
		".popsection\n")
#define USDT_SEMAPHORE(name) volatile unsigned short name __attribute__((section(".probes"), used))

#endif
