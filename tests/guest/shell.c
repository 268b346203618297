/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The guest's shell as a program of this machine, in place of images/init.c. */
#include "guest.h"

int main(void)
{
	shell(7);
	return 0;
}
