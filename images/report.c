/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The results channel: JSON lines, gathered in memory so that the channel's speed is in no measured time. */
#include "guest.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static char buffer[256 * 1024];
static size_t used;
static bool first_in_object;
static uint32_t crc = 0xffffffff;
static int64_t records;
static int channel = -1;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put(const char *format, ...)
{
	size_t room = sizeof(buffer) - used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(buffer + used, room, format, arguments);
	va_end(arguments);
	/* a line that does not fit is cut, which the reader sees: it is no JSON */
	if (length > 0)
		used += (size_t)length < room ? (size_t)length : room - 1;
}

static void put_string(const char *text)
{
	put("\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			put("\\%c", *text);
		else if (*text < ' ' || *text > '~')
			put("\\u%04x", (unsigned char)*text);
		else
			put("%c", *text);
	}
	put("\"");
}

static void put_key(const char *key)
{
	if (!first_in_object)
		put(",");
	first_in_object = false;
	put_string(key);
	put(":");
}

void report_begin(const char *kind)
{
	put("{");
	first_in_object = true;
	report_object(kind);
}

void report_end(void)
{
	put("}}\n");
	records++;
}

void report_object(const char *key)
{
	put_key(key);
	put("{");
	first_in_object = true;
}

void report_object_end(void)
{
	put("}");
	first_in_object = false;
}

void report_number(const char *key, int64_t value)
{
	put_key(key);
	put("%" PRId64, value);
}

void report_fact(const char *key, int64_t value)
{
	if (value < 0)
		report_text(key, NULL);
	else
		report_number(key, value);
}

void report_bool(const char *key, bool value)
{
	put_key(key);
	put(value ? "true" : "false");
}

void report_text(const char *key, const char *value)
{
	put_key(key);
	if (value)
		put_string(value);
	else
		put("null");
}

void report_failure(const char *benchmark, const struct failure *failure)
{
	static const char *const names[] = { "usage", "call", "enospc", "count", "clock", "drain" };

	report_begin("failed");
	report_text("benchmark", benchmark);
	report_text("class", names[failure->class]);
	report_text("call", failure->call[0] ? failure->call : NULL);
	report_number("errno", failure->error);
	report_text("error", failure->error ? strerror(failure->error) : "");
	report_text("detail", failure->detail);
	report_end();
}

/* raw, or the terminal would turn each newline into two bytes */
int report_open(const char *path)
{
	struct termios mode;

	channel = open(path, O_WRONLY | O_NOCTTY);
	if (channel < 0)
		return -1;
	if (!isatty(channel))
		return 0;
	if (tcgetattr(channel, &mode))
		return -1;
	cfmakeraw(&mode);
	return tcsetattr(channel, TCSANOW, &mode);
}

void report_to(int file)
{
	channel = file;
}

static void checksum(void)
{
	for (size_t i = 0; i < used; i++) {
		crc ^= (unsigned char)buffer[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
}

int report_flush(void)
{
	size_t sent = 0;

	checksum();
	while (sent < used) {
		ssize_t length = write(channel, buffer + sent, used - sent);

		if (length < 0 && errno != EINTR)
			return -1;
		sent += length > 0 ? (size_t)length : 0;
	}
	used = 0;
	if (tcdrain(channel) && errno != ENOTTY)
		return -1;
	return 0;
}

int report_finish(void)
{
	char sum[9];

	/* the checksum covers every byte before the end record */
	if (report_flush())
		return -1;
	snprintf(sum, sizeof(sum), "%08" PRIx32, (uint32_t)~crc);
	report_begin("end");
	report_number("records", records);
	report_text("crc32", sum);
	report_end();
	return report_flush();
}
