/**
 * ZooKeeper lock recipes for C. This header includes all the others.
 */
#ifndef ZKRECIPES_ZKRECIPES_H
#define ZKRECIPES_ZKRECIPES_H

#include <zkrecipes/client.h>
#include <zkrecipes/declare.h>
#include <zkrecipes/error.h>
#include <zkrecipes/fence.h>
#include <zkrecipes/grant.h>
#include <zkrecipes/guarded.h>
#include <zkrecipes/hosts.h>
#include <zkrecipes/log.h>
#include <zkrecipes/mutex.h>
#include <zkrecipes/participants.h>
#include <zkrecipes/reentrant_mutex.h>
#include <zkrecipes/reply.h>
#include <zkrecipes/request.h>
#include <zkrecipes/retry.h>
#include <zkrecipes/rwlock.h>
#include <zkrecipes/session.h>
#include <zkrecipes/stats.h>
#include <zkrecipes/txn.h>
#include <zkrecipes/unfair_mutex.h>
#include <zkrecipes/version.h>
#include <zkrecipes/watch.h>

#endif
