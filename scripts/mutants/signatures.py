# SPDX-License-Identifier: Apache-2.0
"""Of descriptors: what tells methods of one name apart, from the JVM to a view."""
from .mutant import Mutant

HOPS = "userspace/wall/hops.c"
CHAIN = "userspace/jvm/names/method_chain.c"
TEXT = "userspace/jvm/names/method_text.c"
METHOD = "userspace/jvm/names/method_name.c"
CHAINS = "userspace/jvm/names/chain_names.c"
NAME = "userspace/jvm/java_name.c"
RECORD = "userspace/jvm/codemap/codemap_record.c"
METHODS = "userspace/jvm/codemap/code_methods.c"
AGENT = "jvmagent/methods.c"
KIND = "userspace/profile/frame_kind.c"
POOLS = "userspace/recording/write_pools.c"
CHECKPOINT = "userspace/recording/write_checkpoint.c"
STACKS = "userspace/recording/read_stacks.c"
PPROF = "userspace/output/pprof/pprof_tables.c"

OUTSIDE = ["test_method_descriptor", "test_method_name"]
TOLD = ["test_codemap_record"]
GRAMMAR = ["test_java_name"]
SHOWN = ["test_frame_kind"]

MUTANTS = [
    Mutant("signatures: that of the name", CHAIN, "hop_to_entry(l, first, CONST_METHOD, l->const_method_signature_index);",
           "hop_to_entry(l, first, CONST_METHOD, l->const_method_name_index);", OUTSIDE),
    Mutant("signatures: a pool entry's mark stays", HOPS, "base &= ~MARK;", "", ["test_hops", *OUTSIDE]),
    Mutant("signatures: one that is none is read", HOPS, "if (!base)\n\t\t\treturn false;\n\t}\n\tif (hop->index", "}\n\tif (hop->index", ["test_hops"]),
    Mutant("signatures: not looked at again", TEXT, "(look->descriptor_symbol & ~METHOD_POINTER_MARK) == c->descriptor_symbol &&", "", OUTSIDE),
    Mutant("signatures: read, and not shown", METHOD, ".descriptor = entry->descriptor,", '.descriptor = "",', OUTSIDE),
    Mutant("signatures: none of what is inlined", CHAINS, ".descriptor = name->descriptor,", "", ["test_chain_names"]),
    Mutant("signatures: any text is one", NAME, "if (len <= JAVA_MAX_DESCRIPTOR && is_descriptor(descriptor, len))", "if (len <= JAVA_MAX_DESCRIPTOR)", GRAMMAR),
    Mutant("signatures: of any length", NAME, "if (len <= JAVA_MAX_DESCRIPTOR && is_descriptor(descriptor, len))", "if (is_descriptor(descriptor, len))",
           GRAMMAR),
    Mutant("signatures: a class without a name", NAME, "return at == name ? 0 : at + 1;", "return at + 1;", GRAMMAR),
    Mutant("signatures: words behind the result", NAME, "skip_type(text, len, at + 1) == len;", "skip_type(text, len, at + 1);", GRAMMAR),
    Mutant("signatures: whatever lies behind an older agent's text", RECORD, "if (!(m->record.flags & CODEMAP_FLAG_DESCRIPTOR))", "if (0)", TOLD),
    Mutant("signatures: without room for their length", RECORD, "if ((size_t)(end - text) < sizeof(len))", "if (0)", TOLD),
    Mutant("signatures: longer than their record", RECORD, "if (len > (size_t)(end - text))", "if (0)", TOLD),
    Mutant("signatures: the source's place in a code map", METHODS, "f.descriptor = f.class_name + head.descriptor_at;",
           "f.descriptor = f.class_name + head.source_at;", ["test_code_methods"]),
    Mutant("signatures: the agent cuts them", AGENT, "if (len > CODEMAP_MAX_DESCRIPTOR)\n\t\ttext->cut = true;\n\telse\n", "", ["test_agent_methods"]),
    Mutant("signatures: the agent keeps JVMTI's memory", AGENT, "(*jvmti)->Deallocate(jvmti, (unsigned char *)text->descriptor);", "", ["test_agent_methods"]),
    Mutant("signatures: the agent does not say that there is one", AGENT, "m->record.flags |= CODEMAP_FLAG_DESCRIPTOR;", "", ["test_agent_methods"]),
    Mutant("signatures: lost with their symbolizer", "userspace/symbolize/java.c", 'java->descriptor ? java->descriptor : ""', '""', ["test_symbolize_java"]),
    Mutant("signatures: lost on the way to the living", "userspace/profile/profile_copy.c", "copy.descriptor = copy_string(to, from, copy.descriptor);", "copy.descriptor = 0;",
           ["test_live_objects"]),
    Mutant("signatures: of other code", KIND, "options->names & FRAME_NAMES_SIGNATURES && frame_kind_has_method(f->kind)", "options->names & FRAME_NAMES_SIGNATURES", SHOWN),
    Mutant("signatures: always", KIND, "options->names & FRAME_NAMES_SIGNATURES && frame_kind_has_method(f->kind)", "frame_kind_has_method(f->kind)", SHOWN),
    Mutant("signatures: semicolons within a line's name", "userspace/output/calltree_keys.c", "options.names |= FRAME_NAMES_NO_SEMICOLON;", ";", ["test_view_collapsed"]),
    Mutant("signatures: overloads are one method of JFR", POOLS, "method.descriptor = f->descriptor ? pools->string_symbols.items[f->descriptor] : 0;",
           "method.descriptor = 0;", ["test_recording_methods"]),
    Mutant("signatures: not in the recording", CHECKPOINT, "jfr_put_varint(out, jfr_string_key(from->pools, f->descriptor));", "jfr_put_varint(out, 0);",
           ["test_recording"]),
    Mutant("signatures: of native code of others", STACKS, "if (frame_kind_is_java(frame.kind))\n", "", ["test_recording_foreign"]),
    Mutant("signatures: pprof's functions have one name", PPROF, "options.names |= FRAME_NAMES_SIGNATURES;", ";", ["test_view_pprof"]),
    Mutant("signatures: a stream has none", "userspace/sink/stream_line.c", 'put_text(&j, "descriptor", profile_get_string(profile, frame->descriptor));', "",
           ["test_stream_line"]),
]
