/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions as assembly has them, without call frame information: each works a little, calls what it was given, and
 * works again. void asm_NAME(void (*callee)(void)). See asm_main.c.
 */
	.text

	.macro function name
	.globl \name
	.type \name, @function
	.balign 16
\name:
	.endm

/* r11 is nobody's. */
	.macro work turns
	mov	$\turns, %r11d
9:	imul	$77, %r11d, %eax
	dec	%r11d
	jnz	9b
	.endm

function asm_plain
	push	%rbx
	mov	%rdi, %rbx
	sub	$32, %rsp
	work	30
	call	*%rbx
	work	30
	add	$32, %rsp
	pop	%rbx
	ret
	.size asm_plain, .-asm_plain

/* A frame pointer, and the stack aligned below it. */
function asm_framed
	push	%rbp
	mov	%rsp, %rbp
	push	%rbx
	push	%r12
	mov	%rdi, %rbx
	sub	$192, %rsp
	and	$-64, %rsp
	work	30
	call	*%rbx
	work	30
	lea	-16(%rbp), %rsp
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.size asm_framed, .-asm_framed

/* The old stack pointer in a word of the new frame (x86inc.asm's way). */
function asm_realigned
	push	%rbx
	push	%rbp
	mov	%rsp, %rax
	sub	$232, %rsp
	and	$-32, %rsp
	mov	%rax, 224(%rsp)
	mov	%rdi, %rbx
	xor	%ebp, %ebp
	work	30
	call	*%rbx
	mov	%rsp, %rbp
	work	30
	mov	224(%rsp), %rsp
	pop	%rbp
	pop	%rbx
	ret
	.size asm_realigned, .-asm_realigned

/* As much stack as somebody says. */
function asm_alloca
	push	%rbp
	mov	%rsp, %rbp
	push	%r13
	mov	%rdi, %r13
	mov	%rdi, %rax
	and	$240, %eax
	add	$40, %rax
	sub	%rax, %rsp
	and	$-16, %rsp
	work	30
	call	*%r13
	work	30
	mov	-8(%rbp), %r13
	leave
	ret
	.size asm_alloca, .-asm_alloca

function asm_enter
	enter	$48, $0
	mov	%rbx, -8(%rbp)
	mov	%rdi, %rbx
	work	30
	call	*%rbx
	work	30
	mov	-8(%rbp), %rbx
	leave
	ret
	.size asm_enter, .-asm_enter

/* Registers saved by moves, and the frame pointer used for something else. */
function asm_moves
	sub	$56, %rsp
	mov	%rbx, 48(%rsp)
	mov	%rbp, 40(%rsp)
	mov	%r13, 32(%rsp)
	mov	%r15, 24(%rsp)
	mov	%rdi, %rbp
	xor	%ebx, %ebx
	mov	$3, %r13d
	mov	$4, %r15d
	work	30
	call	*%rbp
	work	30
	mov	48(%rsp), %rbx
	mov	40(%rsp), %rbp
	mov	32(%rsp), %r13
	mov	24(%rsp), %r15
	add	$56, %rsp
	ret
	.size asm_moves, .-asm_moves

/* A table of jumps, and two ends. */
function asm_jumps
	push	%r15
	push	%rbp
	push	%rbx
	mov	%rdi, %rbx
	lea	.Ltable(%rip), %rbp
	xor	%r15d, %r15d
.Lnext:	movslq	(%rbp,%r15,4), %rax
	add	%rbp, %rax
	jmp	*%rax
.Lone:	work	10
	inc	%r15d
	jmp	.Lnext
.Ltwo:	sub	$16, %rsp
	work	10
	call	*%rbx
	add	$16, %rsp
	inc	%r15d
	jmp	.Lnext
.Lthree:	work	10
	test	%rbx, %rbx
	jz	.Lfour
	pop	%rbx
	pop	%rbp
	pop	%r15
	ret
.Lfour:	pop	%rbx
	pop	%rbp
	pop	%r15
	xor	%eax, %eax
	ret
	.size asm_jumps, .-asm_jumps

/* A subroutine that nobody else knows, with an own way of passing things. */
function asm_local
	push	%rbp
	push	%rbx
	mov	%rdi, %rbx
	sub	$8, %rsp
	call	1f
	add	$8, %rsp
	pop	%rbx
	pop	%rbp
	ret
1:	mov	$7, %ebp
	push	%rbp
	sub	$16, %rsp
	work	20
	call	*%rbx
	work	20
	add	$24, %rsp
	ret
	.size asm_local, .-asm_local

/* Goes on as another function. */
function asm_tail
	push	%rbx
	mov	%rdi, %rbx
	work	30
	call	*%rdi
	mov	%rbx, %rdi
	pop	%rbx
	jmp	asm_moves
	.size asm_tail, .-asm_tail

/* No frame, and the frame pointer for a counter. */
function asm_leaf
	mov	%rbp, %rdx
	mov	$400, %ebp
1:	imul	$33, %ebp, %eax
	dec	%ebp
	jnz	1b
	mov	%rdx, %rbp
	ret
	.size asm_leaf, .-asm_leaf

	.section .rodata
	.balign 4
.Ltable:
	.long	.Lone - .Ltable, .Ltwo - .Ltable, .Lone - .Ltable, .Lthree - .Ltable

	.section .note.GNU-stack, "", @progbits
