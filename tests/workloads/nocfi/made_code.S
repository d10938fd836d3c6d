/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that made.c copies to memory without a file, where nobody says anything of it. Without frame pointers: each has
 * something else in %rbp while it calls %rdi and while it works. How they save registers is as compilers at run time do.
 */

#define ROUNDS 6000

#define WORK mov $ROUNDS, %ecx; 9: dec %ecx; jnz 9b

	.section .note.GNU-stack, "", @progbits
	.section .rodata
	.balign 64
	.globl made_begin
made_begin:

/* As PCRE2's compiler: pushes, a number in %rbp. */
	.globl made_pushes
made_pushes:
	push %rbp
	push %rbx
	push %r15
	sub $0x40, %rsp
	mov %rdi, %rbx
	mov $0x12345678, %ebp
	mov $3, %r15d
1:	call *%rbx
	WORK
	dec %r15d
	jnz 1b
	add $0x40, %rsp
	pop %r15
	pop %rbx
	pop %rbp
	ret

/* As mono's: places, and %rbp points to what only looks like a frame. */
	.balign 64
	.globl made_moves
made_moves:
	sub $0x108, %rsp
	mov %rbx, 0x100(%rsp)
	mov %rbp, 0xf8(%rsp)
	mov %rdi, %rbx
	lea 0x40(%rsp), %rbp
	mov %rdi, 8(%rbp)
	lea 0x80(%rsp), %rax
	mov %rax, (%rbp)
	call *%rbx
	test %rbx, %rbx
	jne 1f
	WORK
1:	WORK
	mov 0xf8(%rsp), %rbp
	mov 0x100(%rsp), %rbx
	add $0x108, %rsp
	ret

/* A part of it is called. */
	.balign 64
	.globl made_parts
made_parts:
	push %rbp
	push %rbx
	sub $0x18, %rsp
	mov %rdi, %rbx
	xor %ebp, %ebp
	call 2f
	call *%rbx
	call 2f
	lea 0x18(%rsp), %rsp
	pop %rbx
	pop %rbp
	ret
2:	push %rbx
	WORK
	pop %rbx
	ret

/* As PHP's: jumped to in a frame of the interpreter's, and jumps back there. */
	.balign 64
	.globl made_jumps
made_jumps:
	sub $0x20, %rsp
	mov %rbp, 8(%rsp)
	mov $0x123, %ebp
	call *%rbx
	WORK
	mov 8(%rsp), %rbp
	add $0x20, %rsp
	.byte 0xe9
	.globl made_jumps_to
made_jumps_to:
	.long 0
	.globl made_end
made_end:

	.text
/* jumping(callee, made code) */
	.globl jumping
	.type jumping, @function
jumping:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	sub $0x10, %rsp
	.cfi_adjust_cfa_offset 0x10
	mov %rdi, %rbx
	jmp *%rsi
	.globl jumped_back
jumped_back:
	add $0x10, %rsp
	.cfi_adjust_cfa_offset -0x10
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size jumping, . - jumping
