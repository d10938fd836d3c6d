// SPDX-License-Identifier: Apache-2.0
/* .gnu_debugdata: a whole ELF file with only .symtab, compressed with xz ("MiniDebugInfo"). */
#include <errno.h>
#include <lzma.h>

#include "elf/elf_file_private.h"

/* The largest one known is a few MB; a bomb must not take the host's memory. */
#define MAX_DEBUGDATA_BYTES (256U << 20)
#define DECODER_MEMORY	    (128U << 20)

/* One piece of output. Returns 1 at the end, 0 to go on. */
static int decode_piece(lzma_stream *stream, struct strbuf *out)
{
	uint8_t piece[65536];
	lzma_ret r;

	stream->next_out = piece;
	stream->avail_out = sizeof(piece);
	r = lzma_code(stream, LZMA_FINISH);
	if (r != LZMA_OK && r != LZMA_STREAM_END)
		return -EBADMSG;
	strbuf_add(out, piece, sizeof(piece) - stream->avail_out);
	if (out->len > MAX_DEBUGDATA_BYTES)
		return -E2BIG;
	return r == LZMA_STREAM_END;
}

static int decode_xz(const void *data, size_t len, struct strbuf *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	int r = 0;

	if (lzma_stream_decoder(&stream, DECODER_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = data;
	stream.avail_in = len;
	while (r == 0)
		r = decode_piece(&stream, out);
	lzma_end(&stream);
	return r < 0 ? r : 0;
}

int elf_file_debugdata(struct elf_file *file, struct strbuf *out, struct err *err)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_find_section(file, ".gnu_debugdata", &header);
	Elf_Data *data;
	int r;

	if (!section)
		return err_set(err, -ENODATA, "it has no .gnu_debugdata section");
	data = elf_file_section_data(section, &header);
	r = data ? decode_xz(data->d_buf, data->d_size, out) : -EBADMSG;
	if (r < 0)
		return err_sys(err, r, "cannot decompress its .gnu_debugdata section");
	return 0;
}
