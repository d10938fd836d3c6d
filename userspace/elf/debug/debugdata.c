// SPDX-License-Identifier: Apache-2.0
/* .gnu_debugdata: a whole ELF file with only .symtab, compressed with xz ("MiniDebugInfo"). */
#include <errno.h>
#include <lzma.h>

#include "elf/elf_file_private.h"

/* One piece of output. Returns 1 at the end, 0 to go on. */
static int decode_piece(lzma_stream *stream, uint64_t limit_bytes, struct strbuf *out)
{
	uint8_t piece[65536];
	lzma_ret r;

	stream->next_out = piece;
	stream->avail_out = sizeof(piece);
	r = lzma_code(stream, LZMA_FINISH);
	if (r == LZMA_MEMLIMIT_ERROR)
		return -E2BIG;
	if (r != LZMA_OK && r != LZMA_STREAM_END)
		return -EBADMSG;
	strbuf_add(out, piece, sizeof(piece) - stream->avail_out);
	if (out->len > MIN(limit_bytes, ELF_MAX_DEBUGDATA_BYTES))
		return -E2BIG;
	return r == LZMA_STREAM_END;
}

/* A few kilobytes can ask for a dictionary of any size, and become any number of bytes. */
static int decode_xz(const void *data, size_t len, uint64_t limit_bytes, struct strbuf *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	uint64_t memory = MAX(MIN(limit_bytes, ELF_MAX_XZ_BYTES), ELF_XZ_BYTES);
	int r = 0;

	if (lzma_stream_decoder(&stream, memory, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = data;
	stream.avail_in = len;
	while (r == 0)
		r = decode_piece(&stream, limit_bytes, out);
	lzma_end(&stream);
	return r < 0 ? r : 0;
}

int elf_file_debugdata(struct elf_file *file, uint64_t limit_bytes, struct strbuf *out,
		       struct err *err)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_find_section(file, ".gnu_debugdata", &header);
	Elf_Data *data;
	int r = -E2BIG;

	if (!section)
		return err_set(err, -ENODATA, "it has no .gnu_debugdata section");
	if (header.sh_size <= limit_bytes) {
		data = elf_file_section_data(file, section, &header);
		r = data ? decode_xz(data->d_buf, data->d_size, limit_bytes, out) : -EBADMSG;
	}
	if (r < 0)
		strbuf_release(out);
	if (r == -E2BIG)
		return err_set(err, r, "its .gnu_debugdata section takes too much memory");
	if (r < 0)
		return err_sys(err, r, "cannot decompress its .gnu_debugdata section");
	return 0;
}
