# SPDX-License-Identifier: Apache-2.0
"""Of the names of stubs, read from outside."""
from .mutant import Mutant

LIST = "userspace/jvm/names/stub_list.c"
VTABLE = "userspace/jvm/names/vtable_stub.c"
NAME = "userspace/jvm/java_name.c"
NAMES = "userspace/jvm/names/code_names.c"

LISTED = ["test_stub_list"]
DISPATCH = ["test_vtable_stub"]
PAGES = "userspace/jvm/layout/vm_memory.c"
PAGED = ["test_vm_memory"]

MUTANTS = [
    Mutant("stubs: where others have the list nobody looks", LIST, " || look_where_others_have_it(list))", " || (0 && look_where_others_have_it(list)))", LISTED),
    Mutant("stubs: what others have there is not proven", LIST, "\t    !is_head(list, found.head, found.words))\n\t\treturn false;", "\t    (is_head(list, found.head, found.words), 0))\n\t\treturn false;", LISTED),
    Mutant("pages: each is read for itself", PAGES, "group->there |= (hops[i].len == PAGE_BYTES) << i;", "group->there = 1U << i;", PAGED),
    Mutant("pages: what could not be read is kept", PAGES, "group->there |= (hops[i].len == PAGE_BYTES) << i;", "group->there |= 1U << i;", PAGED),
    Mutant("pages: a table and its names have one place", PAGES, "place->last = !place->last;", ";", PAGED),
    Mutant("stubs: any list will do", LIST,
           "return innermost(list, list->layout->wire.call_stub_return - 1) != NULL;", "return true;", LISTED),
    Mutant("stubs: only the page of the variable that is known", LIST, "i <= 2 * MAX_PAGES && left", "i < 1 && left", LISTED),
    Mutant("stubs: only upwards", LIST, "down = i % 2, pages", "down = 0, pages", LISTED),
    Mutant("stubs: all have the layout of JDK 9", LIST, "starts[] = { DESC_START, DESC_START_JDK_8 };",
           "starts[] = { DESC_START };", LISTED),
    Mutant("stubs: the list is as it was first", LIST, "if (!stub && has_grown(list, &head)) {", "if (0) {", LISTED),
    Mutant("stubs: each candidate's list is read whole", LIST, "list->elements >= MAX_ELEMENTS ||", "", LISTED),
    Mutant("stubs: read again without an end", LIST, "list->elements < MAX_ELEMENTS &&", "", LISTED),
    Mutant("stubs: searched again and again", LIST, "list->searched = true;", "", LISTED),
    Mutant("stubs: the outermost counts", LIST, "stub->end - stub->start < found->end - found->start",
           "stub->end - stub->start > found->end - found->start", LISTED),
    Mutant("stubs: of code that is not the JVM's", LIST, "if (!in_code(list, stub.start, stub.end))\n\t\treturn;", "", LISTED),
    Mutant("stubs: what was busy once has no list", LIST, "list->searched = !passes || ++list->tries >= MAX_TRIES;", "", ["test_stub_list"]),
    Mutant("stubs: who is busy is asked for ever", LIST, "list->searched = !passes || ++list->tries >= MAX_TRIES;", "list->searched = !passes;", ["test_stub_list"]),
    Mutant("stubs: a blob is one stub", NAMES, "*name = stub_list_find(&names->stubs, address);", ";", ["test_code_names"]),
    Mutant("stubs: all dispatch is by vtables", VTABLE, 'h.is_vtable ? "vtable stub" : "itable stub"', '"vtable stub"', DISPATCH),
    Mutant("stubs: who could not be asked is in no dispatch stub", VTABLE, "return vm_error_passes(error) ? error : 0;", "return 0;", DISPATCH),
    Mutant("stubs: zeros are a dispatch stub", VTABLE, "&& h->null_at < h->abstract_at", "", DISPATCH),
    Mutant("stubs: the next one is anywhere", VTABLE,
           "if (h->next && (h->next % 8 || h->next < wire->code_start || h->next >= wire->code_end))\n\t\treturn false;", "", DISPATCH),
    Mutant("stubs: an adapter's own event has another name", NAME, "begins(name, len, adapter) ? strlen(adapter) : len", "len",
           ["test_codemap_store", "test_java_name"]),
    Mutant("stubs: JDK 26 has names of its own", NAME, "const size_t begin = begins(name, len, generator) ? strlen(generator) : 0;",
           "const size_t begin = 0;", ["test_java_name"]),
    Mutant("stubs: the list has other names than the agent", LIST, "java_name_add_stub(&text,", "java_name_add_text(&text,", LISTED),
]
