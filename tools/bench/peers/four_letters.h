/* What a ZooKeeper server says of itself. */
#ifndef FOUR_LETTERS_H
#define FOUR_LETTERS_H

/* How many ephemeral nodes the first server of `hosts` has. */
long ephemeral_nodes(const char *hosts);

#endif
