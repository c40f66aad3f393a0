/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal for programs to be tested in: tmux, with a server of its own. A
 * program that includes this ends with 77 where tmux is not installed. */
#pragma once

#include "look.h"

#define TMUX_PROMPT "ready>"

/* An interactive bash in a terminal of that size; its prompt is TMUX_PROMPT. */
void tmux_open(int width, int height);
/* 0: a teardown. */
int tmux_close(void);

/* Text, as if typed; and a key by its name: "Enter", "Escape", "C-c". */
void tmux_type(const char *text);
void tmux_key(const char *name);
/* A line for the shell. */
void tmux_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Waits until the shell has this exit code of what was typed before. */
void tmux_wait_code(int code);
void tmux_resize(int width, int height);

/* Returns the contents of the screen, in a buffer of which there is one. */
const char *tmux_screen(void);
/* Wait until it is there, or is not. */
void tmux_wait(const char *text);
void tmux_wait_gone(const char *text);

/* Such as "#{alternate_on}". */
const char *tmux_say(const char *format);
/* The process in front of which the terminal is. */
pid_t tmux_shell(void);
/* From now on this file gets all output of the terminal, too. */
void tmux_record(const char *file);
