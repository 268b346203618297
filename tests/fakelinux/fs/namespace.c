/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <linux/ns.h>

/* the file's name, as a kernel's warnings carry it */
const char where[] = __FILE__;

int copy_mnt_ns(int depth)
{
#ifdef FAIL_COMPILE
	return depht;
#endif
	return depth * NS_COST + where[0];
}
