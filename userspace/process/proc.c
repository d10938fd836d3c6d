// SPDX-License-Identifier: Apache-2.0
/*
 * Formats: Linux fs/proc/task_mmu.c show_map_vma(), fs/proc/array.c do_task_stat() and
 * proc_pid_status(), kernel/cgroup/cgroup.c proc_cgroup_show(); as described in proc(5).
 */
#include "process/proc.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text/text_cursor.h"
#include "wall/wall.h"

/* stat, status and cgroup are a few hundred bytes; a page of slack for long cgroup paths. */
#define SMALL_FILE_LIMIT (64UL * 1024)
/* Of a host with 10,000 containers. */
#define MOUNTS_LIMIT (16UL * 1024 * 1024)
/* The kernel bounds arguments to a quarter of the stack limit; nobody reads more than this. */
#define FILE_PIECE_BYTES (64UL << 10)
#define CMDLINE_LIMIT	 (2UL * 1024 * 1024)
/* How much proc_read_pages() reads at once. */
#define READ_PIECE_BYTES 4096

static bool parse_perms(struct text_cursor *text, char ret_perms[5])
{
	static const char allowed[4][3] = { "r-", "w-", "x-", "ps" };

	if (text->end - text->at < 4)
		return false;
	for (int i = 0; i < 4; i++)
		if (text->at[i] != allowed[i][0] && text->at[i] != allowed[i][1])
			return false;
	memcpy(ret_perms, text->at, 4);
	ret_perms[4] = '\0';
	text->at += 4;
	return true;
}

static bool parse_device(struct text_cursor *text, struct file_key *ret_key)
{
	uint64_t major, minor;

	if (!text_take_number(text, 16, &major) || !text_take_char(text, ':') ||
	    !text_take_number(text, 16, &minor) || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	ret_key->major = (uint32_t)major;
	ret_key->minor = (uint32_t)minor;
	return true;
}

ssize_t proc_parse_maps_line(const char *text, size_t len, struct maps_line *ret_line)
{
	struct text_cursor cursor;
	struct maps_line line = { 0 };
	const char *newline;

	if (len == 0)
		return 0;
	newline = memchr(text, '\n', len);
	if (!newline)
		return -EBADMSG;
	cursor = (struct text_cursor){ text, newline };
	if (!text_take_number(&cursor, 16, &line.start) || !text_take_char(&cursor, '-') ||
	    !text_take_number(&cursor, 16, &line.end) || line.start >= line.end ||
	    !text_take_char(&cursor, ' ') || !parse_perms(&cursor, line.perms) ||
	    !text_take_char(&cursor, ' ') || !text_take_number(&cursor, 16, &line.pgoff) ||
	    !text_take_char(&cursor, ' ') || !parse_device(&cursor, &line.key) ||
	    !text_take_char(&cursor, ' ') || !text_take_number(&cursor, 10, &line.key.inode))
		return -EBADMSG;
	if (cursor.at < cursor.end && *cursor.at != ' ')
		return -EBADMSG;
	text_skip_blanks(&cursor);
	line.path = cursor.at;
	line.path_len = (size_t)(cursor.end - cursor.at);
	*ret_line = line;
	return newline + 1 - text;
}

/* The kernel prints a newline in a path as "\012" and escapes nothing else. */
char *maps_line_path(const struct maps_line *line)
{
	const char *text = line->path;
	size_t len = line->path_len;
	char *path = xmalloc(len + 1), *out = path;

	for (size_t i = 0; i < len; i++) {
		if (len - i >= 4 && memcmp(text + i, "\\012", 4) == 0) {
			*out++ = '\n';
			i += 3;
		} else {
			*out++ = text[i];
		}
	}
	*out = '\0';
	return path;
}

/*
 * Clock ticks since boot to CLOCK_MONOTONIC. The two clocks differ by the time that the host
 * spent suspended; what of it lay before the process's start is not known, so a process older
 * than a suspend comes out too early.
 */
static uint64_t ticks_to_monotonic_ns(uint64_t ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t boot = ticks / hz * NSEC_PER_SEC + ticks % hz * (NSEC_PER_SEC / hz);
	uint64_t now = clock_now_ns(); /* read first: equal clocks must not give a negative */
	uint64_t suspended = clock_read_ns(CLOCK_BOOTTIME) - now;

	return boot > suspended ? boot - suspended : 0;
}

/* Skips "FIELD " N times. */
static bool skip_fields(struct text_cursor *text, int n)
{
	for (; n > 0; n--) {
		const char *blank = memchr(text->at, ' ', (size_t)(text->end - text->at));

		if (!blank)
			return false;
		text->at = blank + 1;
	}
	return true;
}

int proc_parse_stat(const char *text, size_t len, struct proc_stat *ret_stat)
{
	const char *open = memchr(text, '(', len);
	const char *close = memrchr(text, ')', len);
	struct proc_stat stat = { 0 };
	struct text_cursor cursor;
	uint64_t ppid, start_ticks;
	size_t comm_len;

	/* A comm may hold parentheses and newlines: it ends at the last ')'. */
	if (!open || !close || close < open || text + len - close < 4 || close[1] != ' ')
		return -EBADMSG;
	comm_len = MIN((size_t)(close - open - 1), sizeof(stat.comm) - 1);
	memcpy(stat.comm, open + 1, comm_len);
	stat.state = close[2];
	cursor = (struct text_cursor){ close + 2, text + len };
	/* From field 3 (state): 4 is the parent, 22 the start time. */
	if (!skip_fields(&cursor, 1) || !text_take_number(&cursor, 10, &ppid) ||
	    ppid > UINT32_MAX || !skip_fields(&cursor, 18) ||
	    !text_take_number(&cursor, 10, &start_ticks))
		return -EBADMSG;
	stat.ppid = (uint32_t)ppid;
	stat.start_ns = ticks_to_monotonic_ns(start_ticks);
	*ret_stat = stat;
	return 0;
}

/* The NTH (from 0) number of a line such as "Uid:\t0\t1000\t…". */
static bool nth_number(struct text_cursor line, int nth, unsigned int base, uint64_t *ret_value)
{
	for (int i = 0; i <= nth; i++) {
		text_skip_blanks(&line);
		if (!text_take_number(&line, base, ret_value))
			return false;
	}
	return true;
}

static bool last_number(struct text_cursor line, uint64_t *ret_value)
{
	bool found = false;

	for (;;) {
		text_skip_blanks(&line);
		if (!text_take_number(&line, 10, ret_value))
			return found;
		found = true;
	}
}

/* Takes one line in; returns whether it was the Uid line, without which nothing is known. */
static bool parse_status_line(struct text_cursor line, struct proc_status *status)
{
	uint64_t value;

	if (text_take_prefix(&line, "Uid:")) {
		if (!nth_number(line, 1, 10, &value)) /* real, effective, saved, file system */
			return false;
		status->uid = (uint32_t)value;
		return true;
	}
	if (text_take_prefix(&line, "Gid:") && nth_number(line, 1, 10, &value))
		status->gid = (uint32_t)value;
	else if (text_take_prefix(&line, "NSpid:") && last_number(line, &value))
		status->ns_pid = (uint32_t)value;
	else if (text_take_prefix(&line, "SigCgt:") && nth_number(line, 0, 16, &value))
		status->sig_caught = value;
	else if (text_take_prefix(&line, "SigIgn:") && nth_number(line, 0, 16, &value))
		status->sig_ignored = value;
	else if (text_take_prefix(&line, "Threads:") && nth_number(line, 0, 10, &value))
		status->threads = (uint32_t)value;
	return false;
}

int proc_parse_status(const char *text, size_t len, struct proc_status *ret_status)
{
	struct text_cursor cursor = { text, text + len }, line;
	struct proc_status status = { 0 };
	bool have_uid = false;

	while (text_next_line(&cursor, &line))
		have_uid |= parse_status_line(line, &status);
	if (!have_uid)
		return -EBADMSG;
	*ret_status = status;
	return 0;
}

/* Of those that fs/proc/base.c has as ONE(). */
static int read_pid_file(uint32_t pid, const char *name, size_t limit, struct strbuf *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return file_read_at_once(path, limit, out);
}

int proc_read_stat(uint32_t pid, struct proc_stat *ret_stat)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = read_pid_file(pid, "stat", SMALL_FILE_LIMIT, &text);

	return r < 0 ? r : proc_parse_stat(strbuf_str(&text), text.len, ret_stat);
}

static int read_status(uint32_t pid, const char *name, struct proc_status *ret_status)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = read_pid_file(pid, name, SMALL_FILE_LIMIT, &text);

	return r < 0 ? r : proc_parse_status(strbuf_str(&text), text.len, ret_status);
}

int proc_read_status(uint32_t pid, struct proc_status *ret_status)
{
	return read_status(pid, "status", ret_status);
}

int proc_read_thread_status(uint32_t pid, uint32_t tid, struct proc_status *ret_status)
{
	char name[32];

	snprintf(name, sizeof(name), "task/%u/status", tid);
	return read_status(pid, name, ret_status);
}

/* The path of a line "ID:CONTROLLERS:PATH"; the second colon ends the controllers. */
static bool cgroup_line_path(struct text_cursor line, struct text_cursor *ret_path)
{
	const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));

	if (colon)
		colon = memchr(colon + 1, ':', (size_t)(line.end - colon - 1));
	if (!colon)
		return false;
	*ret_path = (struct text_cursor){ colon + 1, line.end };
	return true;
}

/* On a host with cgroup v1 hierarchies only, the first one's path stands in. */
int proc_parse_cgroup(const char *text, size_t len, char **ret_path)
{
	struct text_cursor cursor = { text, text + len }, line, path = { NULL, NULL }, unified;

	while (text_next_line(&cursor, &line)) {
		unified = line;
		if (text_take_prefix(&unified, "0::"))
			path = unified;
		else if (!path.at)
			cgroup_line_path(line, &path);
	}
	if (!path.at)
		return -ENODATA;
	*ret_path = xstrndup(path.at, (size_t)(path.end - path.at));
	return 0;
}

int proc_read_cgroup(uint32_t pid, char **ret_path)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = read_pid_file(pid, "cgroup", SMALL_FILE_LIMIT, &text);

	return r < 0 ? r : proc_parse_cgroup(strbuf_str(&text), text.len, ret_path);
}

static bool next_word(struct text_cursor *line, struct text_cursor *ret_word)
{
	const char *end = memchr(line->at, ' ', (size_t)(line->end - line->at));

	if (!end)
		return false;
	*ret_word = (struct text_cursor){ line->at, end };
	line->at = end + 1;
	return true;
}

static bool is_word(struct text_cursor word, const char *text)
{
	return text_take_prefix(&word, text) && word.at == word.end;
}

/* fs/proc/root.c, proc_show_options(): what hides none is not shown, or "off" and 0. */
static bool hides(struct text_cursor options)
{
	static const char name[] = "hidepid=";
	const char *at = memmem(options.at, (size_t)(options.end - options.at), name, strlen(name));
	struct text_cursor value = { at ? at + strlen(name) : options.end, options.end };

	return at && !text_take_prefix(&value, "0") && !text_take_prefix(&value, "off");
}

/* "proc /proc proc rw,hidepid=invisible 0 0" */
bool proc_parse_hides(const char *text, size_t len)
{
	struct text_cursor cursor = { text, text + len }, line, device, place, type, options;

	while (text_next_line(&cursor, &line))
		if (next_word(&line, &device) && next_word(&line, &place) &&
		    next_word(&line, &type) && next_word(&line, &options) &&
		    is_word(place, "/proc") && is_word(type, "proc") && hides(options))
			return true;
	return false;
}

bool proc_hides_processes(void)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	return file_read("/proc/self/mounts", MOUNTS_LIMIT, &text) < 0 ||
	       proc_parse_hides(strbuf_str(&text), text.len);
}

int proc_read_exe(uint32_t pid, char **ret_path)
{
	char link[64], target[PATH_MAX];
	int r;

	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	r = wall_read_link(pid, link, target, sizeof(target));
	if (r == 0)
		*ret_path = xstrdup(target);
	return r;
}

/* The arguments are in the process's own memory. */
int proc_read_cmdline(uint32_t pid, struct strbuf *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	return proc_read_file(pid, path, CMDLINE_LIMIT, out);
}

int proc_read_file(uint32_t pid, const char *path, size_t limit, struct strbuf *out)
{
	_cleanup_free_ char *piece = xmalloc(FILE_PIECE_BYTES);
	uint64_t offset = 0;
	int64_t n;

	while ((n = wall_read_file(pid, path, offset, piece, FILE_PIECE_BYTES)) > 0) {
		if ((uint64_t)n > limit - offset)
			return -E2BIG;
		strbuf_add(out, piece, (size_t)n);
		offset += (uint64_t)n;
	}
	return (int)n;
}

int proc_read_memory(uint32_t pid, uint64_t address, void *data, size_t len)
{
	const struct wall_piece piece = { address, len };
	int64_t n = wall_read_memory(pid, &piece, 1, data);

	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EFAULT;
}

/* A transfer ends between two pieces of the list. */
ssize_t proc_read_pages(uint32_t pid, uint64_t address, void *data, size_t len)
{
	struct wall_piece pieces[WALL_MAX_PIECES];
	unsigned int count = 0;

	while (len && count < WALL_MAX_PIECES) {
		size_t part = READ_PIECE_BYTES - address % READ_PIECE_BYTES;

		part = MIN(part, len);
		pieces[count++] = (struct wall_piece){ address, part };
		address += part;
		len -= part;
	}
	return (ssize_t)wall_read_memory(pid, pieces, count, data);
}

bool proc_has_thread(uint32_t pid, uint32_t tid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/task/%u", pid, tid);
	return access(path, F_OK) == 0;
}

bool proc_is_there(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return access(path, F_OK) == 0;
}

int proc_for_each_pid(int (*fn)(uint32_t pid, void *data), void *data)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
	while (r >= 0 && (entry = readdir(dir))) {
		struct text_cursor name = { entry->d_name, entry->d_name + strlen(entry->d_name) };
		uint64_t pid;

		if (text_take_number(&name, 10, &pid) && name.at == name.end && pid <= INT32_MAX)
			r = fn((uint32_t)pid, data);
	}
	closedir(dir);
	return r < 0 ? r : 0;
}
