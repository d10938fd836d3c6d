# SPDX-License-Identifier: Apache-2.0
"""Of the unwinder: the step functions, the tables, the row compiler."""
from .mutant import Mutant

STEP = "bpf/native/row.h"
FIND = "bpf/unwind/find.h"
TABLES = "bpf/unwind/tables.h"
SIGNAL = "bpf/native/signal.h"
CURSOR = "bpf/unwind/cursor.h"
UNWIND = "bpf/unwind.h"
PROBED = "bpf/native/probed.h"
WALK = "userspace/unwind/walk.c"
BLOB = "bpf/hotspot/blob.h"
COMPILED = "bpf/hotspot/compiled.h"
CODE = "bpf/hotspot/compiled_bytes.h"
POLL = "bpf/hotspot/compiled_safepoint.h"
CODE_LEAF = "bpf/hotspot/compiled_leaf.h"
CODE_RULE = "bpf/hotspot/compiled_rule.h"
CODE_SAVED = "bpf/hotspot/compiled_saved.h"
ADAPTER = "bpf/hotspot/stub_adapter.h"
STUB_LEAF = "bpf/hotspot/stub_leaf.h"
STUB_SCAN = "bpf/hotspot/stub_scan.h"
STUB = "bpf/hotspot/stub.h"
INTERPRETED = "bpf/hotspot/interpreted.h"
INTERPRETER = "bpf/hotspot/interpreted_leaf.h"
INTERPRETER_EXIT = "bpf/hotspot/interpreted_exit.h"
CONTINUATION = "bpf/hotspot/continuation.h"
FROZEN = "bpf/hotspot/frozen.h"
ANCHOR = "bpf/hotspot/anchor.h"
ROWS = "userspace/unwind/tables/row_store.c"
SPACES = "userspace/unwind/tables/space_store.c"
LISTS = "userspace/unwind/tables/range_lists.c"
LAYER = "userspace/elf/cfi/cfi_layer.c"
RULE = "userspace/elf/cfi/cfi_rule.c"
ROOTS = "userspace/elf/cfi/cfi_roots.c"

# Of HotSpot: stacks of JDK 8 to 28, and what is made up.
JAVA = ["test_java_recorded", "test_compiled_leaf", "test_compiled_saved", "test_stub_leaf"]
HOTSPOT = ["test_hotspot", "test_interpreted"]

IN_FROZEN = ["test_frozen"]
IN_PROBED = ["test_probed"]

# Of the row compiler.
CFI = ["test_cfi_file", "test_cfi_reference", "test_cfi_roots"]

PROBED_STEPS = [
    Mutant("the trampoline is a frame", PROBED, "return c->trampoline && c->pc - c->trampoline <", "return 0 && c->pc - c->trampoline <",
           IN_PROBED),
    Mutant("all of the mapping is returned to", PROBED, "(c->leaf ? WIRE_PAGE_BYTES : 1)", "WIRE_PAGE_BYTES", IN_PROBED),
    Mutant("the last function entered has returned", PROBED, "probed_return_address(memory, entry_sp, &entry_sp);",
           "probed_return_address(memory, 0, &entry_sp);", IN_PROBED),
    Mutant("a true address of the kernel", PROBED, "if (!cursor_is_user(pc))", "if (!pc)", IN_PROBED),
    Mutant("the stack of before the return", PROBED, "c->sp = entry_sp + 8;", "c->sp = entry_sp;", IN_PROBED),
    Mutant("the list behind the system call", PROBED, "at < PROBED_POP_R11 || entry_sp == c->sp + 16 || entry_sp == c->sp - 8",
           "1", IN_PROBED),
    Mutant("the stack in the system call", PROBED, "|| entry_sp == c->sp + 16 ", "", IN_PROBED),
    Mutant("the words of the trampoline counted as popped", PROBED, " || entry_sp == c->sp - 8)", ")", IN_PROBED),
    Mutant("the trampoline's last pop", PROBED, "at <= PROBED_POP_RCX ? 8 : 0", "0", IN_PROBED),
    Mutant("a copy of another instruction", PROBED, "|| c->pc - copy_at >= PROBED_COPY_BYTES)", ")", IN_PROBED),
    Mutant("a copy's first byte only", PROBED, "c->pc = own_at + (c->pc - copy_at);", "c->pc = own_at;", IN_PROBED),
    Mutant("a breakpoint for a function's body", "bpf/native/leaf.h", "if (c->at_entry) {", "if (0) {", ["test_leaf"]),
]

# --- HotSpot ------------------------------------------------------------------------------------

JAVA_STEPS = [
    Mutant("frame size in bytes", COMPILED, "wire_u64 top = c->sp + 8ULL * c->compiled_seen.frame_size, ra, fp;",
           "wire_u64 top = c->sp + c->compiled_seen.frame_size, ra, fp;", HOTSPOT),
    Mutant("no rule for deoptimised frames", COMPILED, "if (frame_size && blob_is_deopt(c, c->pc) &&",
           "if (0 &&", HOTSPOT),
    Mutant("a true pc of other code believed", COMPILED,
           "if (!blob_holds(c, pc))\n\t\treturn cursor_stop(c, UNWIND_JAVA_FRAME);", "", HOTSPOT),
    Mutant("a place of the true pc outside of the frame", COMPILED,
           "if (at < 0 || (wire_u64)at >= 8ULL * frame_size)", "if (0)", HOTSPOT),
    Mutant("compile id not checked", COMPILED, "compile_id != c->compiled_seen.compile_id ||", "", HOTSPOT),
    Mutant("a blob's place not checked", COMPILED, " ||\n\t    blob_segment(c, memory) != c->compiled_seen.back)", ")", HOTSPOT),
    Mutant("another JVM's hot code used", COMPILED, "|| hot->serial != c->jvm.serial)", ")", HOTSPOT),
    Mutant("hot code checked only once", COMPILED, "if (c->compiled_seen.tick == c->tick)", "if (1)",
           HOTSPOT),
    Mutant("a nested walk writes the hot code", COMPILED, "if (!c->nested)\n\t\thot->tick = c->tick",
           "hot->tick = c->tick", HOTSPOT),
    Mutant("hot methods never expire", INTERPRETED, "|| hot->tick != c->tick)", ")", HOTSPOT),
    Mutant("another class at a hot method's address", INTERPRETED,
           "return word && (word & c->jvm.symbol_mask) == c->seen.word;", "return 1;", HOTSPOT),
    Mutant("another JVM's hot method used", INTERPRETED, "|| hot->serial != c->jvm.serial ||", "||", HOTSPOT),
    Mutant("registers of compiled code taken for its caller's", COMPILED, "c->rbx = 0;\n\tc->r13 = 0;", "",
           HOTSPOT),
    Mutant("the layout of the JVM before stays", BLOB, "\tc->jvm.interpreter_end = c->jvm.code_end = 0;\n", "",
           HOTSPOT),
    Mutant("a blob taken for as large as its block", BLOB,
           "if (!blob_holds(c, c->pc))\n\t\treturn cursor_stop(c, UNWIND_NO_BLOB);", "", HOTSPOT),
    Mutant("hops of userspace bounded as in BPF", BLOB, "#define BLOB_MAX_HOPS (1U << 14)",
           "#define BLOB_MAX_HOPS BLOB_NEAR_HOPS", HOTSPOT),
    Mutant("far blobs not noted", BLOB, "if (hops >= BLOB_NEAR_HOPS) {", "if (0) {", HOTSPOT),
    Mutant("free segments hopped from", BLOB, "back == BLOB_SEGMENT_FREE || ", "", HOTSPOT),
    Mutant("a hop over the segment map's beginning", BLOB, "|| back > *segment)", ")", HOTSPOT),
    Mutant("frame_complete read with four bytes", BLOB,
           "c->jvm.frame_complete_bytes == 2 ? (wire_s16)value : value", "value", HOTSPOT),
    Mutant("code begins where the blob does", BLOB, "return blob_place(c, c->jvm.code_begin,",
           "return blob_place(c, c->jvm.blob_size,", JAVA),
    Mutant("no prologue rule", CODE, "return compiled_is_unbuilt(c, ahead, bytes) ? COMPILED_ENTRY : COMPILED_BODY;",
           "return COMPILED_BODY;", JAVA),
    Mutant("no rule behind a prologue's push", CODE, "if (compiled_is_sub(p, bytes - 16))\n\t\treturn COMPILED_PUSHED;",
           "", JAVA),
    Mutant("no epilogue rule", CODE,
           "if (leaf_is_return(p) || compiled_is_far_poll(p) || compiled_is_poll_stub(p) ||\n\t    compiled_is_reserved_check(p))\n\t\treturn true;", "", JAVA),
    Mutant("no rule for pop %rbp", CODE, "return compiled_is_pop(p, bytes) ? COMPILED_PUSHED : COMPILED_BODY;",
           "return COMPILED_BODY;", JAVA),
    Mutant("no rule behind a wrapper's leave", CODE, "return compiled_is_behind_leave(c);", "return 0;", JAVA),
    Mutant("interpreter: sender sp is behind the frame", INTERPRETED, "frame->sender_sp < c->fp + 16 ||", "1 ||",
           JAVA),
    Mutant("interpreter: no rule for entries", INTERPRETER,
           "entry = interpreted_entry(c, &at);\n\tif (entry) {", "entry = interpreted_entry(c, &at);\n\tif (0) {",
           JAVA),
    Mutant("interpreter: no rule for removed activations", INTERPRETER, "return interpreted_removed(c, memory);",
           "return INTERPRETED_STANDS;", JAVA),
    Mutant("interpreter: no word of alignment", INTERPRETER_EXIT,
           "return leaf_u32(p) == INTERPRETED_UNALIGN ? 8 : 0;", "return 0;", ["test_interpreted_leaf"]),
    Mutant("interpreter: its return address taken for an argument", CODE_RULE, "blob_is_interpreter(c, ra) ||", "",
           ["test_interpreted_leaf"]),
    Mutant("interpreter: a barrier's frame taken for the method's", INTERPRETED,
           "if ((!c->leaf && !c->native) || !compiled_is_inner(c, memory, &outer))", "if (1)", HOTSPOT),
    Mutant("a barrier's frame taken for its stub's", STUB, "return compiled_target(c, memory, ra) ? outer : 0;", "return 0;",
           JAVA),
    Mutant("a barrier returns to a method that was left", STUB, "return blob_owns(c, ra) ? sp : 0;", "return 0;", JAVA),
    Mutant("doYield() in its own frame to the end", CODE_LEAF, "return bytes != 0;", "return 0;", JAVA),
    Mutant("no arguments of ZGC's barriers", CODE_RULE, "if (leaf_u32(p) == COMPILED_ADD_ARGUMENTS &&", "if (0 &&", JAVA),
    Mutant("interpreter: wrong bcp slot", INTERPRETED, "interpreted_slot(c, memory, c->jvm.bcp_slot, &frame->bcp)",
           "interpreted_slot(c, memory, c->jvm.method_slot, &frame->bcp)", ["test_unwind"]),
    Mutant("call stub: no registers given back", STUB, "stub_slot(c, memory, WIRE_ENTRY_R15, &c->r15)", "0", HOTSPOT),
    Mutant("call stub: rbx lost", STUB, "c->rbx = rbx;", "", HOTSPOT),
    Mutant("call stub: wrapper's anchor not noted", STUB, "c->anchor_at = wrapper + c->jvm.wrapper_anchor;", "",
           HOTSPOT),
    Mutant("no return barrier", UNWIND, "c->pc == c->jvm.return_barrier ?", "0 ?", ["test_continuation"]),
    Mutant("no mark of frozen frames", UNWIND,
           "if ((moves || !found) && unwind_put_frozen(c, out))\n\t\treturn UNWIND_STOP;", "", ["test_continuation"]),
    Mutant("no mark where a chunk's frames are lost", UNWIND,
           "if (kind == FROZEN_LOST)\n\t\treturn unwind_leave_heap(c, out);",
           "if (kind == FROZEN_LOST)\n\t\treturn frozen_leave(c);", IN_FROZEN),
    Mutant("no mark where a parent cannot be read", UNWIND, "if (c->frozen_at.cut)\n\t\treturn unwind_leave_heap(c, out);", "",
           IN_FROZEN),
    Mutant("no mark while frames are on their way", CONTINUATION, "c->frozen_at.entry - c->sp > CONTINUATION_SAVED_BYTES;",
           "0;", ["test_continuation", "test_frozen"]),
    Mutant("the heap of a later time", FROZEN, "if (!f->live || ", "if (", IN_FROZEN),
    Mutant("frozen frames twice", FROZEN, "sp == c->frozen_at.entry;", "0;", IN_FROZEN),
    Mutant("frozen frames twice in doYield()", FROZEN, "return c->frozen_at.yields || ", "return ", IN_FROZEN),
    Mutant("doYield() of any size", FROZEN, "if (!c->leaf || c->compiled_seen.frame_size != FROZEN_YIELD_WORDS)",
           "if (!c->leaf)", IN_FROZEN),
    Mutant("a chunk that has moved", FROZEN, "return frozen_is_free(frozen_u64(c, 0)) &&", "return", IN_FROZEN),
    Mutant("a Continuation that has moved", FROZEN, "|| !frozen_is_free(mark) ||", "||", IN_FROZEN),
    Mutant("any object for a chunk", FROZEN,
           "(frozen_u64(c, c->jvm.chunks.klass_at) & c->jvm.chunks.klass_mask) ==\n\t\t       c->jvm.chunks.klass;",
           "1;", IN_FROZEN),
    Mutant("chunks: links of interpreted frames not relative", FROZEN, "fp = f->link + 8 * fp;", "", IN_FROZEN),
    Mutant("chunks: a sender's stack pointer not relative", FROZEN, "frame->sender_sp = fp + 8 * sender;",
           "frame->sender_sp = sender;", IN_FROZEN),
    Mutant("chunks: a frame beyond the end", FROZEN, "if (top > f->end || ", "if (", IN_FROZEN),
    Mutant("chunks without end", FROZEN, "++f->chunks > FROZEN_MAX_CHUNKS", "0", IN_FROZEN),
    Mutant("chunks: the newest only", FROZEN, "f->parent = frozen_oop(c, frozen_u64(c, c->jvm.chunks.parent));",
           "f->parent = 0;", IN_FROZEN),
    Mutant("chunks: a method without a name", FROZEN, "if (!c->seen.identity)\n\t\treturn FROZEN_LOST;", "", IN_FROZEN),
    Mutant("no mark of an anchor", UNWIND, "return unwind_put_mark(c, out, WIRE_MARK_ANCHOR);",
           "return UNWIND_GO_ON;", HOTSPOT),
    Mutant("an anchor of other code believed", ANCHOR, "if (!blob_owns(c, anchor.pc))\n\t\treturn UNWIND_STOP;", "",
           HOTSPOT),
    Mutant("an anchor that leads back believed", ANCHOR, "anchor.sp <= c->sp ||", "", HOTSPOT),
    Mutant("an anchor without a pc given up", ANCHOR,
           "(!anchor.pc && cursor_load(c, memory, anchor.sp - 8, &anchor.pc));", "0;", HOTSPOT),
    Mutant("adapters: sender sp not from %r13", STUB_LEAF, "if (stub_is_to_interpreter(c))\n\t\treturn r13;", "", JAVA),
    Mutant("adapters: return address not from %rax", ADAPTER, "return all & STUB_MOVES_SP ? STUB_POPPED_MOVED : STUB_POPPED;",
           "return STUB_NOT_POPPED;", JAVA),
    Mutant("stubs: no frame pointer's frame in a leaf", STUB_SCAN,
           "return start > nearest && (!nearest || stub_enters(c, memory, start));", "return 0;", JAVA),
    Mutant("stubs: no frame of the stub that jumped here", STUB_SCAN,
           "return !nearest && stub_enters(c, memory, start);", "return 0;", JAVA),
    Mutant("stubs: nothing pushed below native code", STUB_LEAF, " || stub_pushes_for_native(c, memory, &rule)", "",
           JAVA),
    Mutant("rethrow's own instructions taken for a frame", INTERPRETER, "if (interpreted_rethrows_here(c, memory))",
           "if (0)", ["test_interpreted_leaf"]),
    Mutant("stubs: pushed words not counted in the look at the caller", STUB_LEAF,
           "sp + compiled_pushed_bytes(c, memory, ra)))", "sp))", JAVA),
    Mutant("the first place that fits among saved registers", CODE_SAVED, "found = (wire_u32)state;",
           "return (wire_u32)state;", JAVA),
    Mutant("sub between saved registers not counted", CODE_SAVED,
           "saved += next.move & COMPILED_MOVE_SUB ? -(next.move & 0x7fff) : next.move & 0x7fff;", "saved += next.move & 0x7fff;", JAVA),
    Mutant("an address in the interpreter among saved registers", CODE_SAVED,
           "if (!blob_is_interpreter(c, ra))", "if (1)", JAVA),
    Mutant("an interpreted frame's pointer for a compiled one's", "bpf/hotspot/compiled_settle.h",
           "!compiled_fp_is_interpreted(c, memory) && ", "", JAVA),
    Mutant("the frame pointer below a stub of C2 for its own", "bpf/hotspot/compiled_settle.h",
           "if (compiled_aligns(c, at))", "if (1)", JAVA),
    Mutant("math entries: the return address at sp", INTERPRETER,
           "if (c->jvm.bcp_slot != INTERPRETED_BCP_SLOT_8 ||", "if (1 ||", ["test_interpreted_leaf"]),
    Mutant("stubs: no return address in %rdx", STUB_LEAF, "if (stub_has_rdx(c->text + UNWIND_TEXT_BEHIND) &&", "if (0 &&", JAVA),
    Mutant("adapters: a call that leads here, farther up, instead of [sp]", STUB_LEAF, "if (stub_is_adapter_leaf(c, memory))",
           "if (0)", JAVA),
    Mutant("adapters: not at the mov behind the popf", ADAPTER, "at = UNWIND_TEXT_BEHIND - 1; at <", "at = UNWIND_TEXT_BEHIND; at <", JAVA),
    Mutant("adapters: no sub behind the copy", ADAPTER, "if (leaf_u24(from - 4) == LEAF_SUB8)", "if (0)", JAVA),
    Mutant("a leaf's function that jumps on not followed", "bpf/native/leaf_call.h", "if (jump) {", "if (0) {", ["test_unwind"]),
    Mutant("a frame that was taken over left by its size", CODE_LEAF, " || compiled_takes_over(c, memory)", "", JAVA),
    Mutant("no look at the frame that an old word leads to", CODE_LEAF, "if (compiled_checks_out(c, memory, ra, rule.cfa))",
           "if (0)", JAVA),
    Mutant("%rbx taken for where a poll was", POLL, "word == c->leaf_regs[DWARF_RBX] || ", "", JAVA),
    Mutant("no way out of a poll's first instructions", CODE_LEAF, "if (stop != COMPILED_NO_POLL)", "if (0)", JAVA),
    Mutant("no end of methods with a reserved zone", CODE, "return leaf_u24(p - 7) == 0xa73b49 &&", "return 0 &&",
           JAVA),
    Mutant("entry barrier: no cookie", STUB, "word == ~0ULL &&", "0 &&", JAVA),
]

# --- the row step -----------------------------------------------------------------------------

STEPS = [
    Mutant("wrong CFA register", STEP, "case DWARF_RBX: *ret_value = c->rbx;",
           "case DWARF_RBX: *ret_value = c->r13;", ["test_row"]),
    Mutant("CFA offset with the wrong sign", STEP, "base += (wire_u64)(wire_s64)rule->cfa_offset;",
           "base -= (wire_u64)(wire_s64)rule->cfa_offset;", ["test_row"]),
    Mutant("CFA offset without its sign", STEP, "(wire_u64)(wire_s64)rule->cfa_offset",
           "(wire_u64)(wire_u32)rule->cfa_offset", ["test_row"]),
    Mutant("CFA in memory taken for a plain one", STEP, "if (rule->kind == WIRE_RULE_DEREF) {",
           "if (0) {", ["test_row"]),
    Mutant("no addend to a CFA in memory", STEP, "base += (wire_u64)((wire_s64)rule->cfa_add * 8);",
           "", ["test_row"]),
    Mutant("PLT threshold one too far", STEP, "(wire_s64)(c->pc & 15) >= rule->cfa_add",
           "(wire_s64)(c->pc & 15) > rule->cfa_add", ["test_row"]),
    Mutant("registers taken from a home that was popped", STEP, "if (!row_has_popped(c, rule, cfa, home) && ",
           "if (", ["test_row"]),
    Mutant("no PLT rule", STEP, "rule->kind == WIRE_RULE_PLT", "0", ["test_row"]),
    Mutant("r12 of the leaf taken for its caller's", STEP,
           "if (!c->regs_kept || (!c->leaf && (reg == DWARF_R12 || reg == DWARF_R14)))",
           "if (!c->regs_kept)", ["test_row"]),
    Mutant("return address always below the CFA", STEP, "cfa - 8ULL * rule->ra_slot, ret_pc",
           "cfa - 8, ret_pc", ["test_row"]),
    Mutant("return address never in a register", STEP, "if (rule->ra_slot & WIRE_RA_REGISTER)",
           "if (0)", ["test_row"]),
    Mutant("rbp not restored", STEP, "else if (row_restore(c, memory, home, rule->rbp_slot, &c->fp))",
           "else if (0)", ["test_row"]),
    Mutant("saved registers always below the CFA", STEP, "*ret_home += 16;", "*ret_home = cfa;",
           ["test_row"]),
    Mutant("no index to a CFA in memory", STEP, "*base += 8 * index;", "", ["test_row"]),
    Mutant("r15 not restored", STEP,
           "row_restore_byte(c, memory, home, rule->r15_slot, &c->r15)", "0", ["test_row"]),
    Mutant("a lost register taken for the same", STEP, "*value = 0;", "", ["test_row"]),
    Mutant("a lost rbp taken for the same", STEP, "c->fp = 1; /* no frame pointer */", ";",
           ["test_row"]),
    Mutant("registers of the leaf kept for its caller", CURSOR, "c->leaf = 0;", "", ["test_row"]),
    Mutant("exact mark kept for the caller", CURSOR, "c->exact = 0;", "", ["test_frame_pointer_chain", "test_walk", "test_cursor"]),
    Mutant("a frame that does not rise", STEP, "if (cfa < sp || (cfa == sp && !leaf))",
           "if (cfa < sp)", ["test_row"]),
    Mutant("no signal-frame rule", UNWIND, "case WIRE_RULE_SIGNAL: return UNWIND_STEP_SIGNAL;",
           "case WIRE_RULE_SIGNAL: return UNWIND_STEP_ROW;", ["test_row"]),
    Mutant("exact mark not set after a signal", CURSOR, "c->exact = 1;", "c->exact = 0;",
           ["test_row", "test_unwind"]),
    Mutant("registers of the interrupted code not taken", SIGNAL, "signal_restore(c);", "",
           ["test_row"]),
    Mutant("interrupted code not taken for a leaf", CURSOR, "c->leaf = 1;", "", ["test_row"]),
    Mutant("END not recognised", UNWIND, "case WIRE_RULE_END: return UNWIND_STEP_END;",
           "case WIRE_RULE_END: return UNWIND_STEP_FP;", ["test_row"]),
    Mutant("a bad row walked by the frame pointer", UNWIND, "default: return UNWIND_STEP_BAD_ROW;",
           "default: return UNWIND_STEP_FP;", ["test_row"]),
]

# --- from an address to its rule --------------------------------------------------------------

FINDS = [
    Mutant("return address looked up at pc", FIND, "return c->exact ? c->pc : c->pc - 1;",
           "return c->pc;", ["test_find"]),
    Mutant("exact address looked up at pc - 1", FIND, "return c->exact ? c->pc : c->pc - 1;",
           "return c->pc - 1;", ["test_find"]),
    Mutant("row off by one", FIND, "block->rows[next].offset - offset - 1;",
           "block->rows[next].offset - offset;", ["test_find"]),
    Mutant("last row of a block never found", FIND, "(wire_s64)next - block->count;", "(wire_s64)next + 1 - block->count;",
           ["test_find"]),
    Mutant("rows that are no more", FIND, "(is_there & is_below) >> 63", "is_below >> 63", ["test_find"]),
    Mutant("block chain not followed", FIND, "if (!block || !block->next || offset < block->next_offset)",
           "if (1)", ["test_find"]),
    Mutant("block chain left one row late", FIND, "offset < block->next_offset",
           "offset <= block->next_offset", ["test_find"]),
    Mutant("no generation check before reading", FIND,
           "if (!head || *(volatile wire_u32 *)&head->generation != generation)", "if (!head)",
           ["test_find"]),
    Mutant("no generation check after reading", FIND,
           "return *(volatile wire_u32 *)&head->generation == generation ? UNWIND_FOUND : UNWIND_ABSENT;",
           "return UNWIND_FOUND;", ["test_find"]),
    Mutant("no range-serial check", FIND, "if (*(const volatile wire_u32 *)&range->serial != c->serial)", "if (0)",
           ["test_find"]),
    Mutant("end of a range belongs to it", FIND, "address < c->range.end;", "address <= c->range.end;",
           ["test_find"]),
    Mutant("range off by one", FIND, "if (range->start <= address)", "if (range->start < address)",
           ["test_find"]),
    Mutant("bias ignored", FIND, "address - c->range.bias", "address", ["test_find"]),
    Mutant("hot cache ignores the serial", FIND, "hot->serial != c->serial ||", "",
           ["test_find"]),
    Mutant("hot cache ignores the epoch", FIND, "|| hot->epoch != c->now_s >> 1", "",
           ["test_find"]),
    Mutant("a nested walk writes the hot cache", TABLES, "if (!entry || c->nested)", "if (!entry)", ["test_find"]),
    Mutant("a page looked up once", FIND, "if (!again || again->block != first || again->generation != generation)",
           "if (!again)", ["test_find"]),
    Mutant("use of rows not marked", FIND, "head->used_s = c->now_s;", "", ["test_find"]),
    Mutant("code without a file taken for missing rows", UNWIND,
           "c->made = 1;\n\t\treturn unwind_choose_blind(c, memory);", "return UNWIND_STEP_MISS;", ["test_find"]),
    Mutant("a frame written before its miss", UNWIND,
           "if (step == UNWIND_STEP_MISS)\n\t\treturn unwind_miss(c);",
           "if (step == UNWIND_STEP_MISS)\n\t\treturn cursor_put_frame(c, out, WIRE_FRAME_CODE, 1), "
           "unwind_miss(c);", ["test_find"]),
    Mutant("resume drops frames", WALK, "c->words = result->word_count;", "c->words = 0;", ["test_find"]),
    Mutant("resume counts no frames", WALK, "c->frames = result->frames;", "", ["test_find"]),
]

# --- stores -----------------------------------------------------------------------------------

STORES = [
    Mutant("block quarantine skipped", "userspace/unwind/tables/quarantine.h",
           "return now_ns >= begin_ns + READERS_NS;", "return true;", ["test_row_store"]),
    Mutant("a generation given out twice", ROWS, "if (++store->generation == 0)",
           "if (store->generation == 0)", ["test_row_store"]),
    Mutant("most recently used evicted first", ROWS, "return x->rank < y->rank ? -1 : x->rank > y->rank;",
           "return x->rank > y->rank ? -1 : x->rank < y->rank;", ["test_row_store"]),
    Mutant("next_offset of the following block's end", ROWS, "block->next_offset = rows[done].offset;",
           "block->next_offset = rows[done - 1].offset;", ["test_row_store"]),
    Mutant("entry deleted after its rows", ROWS,
           "store->memory->set_page(&key, NULL, store->memory->data);\n\tforget_key(store, &key, now_ns);",
           "forget_key(store, &key, now_ns);\n\tstore->memory->set_page(&key, NULL, store->memory->data);",
           ["test_row_store"]),
    Mutant("a list that was given up means no code", FIND,
           "return UNWIND_ABSENT;\n\t}\n\treturn find_in_range", "return UNWIND_OUTSIDE;\n\t}\n\treturn find_in_range",
           ["test_space_store"]),
    Mutant("the caller's clock is believed", "userspace/unwind/tables/quarantine.h",
           "return MAX(now_ns, clock_ns);", "return clock_ns ? now_ns : 0;", ["test_row_store"]),
    Mutant("a list without spaces is not revived", "userspace/unwind/tables/range_lists.c",
           "if (*ret_found && list->refs == 0)", "if (0)", ["test_range_lists"]),
    Mutant("serials repeat after a wrap", "userspace/unwind/tables/range_lists.c",
           "while (!lists->last_serial || hmap_find_ptr(&lists->by_serial, lists->last_serial));",
           "while (0);", ["test_range_lists"]),
    Mutant("most recently used space first", "userspace/unwind/tables/space_store.c",
           "return x->used_s < y->used_s ? -1 : 1;", "return x->used_s < y->used_s ? 1 : -1;",
           ["test_space_store"]),
    Mutant("rules never released", ROWS, "rule_set_unref(&store->rules, b->rows[i].rule, now_ns);", "",
           ["test_row_store"]),
]

# --- rows out of call frame information --------------------------------------------------------

ROWS_MADE = [
    Mutant("gap row missing between functions", LAYER,
           "if (pieces[i].start > at)\n\t\t\tcfi_rows_put(page->rows, (uint32_t)(at - page->start), &no_rule);",
           "", CFI),
    Mutant("gap row missing at the end of a page", LAYER,
           "if (at < page->end)\n\t\tcfi_rows_put(page->rows, (uint32_t)(at - page->start), &no_rule);",
           "", CFI),
    Mutant("a row begins one byte late", LAYER,
           "cfi_rows_put(page->rows, (uint32_t)(at - page->start), &rule);",
           "cfi_rows_put(page->rows, (uint32_t)(at - page->start + 1), &rule);", CFI),
    Mutant("a function that began on the page before left out", LAYER,
           "ret_piece->start = MAX(fde.start, page->start);",
           "if (fde.start < page->start)\n\t\treturn false;\n\tret_piece->start = fde.start;", CFI),
    Mutant("bad instructions taken for no description", LAYER, ".kind = WIRE_RULE_BAD }",
           ".kind = WIRE_RULE_NONE }", CFI),
    Mutant("signal augmentation ignored", RULE, "if (signal)\n\t\treturn plain(WIRE_RULE_SIGNAL);", "",
           CFI),
    Mutant("undefined return address not taken for the end", RULE,
           "return plain(WIRE_RULE_END);", "return plain(WIRE_RULE_BAD);", CFI),
    Mutant("a lost register written as the same", RULE,
           "if (place.kind != expected || place.home != rule->home_reg)\n\t\treturn lost;",
           "if (place.kind != expected || place.home != rule->home_reg)\n\t\treturn WIRE_SLOT_SAME;", CFI),
    Mutant("slot counted from the wrong end", RULE,
           "return (struct place){ kind, (unsigned int)(-offset / 8), home };",
           "return (struct place){ kind, (unsigned int)(-offset / 8 + 1), home };", CFI),
    Mutant("rbp's slot taken from rbx", RULE, "slot_of(frame, RBP, rule, WIRE_RBP_SLOT_LOST)",
           "slot_of(frame, RBX, rule, WIRE_RBP_SLOT_LOST)", CFI),
    Mutant("PLT threshold misread", RULE, "*ret_limit = (int16_t)(ops[i].atom - DW_OP_lit0);",
           "*ret_limit = (int16_t)(ops[i].atom - DW_OP_lit1);", CFI),
    Mutant("DEREF rule written as a plain CFA", RULE, "return WIRE_RULE_DEREF;", "return WIRE_RULE_CFA;",
           CFI),
    Mutant("home of saved registers ignored", RULE, "rule->home_reg = rbp.home;", ";", CFI),
    Mutant("return address in a register not known", RULE,
           "rule.ra_slot = (wire_u8)(WIRE_RA_REGISTER | ra.number);", "rule.ra_slot = 1;", CFI),
    Mutant("entry point not taken for the end", ROOTS, "{ entry, limit, { .kind = WIRE_RULE_END }, false }",
           "{ entry, limit, { .kind = WIRE_RULE_NONE }, false }", CFI),
]

MUTANTS = PROBED_STEPS + JAVA_STEPS + STEPS + FINDS + STORES + ROWS_MADE
