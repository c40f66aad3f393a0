/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as numbers: characters, and those that are none. */
#ifndef TOP_KEYS_H
#define TOP_KEYS_H

enum {
    KEY_FIRST = 0x110000,
    KEY_IS_UP = KEY_FIRST,
    KEY_IS_DOWN,
    KEY_IS_PAGE_UP,
    KEY_IS_PAGE_DOWN,
    KEY_IS_HOME,
    KEY_IS_END,
    KEY_IS_ENTER,
    KEY_IS_ESCAPE,
    KEY_IS_BACKSPACE,
};

#endif
