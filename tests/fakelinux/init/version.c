/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "generated/autoconf.h"

const char banner[] = RELEASE " #" BUILD " " BUILDER " " STAMP;
