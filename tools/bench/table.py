"""Which peers run in which sub-benchmark, and what is told of them.

This is the one place to look at, or to change, for what is measured.
"""

from dataclasses import dataclass, field


@dataclass
class Program:
    """How a peer is started. {build}, {source} and {java} are replaced."""

    system: str  # of servers.py: what it talks to
    command: list


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


@dataclass
class Ratio:
    """A figure of a peer, by a figure of another one in the same round."""

    text: str
    of: tuple  # (name of a peer, figure)
    to: tuple = None  # None: the figure itself
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
    tidy: bool = False  # "run 0" before each batch, and not counted
    fault: str = None  # happens in each batch: see the system


@dataclass
class Bench:
    name: str
    title: str
    variants: list
    plot: str = ""  # the figure of its plot, if it has one


JVM = "-XX:-UsePerfData -Xmx512m -Xss256k".split()
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
    "raw": Program("zookeeper", ["{build}/tools/bench/peers/raw-peer"]),
    "curator": Program(
        "zookeeper", ["java", *JVM, "-cp", CLASSES, "CuratorPeer"]
    ),
    "kazoo": Program(
        "zookeeper", ["/usr/bin/python3", "{source}/peers/kazoo_peer.py"]
    ),
}

BENCHES = [
    Bench(
        "uncontended",
        "one lock taken and given back, and nobody else there",
        [
            Variant(
                "again",
                [
                    Peer("raw create", "raw", "create"),
                    Peer("raw create+delete", "raw", "cycle"),
                    Peer(
                        "zkrecipes mutex",
                        "zkrecipes",
                        "uncontended",
                        options={"recipe": "mutex"},
                    ),
                ],
                ratios=[
                    Ratio(
                        "acquire again / raw create",
                        ("zkrecipes mutex", "acquire_ns"),
                        ("raw create", "acquire_ns"),
                        "<= 1.10",
                    ),
                ],
                columns=("acquire_ns", "ns", "cpu_ns", "requests"),
                nodes=(1, 3),
            ),
        ],
        plot="acquire_ns",
    ),
]
