/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FAKE_NS_H
#define FAKE_NS_H

#define NS_COST 3

int copy_ipcs(int depth);
int copy_mnt_ns(int depth);

#endif
