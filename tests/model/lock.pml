/* The mutex on two replicas, of which one may be behind: clients whose create
 * may have been carried out or not, and sessions that end.
 *
 * Node numbers are sequence numbers. Replica 0 leads; what it commits reaches
 * replica 1 in order, later. A client reads from the replica that it is
 * connected to, and never from one that knows less than it has seen. A session
 * may also be abandoned: its client has a new one, and the servers do not know.
 *
 * Left out, and each must be found to be wrong:
 *   NO_SYNC     no sync before searching for a node whose create had no answer
 *   NO_SEARCH   no search at all: create once more
 *   ADOPT_ANY   what is found is taken, of whatever session it is
 *   NO_RELIST   granted when the node before is gone, without another list
 *   WATCH_FIRST waits for the first of the queue, and is granted when it is gone
 *   NO_SWEEP    a delete without an answer is not repeated */

#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef FAULTS
#define FAULTS 2 /* of these, each once: */
#endif
#define NODES 6 /* one each, one more for each fault */
#define LAG   2
#define NONE  255

#define CREATE(n)   (n)
#define DELETE(n)   (8 + (n))
#define CLOSE(c, s) (16 + 4 * (c) + (s))

bool there[NODES];  /* on replica 0 */
bool copied[NODES]; /* on replica 1 */
byte owner[NODES];
byte session_of[NODES];
bit tag_of[NODES];
bool granted[NODES];
byte next;

chan pending = [LAG] of { byte }; /* on the way to replica 1 */

#define CAN(fault)     (faults > 0 && fault)
#define HAPPENS(fault) faults--; fault = false

bit replica[CLIENTS]; /* connected to */
byte unseen[CLIENTS]; /* of what is pending, what the client waits for */
byte session[CLIENTS];
byte abandoned = NONE; /* whose old session lives on */
byte abandoned_session;
bool expired[CLIENTS];
byte done;

byte faults = FAULTS;
bool may_lose_create = true;
bool may_lose_delete = true;
bool may_expire = true;
bool may_cancel = true;
bool may_abandon = true;

#define IS_THERE(c, n)  (replica[c] == 0 -> there[n] : copied[n])
#define IS_CAUGHT_UP(c) (replica[c] == 0 || unseen[c] == 0)

#ifdef ADOPT_ANY
#define IS_OURS(c, n) (owner[n] == c && tag_of[n] == tag)
#else
#define IS_OURS(c, n)                                                          \
    (owner[n] == c && tag_of[n] == tag && session_of[n] == session[c])
#endif

#ifdef WATCH_FIRST
#define IS_NEARER (ahead == NONE)
#else
#define IS_NEARER true
#endif

/* An answer of replica 0 shows all that was committed. */
inline saw(c)
{
    if
    :: replica[c] == 0 -> unseen[c] = len(pending)
    :: else
    fi
}

inline connect(c)
{
    atomic {
        if
        :: replica[c] = 0
        :: unseen[c] == 0 -> replica[c] = 1
        fi
    }
}

/* Exclusion, in the order of commits: from the grant until the node is gone. */
inline grant(c, n)
{
    d_step {
        granted[n] = true;
        holders = 0;
        for (k : 0 .. NODES - 1) {
            holders = holders + (granted[k] && there[k])
        };
        assert(holders <= 1);
        k = 0; holders = 0
    }
}

inline commit_create(c)
{
    assert(next < NODES);
    created = next;
    there[next] = true;
    owner[next] = c;
    session_of[next] = session[c];
    tag_of[next] = tag;
    pending!CREATE(next);
    next++
}

/* The first of our tag that the replica shows. */
inline search(c)
{
    d_step {
        mine = NONE;
        k = NODES;
        do
        :: k > 0 ->
            k--;
            if
            :: k < next && IS_THERE(c, k) && IS_OURS(c, k) -> mine = k
            :: else
            fi
        :: else -> break
        od;
        saw(c);
        k = 0
    }
}

/* The nearest before ours; NONE. */
inline survey(c)
{
    d_step {
        ahead = NONE;
        for (k : 0 .. mine - 1) {
            if
            :: IS_THERE(c, k) && IS_NEARER -> ahead = k
            :: else
            fi
        };
        saw(c);
        k = 0
    }
}

proctype client(byte c)
{
    byte mine = NONE;
    byte ahead = NONE;
    byte created = NONE;
    byte k = 0;
    byte holders = 0;
    bit tag = 0;

enroll:
    atomic {
        if
        :: expired[c] -> goto begin_anew
        :: !expired[c] && nfull(pending) ->
            commit_create(c);
            unseen[c] = len(pending);
            if
            :: mine = created; created = NONE
            :: CAN(may_lose_create) ->
                HAPPENS(may_lose_create);
                unseen[c] = 0; /* the answer was not seen */
                created = NONE;
                goto look
            fi
        :: !expired[c] && CAN(may_lose_create) -> /* not carried out */
            HAPPENS(may_lose_create);
            goto look
        fi
    };
    IS_CAUGHT_UP(c); /* the answer comes when its replica has the node */
    goto list;

look:
#ifdef NO_SEARCH
    goto enroll;
#endif
    if
    :: atomic {
        CAN(may_abandon) && !expired[c] ->
            HAPPENS(may_abandon);
            abandoned = c;
            abandoned_session = session[c];
            session[c]++;
            unseen[c] = 0
    }
    :: true
    fi;
    connect(c);
#ifndef NO_SYNC
    atomic {
        if
        :: expired[c] -> goto begin_anew
        :: !expired[c] -> unseen[c] = len(pending)
        fi
    };
    IS_CAUGHT_UP(c);
#endif
    search(c);
    if
    :: mine == NONE -> goto enroll
    :: else
    fi;

list:
    if
    :: expired[c] -> goto begin_anew
    :: true
    fi;
    atomic {
        if
        :: !IS_THERE(c, mine) -> goto begin_anew
        :: else
        fi;
        survey(c);
        if
        :: ahead == NONE -> grant(c, mine); goto hold
        :: else
        fi;
        /* it would wait for itself */
        assert(owner[ahead] != c || session_of[ahead] != session[c])
    };
    do
    :: !IS_THERE(c, ahead) -> /* also when the watch is not set in time */
        ahead = NONE;
#if defined(NO_RELIST) || defined(WATCH_FIRST)
        grant(c, mine);
        goto hold
#else
        goto list
#endif
    :: expired[c] -> goto begin_anew
    :: atomic { CAN(may_cancel) -> HAPPENS(may_cancel); ahead = NONE; goto leave }
    od;

begin_anew:
    atomic {
        expired[c];
        expired[c] = false;
        session[c]++;
        ahead = NONE;
        unseen[c] = 0;
        mine = NONE;
        tag = 1;
    };
    connect(c);
    goto enroll;

hold: /* as long as the session lives, so does the node */
    assert(there[mine] || expired[c]);

leave: /* until the answer is definite, or the session is over */
    atomic {
        if
        :: expired[c] || !there[mine] -> goto left
        :: !expired[c] && there[mine] && nfull(pending) ->
            there[mine] = false;
            pending!DELETE(mine);
            if
            :: CAN(may_lose_delete) -> HAPPENS(may_lose_delete); goto leave
            :: goto left
            fi
        :: !expired[c] && CAN(may_lose_delete) ->
            HAPPENS(may_lose_delete);
#ifdef NO_SWEEP
            goto left;
#endif
            goto leave
        fi
    };

left:
    atomic {
        mine = NONE;
        tag = 0;
        unseen[c] = 0;
        done++
    }
}

proctype follower()
{
    byte change;
    byte k;

end:
    do
    :: d_step {
        pending?change;
        if
        :: change < 8 -> copied[change] = true
        :: change >= 8 && change < 16 -> copied[change - 8] = false
        :: else ->
            for (k : 0 .. NODES - 1) {
                if
                :: change == CLOSE(owner[k], session_of[k]) -> copied[k] = false
                :: else
                fi
            }
        fi;
        for (k : 0 .. CLIENTS - 1) {
            if
            :: unseen[k] > 0 -> unseen[k]--
            :: else
            fi
        };
        change = 0; k = 0
    }
    od
}

/* On the servers, with all its nodes. */
inline close(c, s)
{
    pending!CLOSE(c, s);
    d_step {
        for (k : 0 .. next - 1) {
            if
            :: owner[k] == c && session_of[k] == s -> there[k] = false
            :: else
            fi
        };
        k = 0
    }
}

/* Sessions end at any moment; one that nobody keeps alive does so in the end. */
proctype expiry()
{
    byte c;
    byte k;

end:
    do
    :: atomic {
        CAN(may_expire) && nfull(pending) ->
            HAPPENS(may_expire);
            select(c : 0 .. (CLIENTS - 1));
            expired[c] = true;
            close(c, session[c]);
            c = 0
    }
    :: atomic {
        abandoned != NONE && nfull(pending) ->
            close(abandoned, abandoned_session);
            abandoned = NONE
    }
    od
}

/* Everybody has been granted the lock, or has given up; nothing is left. */
proctype judge()
{
    byte k;

    done == CLIENTS && abandoned == NONE;
    d_step {
        for (k : 0 .. NODES - 1) {
            assert(!there[k])
        }
    }
}

init {
    byte c = 0;

    atomic {
        run follower();
        run expiry();
        run judge();
        for (c : 0 .. CLIENTS - 1) {
            if
            :: c < 2 -> replica[c] = c
            :: c >= 2 -> replica[c] = 0
            :: c >= 2 -> replica[c] = 1
            fi;
            run client(c)
        }
    }
}
