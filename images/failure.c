/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "guest.h"

#include <stdarg.h>
#include <stdio.h>

static void fill(struct failure *failure, enum class class, int error, const char *call, const char *format,
		 va_list arguments)
{
	/* what failed first is the cause of what fails later */
	if (failure->set)
		return;
	failure->class = class;
	failure->error = error;
	snprintf(failure->call, sizeof(failure->call), "%s", call);
	vsnprintf(failure->detail, sizeof(failure->detail), format, arguments);
	failure->set = true;
}

int fail_call(struct failure *failure, const char *call, const char *format, ...)
{
	int error = errno;
	va_list arguments;

	va_start(arguments, format);
	fill(failure, error == ENOSPC ? CLASS_ENOSPC : CLASS_CALL, error, call, format, arguments);
	va_end(arguments);
	return -1;
}

int fail(struct failure *failure, enum class class, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fill(failure, class, 0, "", format, arguments);
	va_end(arguments);
	return -1;
}
