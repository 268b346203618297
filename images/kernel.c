/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Small questions to /proc and /sys. */
#include "guest.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *read_file(const char *path)
{
	static char text[4096];
	ssize_t length;
	int file = open(path, O_RDONLY);

	if (file < 0)
		return NULL;
	length = read(file, text, sizeof(text) - 1);
	close(file);
	if (length < 0)
		return NULL;
	text[length] = '\0';
	return text;
}

/* valid until the next call of a function in this file */
const char *read_word(const char *path)
{
	char *text = (char *)read_file(path);

	if (text)
		text[strcspn(text, " \n")] = '\0';
	return text;
}

int64_t read_number(const char *path)
{
	const char *text = read_file(path);

	return text ? strtoll(text, NULL, 10) : -1;
}

int write_number(const char *path, int64_t value)
{
	int file = open(path, O_WRONLY);
	int length;

	if (file < 0)
		return -1;
	length = dprintf(file, "%" PRId64 "\n", value);
	close(file);
	return length < 0 ? -1 : 0;
}

int64_t meminfo_kib(const char *field)
{
	const char *text = read_file("/proc/meminfo");

	text = text ? strstr(text, field) : NULL;
	return text ? strtoll(text + strlen(field), NULL, 10) : -1;
}

uint64_t namespace_id(const char *kind)
{
	char path[32];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	return stat(path, &status) ? 0 : status.st_ino;
}
