/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without a C library, symbols and call frame information, in frames of %rbp. First comes its
 * start, longer than the 64 bytes in which an entry is believed by its place alone; -DCUT: it calls
 * a function that clears %rbp and calls on.
 * usage: starting; some 3 s.
 */
	.globl _start
_start:
	xor	%ebp, %ebp
	.skip	100, 0x90
	and	$-16, %rsp
#ifdef CUT
	call	middle
	hlt
middle:
	xor	%ebp, %ebp
#endif
	call	outer
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.skip	100, 0x90
outer:
	push	%rbp
	mov	%rsp, %rbp
	mov	$3000, %ebx
1:	call	inner
	dec	%ebx
	jnz	1b
	pop	%rbp
	ret
inner:
	push	%rbp
	mov	%rsp, %rbp
	mov	$1500000, %ecx
2:	dec	%ecx
	jnz	2b
	pop	%rbp
	ret
	.section .note.GNU-stack,"",@progbits
