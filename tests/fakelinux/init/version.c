/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "generated/autoconf.h"

const char banner[] = RELEASE " #" BUILD " " BUILDER " " STAMP;

int copy_mnt_ns(int depth);

void start(void)
{
	copy_mnt_ns(banner[0]);
}
