# SPDX-License-Identifier: Apache-2.0
"""Which peers run in which sub-benchmark, and what is told of them.

This is the one place to look at, or to change, for what is measured.
"""

from dataclasses import dataclass, field


@dataclass
class Program:
    """How a peer is started. {build}, {source} and {java} are replaced."""

    system: str  # of servers.py: what it talks to
    command: list
    at: str = "target"  # which of the system's addresses


@dataclass
class Peer:
    """A program with a bench of its own: one process, one row of a table."""

    name: str
    program: str
    bench: str
    batch: int = 25  # cycles in a batch
    options: dict = field(default_factory=dict)  # key=value arguments
    smoke_batch: int = 2
    smoke: dict = field(default_factory=dict)  # options that a smoke replaces
    tidy: str = ""  # "run 0" before, after or both of each batch, not counted


@dataclass
class Ratio:
    """A figure of a peer, by that of another one in the same round."""

    text: str
    figure: str
    of: str  # the name of a peer
    to: str = None  # another peer; None: the figure itself
    must: str = ""  # such as "<= 1.10": a row of the table of what is promised


@dataclass
class Variant:
    """Peers that run beside each other, in turn."""

    name: str
    peers: list
    ratios: list = field(default_factory=list)
    columns: tuple = ("ns", "cpu_ns")  # figures that the report shows
    rounds: int = 15
    nodes: tuple = (1,)  # numbers of servers; each is a run
    rounds_of_several: int = 9  # rounds, where there are several servers
    fault: str = None  # happens in each batch: see the system


@dataclass
class Bench:
    name: str
    title: str
    variants: list
    plot: str = ""  # the figure of its plot, if it has one


JVM = (
    "-XX:-UsePerfData -XX:-UseDynamicNumberOfCompilerThreads "
    "-XX:-UseDynamicNumberOfGCThreads -Xmx512m -Xss256k"
).split()
JARS = ":".join(
    "{java}/%s.jar" % jar
    for jar in (
        "curator-recipes",
        "curator-framework",
        "curator-client",
        "zookeeper",
        "slf4j-nop",
    )
)
CLASSES = "{build}/tools/bench/peers:" + JARS

PROGRAMS = {
    "zkrecipes": Program("zookeeper", ["{build}/tools/bench/peers/zkr-peer"]),
    "zkrecipes at followers": Program(
        "zookeeper", ["{build}/tools/bench/peers/zkr-peer"], "followers"
    ),
    "raw": Program("zookeeper", ["{build}/tools/bench/peers/raw-peer"]),
    "stages": Program("zookeeper", ["{build}/tools/bench/peers/stages-peer"]),
    "local": Program("none", ["{build}/tools/bench/peers/local-peer"]),
    "curator": Program(
        "zookeeper", ["java", *JVM, "-cp", CLASSES, "CuratorPeer"]
    ),
    "kazoo": Program(
        "zookeeper", ["/usr/bin/python3", "{source}/peers/kazoo_peer.py"]
    ),
}

RIVAL = "{build}/tools/bench/peers/rival-"
for system, client in (
    ("zookeeper", "zookeeper"),
    ("redis", "redis"),
    ("redis-always", "redis"),
    ("redlock", "redis"),
    ("redlock-always", "redis"),
    ("mariadb", "mariadb"),
    ("memcached", "memcached"),
    ("etcd", "etcd"),
):
    PROGRAMS["rival " + system] = Program(system, [RIVAL + client])

# A grant that stays: longer than a batch takes, and than its turns.
RETAINED = {"retain_ms": 10000, "retain_max": 1000000}
# A smoke warms nothing up, and has few clients.
COLD = {"warmup": 2}
FEW = {"sessions": 2, "threads": 2}


def peer(
    name,
    program,
    bench,
    batch=25,
    smoke_batch=2,
    smoke=None,
    tidy="",
    **options,
):
    smoke = dict(COLD, **(smoke or {}))
    return Peer(name, program, bench, batch, options, smoke_batch, smoke, tidy)


def raw(batch, window=64):
    """Creates and deletes without a recipe, so many under way."""
    name = "raw, %s under way" % format(window, ",")
    return peer(name, "raw", "pipeline", batch, window=window)


def raw_tuned(batch, window=64):
    """The same, by a client that does not resolve names for each request."""
    name = "raw tuned, %s under way" % format(window, ",")
    return peer(name, "raw", "pipeline", batch, window=window, resolve=0)


def uncontended(where):
    """One lock of each recipe, and of Curator's and kazoo's."""
    peers = [
        peer("raw create, delete", "raw", "cycle"),
        peer("raw create+list, delete", "raw", "cycle-list"),
        peer("raw tuned create, delete", "raw", "cycle", resolve=0),
    ]
    for program, of_it in (
        ("zkrecipes", ("mutex", "read", "write", "reentrant", "unfair")),
        ("curator", ("mutex", "read", "write")),
        ("kazoo", ("mutex", "write")),
    ):
        peers += [
            peer(
                "%s %s" % (program, recipe),
                program,
                "uncontended",
                recipe=recipe,
                where=where,
                tidy="before" if where == "first" else "",
            )
            for recipe in of_it
        ]
    return peers


OURS = "zkrecipes mutex"
RAW = "raw create, delete"
TUNED = "raw tuned create, delete"
RAW_64 = "raw, 64 under way"
TUNED_64 = "raw tuned, 64 under way"
AGAIN_RATIOS = [
    Ratio("acquire again, nobody else, / raw create",
          "acquire_ns", OURS, RAW, "<= 1.10"),
    Ratio("the same, requests of acquire and release",
          "requests", OURS, must="<= 2"),
    Ratio("acquire again / raw tuned create", "acquire_ns", OURS, TUNED),
    Ratio("acquire again / Curator's", "acquire_ns", OURS, "curator mutex"),
    Ratio("acquire again / kazoo's", "acquire_ns", OURS, "kazoo mutex"),
    Ratio("client CPU per uncontended cycle / the same raw calls",
          "cpu_ns", OURS, RAW, "<= 1.05"),
    Ratio("client CPU per uncontended cycle / the same, tuned",
          "cpu_ns", OURS, TUNED),
    Ratio("client CPU per uncontended cycle / Curator's, warmed up",
          "cpu_ns", OURS, "curator mutex", "<= 0.6"),
    Ratio("unfair: acquire again / raw create",
          "acquire_ns", "zkrecipes unfair", RAW),
]
FIRST_RATIOS = [
    Ratio("first acquire / raw create", "acquire_ns", OURS, RAW),
    Ratio("first acquire / Curator's",
          "acquire_ns", OURS, "curator mutex", "<= 0.63"),
    Ratio("first acquire / kazoo's",
          "acquire_ns", OURS, "kazoo mutex", "<= 0.34"),
]

UNCONTENDED = Bench(
    "uncontended",
    "one lock taken and given back, and nobody else there",
    [
        Variant(
            "again",
            uncontended("again"),
            AGAIN_RATIOS,
            columns=("acquire_ns", "ns", "cpu_ns", "requests"),
            rounds=25,
            nodes=(1, 3),
        ),
        Variant(
            "first",
            uncontended("first"),
            FIRST_RATIOS,
            columns=("acquire_ns", "ns", "cpu_ns", "requests"),
            rounds=25,
        ),
    ],
    plot="acquire_ns",
)


def handoff(sessions, batch, nodes=(1,)):
    peers = [
        peer(
            program,
            program,
            "contended",
            batch,
            smoke=FEW,
            sessions=sessions,
            threads=sessions,
        )
        for program in ("zkrecipes", "curator", "kazoo")
    ]
    peers.append(
        peer(
            "raw, the same requests",
            "raw",
            "turns",
            batch,
            smoke=FEW,
            sessions=sessions,
            resolve=0,
        )
    )
    return Variant(
        "%d sessions" % sessions,
        peers,
        [
            Ratio("hand-offs/s / Curator's, %d sessions" % sessions,
                  "rate", "zkrecipes", "curator", ">= 1.5"),
            Ratio("hand-offs/s / kazoo's, %d sessions" % sessions,
                  "rate", "zkrecipes", "kazoo"),
            Ratio("hand-offs/s / raw, %d sessions" % sessions,
                  "rate", "zkrecipes", "raw, the same requests"),
            Ratio("raw / Curator's, %d sessions" % sessions,
                  "rate", "raw, the same requests", "curator"),
        ],
        columns=("rate", "handoff_ns", "p99_ns", "cpu_ns", "requests"),
        nodes=nodes,
    )


HANDOFF = Bench(
    "handoff",
    "sessions that take one lock in turn, each with a thread",
    [handoff(2, 100), handoff(8, 160, (1, 3)), handoff(32, 320)],
    plot="rate",
)


def threads(count):
    shared = {"threads": count}
    return Variant(
        "%d threads" % count,
        [
            peer("zkrecipes", "zkrecipes", "contended", 8 * count, **shared),
            peer(
                "zkrecipes retained",
                "zkrecipes",
                "contended",
                20000,
                200,
                **shared,
                **RETAINED,
            ),
            peer(
                "curator",
                "curator",
                "contended",
                2 * count,
                warmup=300,
                **shared,
            ),
            peer("pthread mutex", "local", "threads", 20000, **shared),
            raw(400),
            raw_tuned(400),
        ],
        [
            Ratio("%d threads, one mutex, neighbours, / raw rate" % count,
                  "rate", "zkrecipes", RAW_64, ">= 0.7"),
            Ratio("%d threads, one mutex, neighbours, / raw tuned" % count,
                  "rate", "zkrecipes", TUNED_64),
            Ratio("%d threads, one mutex, neighbours, / Curator's" % count,
                  "rate", "zkrecipes", "curator", ">= 6"),
            Ratio("%d threads, one mutex, retained, / Curator's" % count,
                  "rate", "zkrecipes retained", "curator", ">= 200"),
            Ratio("%d threads, retained, / a pthread mutex" % count,
                  "rate", "zkrecipes retained", "pthread mutex"),
        ],
        columns=("rate", "handoff_ns", "p99_ns", "cpu_ns"),
        rounds=11,
    )


THREADS = Bench(
    "threads",
    "threads of one process, one session and one mutex object",
    [threads(8), threads(64)],
    plot="rate",
)

REACQUIRE = Bench(
    "reacquire",
    "a lock that was just given back is taken again by the same thread",
    [
        Variant(
            "mutex",
            [
                peer("zkrecipes", "zkrecipes", "uncontended"),
                peer(
                    "zkrecipes retained",
                    "zkrecipes",
                    "uncontended",
                    10000,
                    **RETAINED,
                ),
                peer("curator", "curator", "uncontended"),
                peer(
                    "Redis SET NX PX",
                    "rival redis",
                    "alone",
                    500,
                    lock="redis-set",
                ),
            ],
            [
                Ratio("acquire of a retained lock, ns",
                      "median_ns", "zkrecipes retained", must="<= 1000"),
                Ratio("retained / Curator's",
                      "median_ns", "zkrecipes retained", "curator"),
                Ratio("a cycle that is retained / Redis",
                      "ns", "zkrecipes retained", "Redis SET NX PX"),
            ],
            columns=("median_ns", "p99_ns", "ns", "cpu_ns", "requests"),
        )
    ],
    plot="median_ns",
)


def many_locks(name, batch, rounds, with_curator):
    few = {"locks": 10}
    peers = [
        peer(
            "zkrecipes", "zkrecipes", "many-locks", batch, 10, few, locks=10000
        ),
        raw(batch),
        raw_tuned(batch),
        raw_tuned(batch, 1000),
    ]
    ratios = [
        Ratio("10,000 locks, one session, %s, / raw rate" % name,
              "rate", "zkrecipes", RAW_64, ">= 0.7"),
        Ratio("10,000 locks, one session, %s, / raw tuned" % name,
              "rate", "zkrecipes", TUNED_64),
    ]
    if with_curator:
        peers.append(
            peer(
                "curator, 64 threads",
                "curator",
                "many-locks",
                batch,
                10,
                dict(few, threads=4),
                locks=10000,
                threads=64,
            )
        )
        ratios.append(
            Ratio("10,000 locks, one session, / Curator with 64 threads",
                  "rate", "zkrecipes", "curator, 64 threads", ">= 5")
        )
    columns = ("rate", "cpu_ns", "requests")
    return Variant(name, peers, ratios, columns, rounds)


MANY_LOCKS = Bench(
    "many-locks",
    "10,000 locks of one session, each taken and given back",
    [
        many_locks("1,000 at a time", 1000, 11, True),
        many_locks("all at once", 10000, 3, False),
    ],
    plot="rate",
)

LINE_COLUMNS = (
    "rate",
    "line_cpu_ns",
    "heap_each",
    "peak_each",
    "enter_ns",
    "requests",
)


def our_line(claims, sessions):
    return peer(
        "zkrecipes", "zkrecipes", "line", claims, 10, sessions=sessions
    )


def raw_line(name, lists):
    """Nodes of 20 sessions that are deleted one after the other."""
    few = {"sessions": 2}
    return peer(
        name,
        "raw",
        "line",
        1000,
        10,
        few,
        sessions=20,
        list=lists,
        resolve=0,
    )


LONG_LINE = Bench(
    "long-line",
    "claims that wait for one lock, and are granted one after the other",
    [
        Variant(
            "10,000 claims, one session",
            [
                our_line(10000, 1),
                raw(2000),
                raw_tuned(2000),
            ],
            [
                Ratio(
                    "10,000 claims, one session, heap each but the node's name",
                    "heap_each", "zkrecipes", must="<= 2048",
                ),
                Ratio("the same, resident memory at the peak",
                      "peak_each", "zkrecipes", must="<= 2048"),
                Ratio("10,000 claims, one session, grants/s / raw rate",
                      "rate", "zkrecipes", RAW_64, ">= 0.7"),
                Ratio("10,000 claims, one session, grants/s / raw tuned",
                      "rate", "zkrecipes", TUNED_64),
                Ratio("10,000 claims, one session, client CPU each, ns",
                      "line_cpu_ns", "zkrecipes", must="<= 150000"),
                Ratio("10,000 claims, one session, threads each",
                      "threads_each", "zkrecipes", must="<= 0"),
            ],
            columns=LINE_COLUMNS,
            rounds=3,
        ),
        Variant(
            "1,000 claims, 20 sessions",
            [
                our_line(1000, 20),
                peer(
                    "curator, 1,000 threads",
                    "curator",
                    "line",
                    1000,
                    10,
                    {"threads": 10, "sessions": 2},
                    sessions=20,
                    threads=1000,
                    warmup=1000,
                ),
                raw_line("raw, a list for each grant", 1),
                raw_line("raw, no list", 0),
            ],
            [
                Ratio("1,000 claims, 20 sessions, grants/s / Curator's",
                      "rate", "zkrecipes", "curator, 1,000 threads", ">= 4"),
                Ratio(
                    "1,000 claims, 20 sessions, CPU / Curator's",
                    "line_cpu_ns", "zkrecipes", "curator, 1,000 threads", "<= 0.08",
                ),
                Ratio("1,000 claims, 20 sessions, grants/s / raw, with lists",
                      "rate", "zkrecipes", "raw, a list for each grant"),
                Ratio(
                    "1,000 claims, 20 sessions, CPU / raw, with lists",
                    "line_cpu_ns", "zkrecipes", "raw, a list for each grant",
                ),
                Ratio(
                    "1,000 nodes, 20 sessions, raw, without a list, / Curator's",
                    "rate", "raw, no list", "curator, 1,000 threads",
                ),
            ],
            columns=LINE_COLUMNS,
            rounds=5,
        ),
        Variant(
            "10,000 claims, 100 sessions",
            [
                our_line(10000, 100),
                raw(2000),
                raw_tuned(2000),
            ],
            [
                Ratio("10,000 claims, 100 sessions, grants/s / raw rate",
                      "rate", "zkrecipes", RAW_64),
                Ratio("10,000 claims, 100 sessions, grants/s / raw tuned",
                      "rate", "zkrecipes", TUNED_64),
            ],
            columns=LINE_COLUMNS,
            rounds=3,
        ),
    ],
    plot="rate",
)


def calls(name, moving):
    return Variant(
        name,
        [
            peer(
                "zkrecipes",
                "zkrecipes",
                "calls",
                500,
                smoke={"claims": 10},
                claims=2000,
                moving=moving,
            ),
            peer("raw, zoo_acreate2()", "raw", "calls", 500, resolve=0),
        ],
        [
            Ratio("acquire_async, time in the caller, p99, ns, %s" % name,
                  "p99_ns", "zkrecipes", must="<= 100000"),
            Ratio("the same / zoo_acreate2(), 64 under way, %s" % name,
                  "p99_ns", "zkrecipes", "raw, zoo_acreate2()"),
        ],
        columns=("median_ns", "p99_ns", "max_ns"),
        rounds=15,
    )


WAITING = Bench(
    "waiting",
    "what it costs to have claims that wait",
    [
        calls("2,000 claims wait", 0),
        calls("2,000 claims wait and are granted", 1),
        Variant(
            "1,000 claims wait for 10 s",
            [
                peer(
                    "zkrecipes",
                    "zkrecipes",
                    "waiting",
                    10,
                    1,
                    {"claims": 10},
                    claims=1000,
                )
            ],
            [
                Ratio("requests per second of one session, 1,000 claims wait",
                      "requests", "zkrecipes", must="<= 2")
            ],
            columns=("requests", "cpu_ns"),
            rounds=1,
        ),
        Variant(
            "no claim waits for 10 s",
            [peer("zkrecipes", "zkrecipes", "waiting", 10, 1, claims=0)],
            columns=("requests", "cpu_ns"),
            rounds=1,
        ),
    ],
)


def waits(count):
    return peer(
        "%s waits" % format(count, ","),
        "zkrecipes",
        "give-up",
        count,
        10,
        {"locks": 10},
        locks=count,
        timeout_ms=30000,  # 50,000 waits take long to begin
    )


GIVE_UP = Bench(
    "give-up",
    "waits of one session that end at once, by their timeouts",
    [
        Variant(
            "as many locks as waits",
            [waits(1000), waits(10000), waits(50000)],
            [
                Ratio("longest check() while 10,000 waits end at once, ns",
                      "check_ns", "10,000 waits", must="<= 20000000"),
                Ratio("client CPU of a wait that ends, of 10,000 / of 1,000",
                      "cpu_ns", "10,000 waits", "1,000 waits", "<= 2"),
                Ratio("the same, of 50,000 / of 1,000",
                      "cpu_ns", "50,000 waits", "1,000 waits", "<= 2"),
            ],
            columns=("cpu_ns", "rate", "check_ns", "late_ns", "requests"),
            rounds=3,
        )
    ],
)


def readers(writers):
    peers = [
        peer(
            program,
            program,
            "contended",
            640,
            smoke=FEW,
            recipe="read",
            sessions=32,
            threads=32,
            writers=writers,
        )
        for program in ("zkrecipes", "curator")
    ]
    return Variant(
        "%d %% writers" % writers,
        peers,
        [
            Ratio("32 clients, %d %% writers, / Curator's" % writers,
                  "rate", "zkrecipes", "curator")
        ],
        columns=("rate", "cpu_ns", "requests"),
        rounds=9,
    )


READERS = Bench(
    "readers",
    "32 sessions that read, and now and then write",
    [readers(0), readers(1), readers(10)],
    plot="rate",
)



def family(
    name, recipe, batch, columns=(), warmup=400, requests="", **options
):
    """A recipe that is no lock: each client is a thread and a session."""
    sessions = options.get("sessions", 1)
    peers = [
        peer(
            program,
            program,
            "family",
            batch,
            smoke=dict(sessions=min(sessions, 2)),
            recipe=recipe,
            warmup=warmup,
            **options,
        )
        for program in ("zkrecipes", "curator")
    ]
    ratios = [
        Ratio("%s, cycles/s / Curator's" % name,
              "rate", "zkrecipes", "curator"),
        Ratio("%s, requests / Curator's" % name,
              "requests", "zkrecipes", "curator"),
        Ratio("%s, requests of a cycle" % name,
              "requests", "zkrecipes", must=requests),
    ]
    if sessions == 1:
        peers.append(peer(RAW, "raw", "cycle"))
        ratios.append(
            Ratio("%s, time / raw create, delete" % name,
                  "ns", "zkrecipes", RAW)
        )
    columns = ("rate", *columns, "cpu_ns", "requests")
    return Variant(name, peers, ratios, columns, rounds=9)


LEADING = ("handoff_ns", "p99_ns")
FAMILY = Bench(
    "family",
    "semaphores, counters, elections and barriers",
    [
        family("semaphore, 1 client", "semaphore", 50),
        family("semaphore, 8 clients", "semaphore", 80, sessions=8),
        family(
            "semaphore, 8 clients, limit 4",
            "semaphore",
            80,
            sessions=8,
            limit=4,
        ),
        family(
            "semaphore, 20 permits at once",
            "semaphore",
            5,
            warmup=50,
            limit=20,
            permits=20,
        ),
        family("counter, 1 client", "counter", 200),
        family("counter, 4 clients", "counter", 200, sessions=4),
        family("counter, 16 clients", "counter", 320, sessions=16),
        family(
            "counter, 32 clients",
            "counter",
            320,
            sessions=32,
            requests="<= 6",
        ),
        family("election, 2 clients", "leader", 50, LEADING, sessions=2),
        family("election, 8 clients", "leader", 80, LEADING, sessions=8),
        family("barrier, 2 clients", "barrier", 100, sessions=2),
        family("double barrier, 2 clients", "double-barrier", 50, sessions=2),
        family("double barrier, 8 clients", "double-barrier", 80, sessions=8),
    ],
    plot="rate",
)

RECOVERY = Bench(
    "recovery",
    "until the next grant, when something is killed",
    [
        Variant(
            "holder killed, session timeout 2 s",
            [
                peer("zkrecipes", "zkrecipes", "killed", 1, 1, timeout_ms=2000),
                peer("curator", "curator", "killed", 1, 1, timeout_ms=2000),
            ],
            [
                Ratio("holder killed, until the next grant, / Curator's",
                      "gap_ns", "zkrecipes", "curator")
            ],
            columns=("gap_ns",),
            rounds=4,
        ),
        Variant(
            "leader killed, two sessions in turn",
            [
                peer(
                    program,
                    program,
                    "contended",
                    6,
                    4,
                    sessions=2,
                    threads=2,
                    seconds=1,
                    tolerant=1,
                )
                for program in ("zkrecipes", "curator")
            ],
            [
                Ratio("leader killed, until the next grant, / Curator's",
                      "gap_ns", "zkrecipes", "curator")
            ],
            columns=("gap_ns",),
            nodes=(3,),
            rounds_of_several=3,
            fault="leader killed",
        ),
    ],
)


def steps(step, tidy):
    """Locks are held for a moment only: a grant that is older gets a watch."""
    return [
        peer(
            "%s, %s" % (program, step),
            program,
            "steps",
            25,
            25,
            step=step,
            tidy=tidy,
        )
        for program in ("zkrecipes", "curator")
    ]


def two_sessions():
    return [
        peer(
            "%s, hand-off" % program,
            program,
            "contended",
            sessions=2,
            threads=2,
        )
        for program in ("zkrecipes", "curator")
    ]


REQUESTS = Bench(
    "requests",
    "what the servers receive",
    [
        Variant(
            "each step",
            steps("acquire", "after")
            + steps("release", "before")
            + two_sessions(),
            [
                Ratio("acquire again, nobody else, requests",
                      "requests", "zkrecipes, acquire", must="<= 1")
            ],
            columns=("requests", "bytes"),
            rounds=9,
            nodes=(1, 3),
        )
    ],
    plot="requests",
)


def fleet_of(sessions, **more):
    """The driver counts for 3 T; a cycle is a T of one session."""

    def of(name, program, **options):
        return peer(
            name,
            program,
            "fleet",
            3 * sessions,
            20,
            dict(sessions=20, timeout_ms=2000),
            "both",
            sessions=sessions,
            **more,
            **options,
        )

    return of


def holders(of):
    return [
        of("zkrecipes, each holds a lock", "zkrecipes", hold=1),
        of("zkrecipes, each holds a lock, one beacon",
           "zkrecipes at followers", hold=1, beacon="/bench-beacon"),
    ]


FLEET_COLUMNS = (
    "writes",
    "syncs",
    "requests",
    "quorum_bytes",
    "server_cpu_ns",
    "cpu_ns",
)


CURATOR_HOLDS = ("curator, each holds a lock", {"hold": 1})


def fleet(sessions, others):
    of = fleet_of(sessions)
    ours = "%s sessions" % format(sessions, ",")
    return Variant(
        ours,
        [
            of("nobody", "raw", nobody=1),
            of("raw", "raw"),
            of("zkrecipes", "zkrecipes"),
        ]
        + holders(of)
        + [of(name, "curator", **options) for name, options in others],
        [
            Ratio("%s, each holds a lock, committed writes in T" % ours,
                  "writes", "zkrecipes, each holds a lock", must="<= 3.5"),
            Ratio("%s, idle, requests / raw" % ours,
                  "requests", "zkrecipes", "raw", "<= 1.7"),
            Ratio("%s, idle, bytes between servers / raw" % ours,
                  "quorum_bytes", "zkrecipes", "raw", "<= 1.2"),
            Ratio("%s, one beacon, committed writes in T of each" % ours,
                  "writes", "zkrecipes, each holds a lock, one beacon",
                  must="<= %.3g" % (12 / sessions)),
        ],
        columns=FLEET_COLUMNS,
        nodes=(3,),
        rounds_of_several=1,
    )


def large_fleet(sessions, timeout_ms):
    """T is as long as servers grant it, so that one machine bears them."""
    of = fleet_of(sessions, timeout_ms=timeout_ms)
    return Variant(
        "%s sessions" % format(sessions, ","),
        holders(of),
        columns=FLEET_COLUMNS,
        nodes=(3,),
        rounds_of_several=1,
    )


FLEET = Bench(
    "fleet",
    "what sessions cost the servers, for each session and session timeout",
    [
        fleet(200, [("curator", {}), CURATOR_HOLDS]),
        fleet(1000, [CURATOR_HOLDS]),
    ],
)

LARGE_FLEET = Bench(
    "large-fleet",
    "the same of as many as one machine bears",
    [large_fleet(3000, 40000)],
)


STAGES = Bench(
    "stages",
    "where the time of one acquire goes, when nobody else wants the lock",
    [
        Variant(
            "mutex again",
            [peer("zkrecipes", "stages", "stages", 100)],
            columns=(
                "submit_ns",
                "send_ns",
                "server_ns",
                "answer_ns",
                "return_ns",
                "acquire_ns",
            ),
            nodes=(1, 3),
        )
    ],
)


def unfair(sessions):
    fair, unfair = [
        peer(
            recipe,
            "zkrecipes",
            "contended",
            max(64, 2 * sessions),
            recipe=recipe,
            sessions=sessions,
            threads=sessions,
        )
        for recipe in ("mutex", "unfair")
    ]
    return Variant(
        "%d contenders" % sessions if sessions > 1 else "1 contender",
        [fair, unfair],
        [Ratio("unfair / fair, time", "ns", "unfair", "mutex")],
        columns=("ns", "requests", "longest_by_mean"),
        rounds=7,
    )


UNFAIR = Bench(
    "unfair",
    "the cost of fairness, and of a herd",
    [unfair(n) for n in (1, 2, 8, 32, 64)],
)

# Name, system, lock; how many cycles take about 0.1 s alone, and 0.3 s where
# eight clients want the same lock: a batch must be longer than a pause between
# two attempts, or it shows nothing of who waits.
RIVAL_LOCKS = (
    ("zkrecipes", "zookeeper", "zkrecipes", 50, 100),
    ("Redis SET NX PX", "redis", "redis-set", 500, 2000),
    ("Redis SET NX PX, synced", "redis-always", "redis-set", 500, 2000),
    ("Redis SETNX+GETSET", "redis", "redis-getset", 500, 2000),
    ("Redis hash, as Redisson", "redis", "redis-hash", 500, 500),
    ("RedLock, five Redis", "redlock", "redlock", 100, 500),
    ("MariaDB unique row", "mariadb", "mariadb-row", 200, 800),
    ("MariaDB FOR UPDATE", "mariadb", "mariadb-for-update", 200, 500),
    ("MariaDB version", "mariadb", "mariadb-version", 100, 400),
    ("memcached add", "memcached", "memcached", 500, 2000),
    ("etcd lock", "etcd", "etcd", 50, 30),
)


def rivals(variant, bench, index, columns):
    peers = [
        peer(row[0], "rival " + row[1], bench, batch=row[index], lock=row[2])
        for row in RIVAL_LOCKS
    ]
    ratios = [
        Ratio("%s / zkrecipes" % row[0], "ns", row[0], "zkrecipes")
        for row in RIVAL_LOCKS[1:]
    ]
    return Variant(variant, peers, ratios, columns)


RIVALS = Bench(
    "rivals",
    "the locks that people use instead, each on its own server",
    [
        rivals("nobody else there", "alone", 3, ("ns", "cpu_ns")),
        rivals(
            "eight clients on one lock",
            "eight",
            4,
            ("ns", "rate", "max_ns", "longest_by_mean", "least_share"),
        ),
    ],
    plot="ns",
)

BENCHES = [
    UNCONTENDED,
    HANDOFF,
    THREADS,
    REACQUIRE,
    RIVALS,
    MANY_LOCKS,
    LONG_LINE,
    WAITING,
    GIVE_UP,
    READERS,
    FAMILY,
    RECOVERY,
    REQUESTS,
    FLEET,
    LARGE_FLEET,
    STAGES,
    UNFAIR,
]
