/* SPDX-License-Identifier: Apache-2.0 */
/* Whose our outputs are, and whom we trust with names beside them. */
#ifndef HOSTPROF_BASE_OUT_OUT_OWNER_H
#define HOSTPROF_BASE_OUT_OUT_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user who called sudo, by SUDO_UID and SUDO_GID. False: nobody did, or we are not root. */
bool out_owner_of_sudo(uid_t *ret_uid, gid_t *ret_gid);

/* Root, we ourselves, the user of sudo: what they made may lead an output elsewhere. */
bool out_owner_is_trusted(uid_t uid);

/* A file that was just made is the user's of sudo. 0 or -errno. */
int out_owner_give(int fd);

#endif
