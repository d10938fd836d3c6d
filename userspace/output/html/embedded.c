/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The assembler reads the files, relative to where the compiler runs: the top of the tree. Files
 * of one section follow each other, so that a script in several files is one script.
 */
#include "output/html/embedded.h"

#define FILE_BYTES(name) ".incbin \"userspace/output/html/" name "\"\n"

#define EMBED(symbol, files)                                                                 \
	__asm__(".pushsection .rodata, \"a\", @progbits\n" #symbol "_begin:\n" files #symbol \
		"_end:\n"                                                                    \
		".popsection\n");                                                            \
	extern const char symbol##_begin[] __attribute__((visibility("hidden")));            \
	extern const char symbol##_end[] __attribute__((visibility("hidden")))

EMBED(embedded_page, FILE_BYTES("flamegraph.html"));
EMBED(embedded_style, FILE_BYTES("flamegraph.css") FILE_BYTES("flamegraph_panel.css"));
EMBED(embedded_script,
      FILE_BYTES("flamegraph_data.js") FILE_BYTES("flamegraph_tree.js")
	      FILE_BYTES("flamegraph_canvas.js") FILE_BYTES("flamegraph_text.js")
		      FILE_BYTES("flamegraph_panel.js") FILE_BYTES("flamegraph_dialogs.js")
			      FILE_BYTES("flamegraph.js") FILE_BYTES("flamegraph_input.js"));

static struct embedded between(const char *begin, const char *end)
{
	return (struct embedded){ begin, (size_t)(end - begin) };
}

struct embedded embedded_page(void)
{
	return between(embedded_page_begin, embedded_page_end);
}

struct embedded embedded_style(void)
{
	return between(embedded_style_begin, embedded_style_end);
}

struct embedded embedded_script(void)
{
	return between(embedded_script_begin, embedded_script_end);
}
