/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "generated/autoconf.h"

extern const char banner[];

int copy_mnt_ns(int depth);

void start(void)
{
	copy_mnt_ns(banner[0]);
}
