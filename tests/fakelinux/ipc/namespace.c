/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <linux/ns.h>

#ifdef FAIL_LINK
int no_such_function(int depth);
#endif

int copy_ipcs(int depth)
{
#ifdef FAIL_LINK
	return no_such_function(depth);
#endif
	return depth * NS_COST;
}
