#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An operator's night: incidents on an ensemble with locks of every kind, each
solved with zk-lockctl alone, by the commands of docs/operating.md.

The clients are real processes of this library, Curator and kazoo.

    night.py PAGE LOCKCTL ZK-DEV        (and the variables of the interop tests)
"""

import logging
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid

try:
    from kazoo.client import KazooClient
    from kazoo.retry import KazooRetry
    from kazoo.security import make_digest_acl
except ImportError:
    sys.exit(77)
if "INTEROP_CLASSES" not in os.environ:
    sys.exit(77)

PAGE, LOCKCTL, ZK_DEV = (os.path.abspath(name) for name in sys.argv[1:4])
logging.disable()  # kazoo says that servers go away
SOON = 60  # seconds; it only ends hangs


# --- the clients -------------------------------------------------------------


class Client:
    """A process whose output is read line by line."""

    def __init__(self, args, env=None):
        self.lines = []
        self.changed = threading.Condition()
        self.on_line = lambda line: None
        self.process = subprocess.Popen(
            args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=env, start_new_session=True
        )
        cast.append(self)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
            self.on_line(line)

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def expect(self, start):
        """Waits for a line that begins so, and forgets those before it."""
        deadline = time.monotonic() + SOON
        with self.changed:
            while True:
                for i, line in enumerate(self.lines):
                    if line.startswith(start):
                        del self.lines[: i + 1]
                        return line
                if not self.changed.wait(deadline - time.monotonic()):
                    fail("no '%s', but: %s" % (start, self.lines))

    def end(self):
        return self.process.wait(SOON)

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(SOON)


def run(*args, command="echo held; read -r line", verb="run"):
    """zk-lockctl run, of which the command reads a line to end."""
    return Client([LOCKCTL, verb, *args, "-c", command], env=behind)


def hold(*args, **more):
    client = run(*args, **more)
    client.expect("held")
    return client


def asked(ask, path):
    """The answer of kazoo's server once it is not behind the leader."""
    kazoo.retry(kazoo.sync, path)
    return kazoo.retry(ask, path)


def children(path):
    return len(asked(kazoo.get_children, path))


def wait_for_queue(path, count):
    wait_until(lambda: children("/locks/" + path) == count)


def queue(*args):
    """A waiter, which is in the queue of its lock."""
    path = "/locks/" + args[-1]
    before = children(path)
    client = run(*args)
    wait_until(lambda: children(path) == before + 1)
    return client


def worker(kind, recipe, layout, path):
    """A process with Curator or kazoo: see tests/interop/worker.h."""
    env = os.environ
    args = {
        "c": [env["INTEROP_WORKER"], "c1"],
        "curator": ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                    "-Xmx64m", "-cp", env["INTEROP_CLASSES"], "Worker",
                    "curator1"],
        "kazoo": [sys.executable, env["INTEROP_PYTHON_WORKER"], "kazoo1",
                  env["INTEROP_EXAMPLES"]],
    }[kind]
    client = Client(args)
    client.expect("= ready")
    client.tell("open %s 6000" % servers)
    client.expect("= open")
    client.tell("lock %s %s /locks/%s" % (recipe, layout, path))
    client.expect("= lock")
    return client


def node(path, client=None, **options):
    options.setdefault("ephemeral", True)
    client = client or kazoo
    data = options.pop("data", b"")
    return client.create("/locks/" + path, data, makepath=True, **options)


def connect(**options):
    retry = KazooRetry(max_tries=-1, max_delay=1)
    client = KazooClient(
        hosts=servers, timeout=30, connection_retry=retry,
        command_retry=retry.copy(), **options
    )
    client.start(SOON)
    return client


# --- the operator ------------------------------------------------------------


def fail(why):
    print("night: %s: %s" % (incident, why), file=sys.stderr)
    sys.exit(1)


def wait_until(true):
    deadline = time.monotonic() + SOON
    while not true():
        if time.monotonic() > deadline:
            fail("it did not come about")
        time.sleep(0.02)


def op(command, code=0, says=()):
    """A command that the operator types; its output leads to the next one."""
    done = subprocess.run(
        command, shell=True, env=watched, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=2 * SOON, check=False
    )
    ops.append((incident, command))
    if os.environ.get("NIGHT_VERBOSE"):
        print("$ %s\n%s%d" % (command, done.stdout, done.returncode))
    if done.returncode != code:
        fail("%s: exit status %d: %s" % (command, done.returncode, done.stdout))
    for text in says:
        if text not in done.stdout:
            fail("%s does not say '%s': %s" % (command, text, done.stdout))
    return done.stdout


def found(pattern, text):
    match = re.search(pattern, text)
    if match is None:
        fail("no '%s' in: %s" % (pattern, text))
    return match.group(1)


def cure(text):
    """The command that the output proposes."""
    return found(r"(zk-lockctl (?:break|revoke) [^\n(]*[^\s(])", text)


def without_asking(order):
    return order.replace("break ", "break --yes ")


# --- the incidents -----------------------------------------------------------
# Each is a section of the page, of this title.


def what_is_there():
    hold("deploy", "--and", "imports")
    hold("-s", "catalogue")
    hold("--slots", "2", "licences")
    hold("scheduler", verb="lead")
    node("cache/holder", data=b"10.0.0.9")
    member = worker("c", "mutex", "curator", "start")
    member.tell("enter /locks/start 2 60000")
    latch = worker("curator", "latch", "curator", "election")
    latch.tell("acquire write 5000")
    latch.expect("= held")
    wait_for_queue("start", 1)
    op(
        "zk-lockctl ls",
        says=[
            "/locks/cache     unfair",
            "/locks/catalogue rw",
            "/locks/deploy    mutex",
            "/locks/election  leader",
            "/locks/imports   mutex",
            "/locks/licences  semaphore",
            "/locks/scheduler leader",
            "/locks/start     barrier",
        ],
    )


def everybody_waits_for_one_lock():
    holder = hold("--why", "release 42", "--on-revoke", "term", "deploy")
    waiters = [queue("deploy"), queue("deploy")]
    op("zk-lockctl ls --waiting", says=["/locks/deploy mutex"])
    op("zk-lockctl show deploy", says=["release 42", "127.0.0.1:"])
    op("zk-lockctl revoke deploy", says=["asked "])
    waiters[0].expect("held")
    if holder.end() != 80:
        fail("the holder was not asked")


def the_holder_does_not_listen():
    holder = hold("imports", command="echo held; kill -STOP $$")
    waiter = queue("imports")
    said = op("zk-lockctl revoke -w 1s imports", 75,
              ["(asked to release)", "has not given it back"])
    op(
        without_asking(cure(said)),
        says=["until then both may work", "1 waiting; the next is granted at once", "broken: "],
    )
    waiter.expect("held")
    if holder.end() != 79:
        fail("the holder did not learn that it was broken")


def a_client_of_another_library_holds():
    holder = worker("kazoo", "mutex", "kazoo", "reports")
    holder.tell("acquire write 0")
    holder.expect("= held")
    waiter = queue("reports")
    op("zk-lockctl revoke -w 1s reports", 75, ["kazoo does not listen"])
    op("zk-lockctl show reports", says=["kazoo", "127.0.0.1:"])
    holder.kill()  # the operator stops the program on that machine
    op("zk-lockctl wait --held-by %s -w 1m reports" % socket.gethostname())
    waiter.expect("held")


def a_thousand_wait_behind_one_writer():
    holder = worker("curator", "rw", "curator", "catalogue")
    holder.on_line = lambda line: (
        holder.tell("release write") if line.startswith("= asked") else None
    )
    holder.tell("listen")
    holder.expect("= listening")
    holder.tell("acquire write 0")
    holder.expect("= held")
    reader = connect()
    for made in [
        reader.create_async(
            "/locks/catalogue/_c_%s-__READ__" % uuid.uuid4(), b"10.0.0.7",
            ephemeral=True, sequence=True
        )
        for _ in range(1000)
    ]:
        made.get(timeout=SOON)
    op("zk-lockctl ls --waiting", says=["/locks/catalogue", " 1000 "])
    op("zk-lockctl show --limit 3 catalogue", says=["curator", "HELD"])
    op("zk-lockctl revoke catalogue", says=["asked ", "is held by 1000"])
    reader.stop()


def deadlock(locks):
    """Each holds one, and then wants the next."""
    clients = [
        hold(
            "--on-revoke", "term", lock,
            command="echo held; read -r line; exec %s run %s true"
            % (LOCKCTL, locks[(i + 1) % len(locks)]),
        )
        for i, lock in enumerate(locks)
    ]
    for i, client in enumerate(clients):
        client.tell("")
        wait_for_queue(locks[(i + 1) % len(locks)], 2)
    order = cure(op("zk-lockctl deadlocks", 1, ["to resolve: "]))
    op(order, says=["asked "])
    op("zk-lockctl deadlocks", says=["no deadlock"])
    ends = sorted(client.end() for client in clients)
    if ends != [0] * (len(locks) - 1) + [80]:
        fail("more than one was ended: %s" % ends)


def two_wait_for_each_other():
    deadlock(["accounts-7", "accounts-9"])


def three_wait_for_each_other():
    deadlock(["a", "b", "c"])


def the_machine_of_the_holder_is_gone():
    holder = hold("--session-timeout", "60s", "backup")
    holder.kill()
    waiter = queue("backup")
    order = cure(op("zk-lockctl doctor", 1, ["/locks/backup: absent-holder"]))
    op(without_asking(order), says=["told when it is connected again", "broken: "])
    waiter.expect("held")


def all_permits_are_taken_by_the_dead():
    for _ in range(2):
        hold("--session-timeout", "60s", "--slots", "2", "licences").kill()
    waiter = run("--slots", "2", "licences")
    waiter.expect("zk-lockctl: waiting: ")
    op("zk-lockctl show licences", says=["2 leases", "a permit"])
    said = op("zk-lockctl doctor", 1, ["/locks/licences: absent-holder"])
    op(without_asking(cure(said)), says=["broken: "])
    waiter.expect("held")


def a_node_that_nobody_owns():
    node("night/lock-0000000000", ephemeral=False)
    waiter = queue("night")
    said = op("zk-lockctl doctor", 1, ["/locks/night: persistent-contender"])
    op(without_asking(cure(said)), says=["belongs to no session"])
    waiter.expect("held")


def who_had_it_last_night():
    first = hold("--session-timeout", "4s", "--why", "the backup", "nightly")
    second = queue("--why", "the report", "nightly")
    first.kill()
    second.expect("held")
    held = min(asked(kazoo.get_children, "/locks/nightly"))
    kazoo.delete("/locks/nightly/" + held)
    if second.end() != 79:
        fail("the holder did not learn that it was broken")
    logs = "".join(" --from %s/%d/data" % (zk_dir, i) for i in (1, 2, 3))
    said = op(
        "zk-lockctl log%s --since 1h nightly" % logs,
        says=["the backup", "session expired", "the report", "broken by 0x"],
    )
    at = found(r"(\S+Z) +\S+Z .*session expired", said)
    op("zk-lockctl log%s --at %s nightly" % (logs, at), says=["HELD", "the backup"])


def a_leader_must_move():
    asks = ["--on-revoke", "term", "--why"]
    hold(*asks, "blue", "scheduler", verb="lead")
    green = run(*asks, "green", "scheduler", verb="lead")
    wait_for_queue("scheduler", 2)
    op("zk-lockctl show scheduler", says=["leader", "blue", "green"])
    op("zk-lockctl revoke scheduler", says=["is led by"])
    green.expect("held")


def a_script_holds():
    script = Client(
        ["bash", "-c", 'eval "$("$0" hold pipeline || echo exit $?)"; echo held; read',
         LOCKCTL],
        env=behind,
    )
    script.expect("held")
    waiter = queue("pipeline")
    shown = op("zk-lockctl show pipeline", says=["HELD"])
    shell = found(r"HELD .* \((\d+)\)", shown)
    following = found(r" wait +([^ ]*:\d+)", shown)
    os.kill(int(shell), signal.SIGTERM)  # it is in the label
    op("zk-lockctl wait --held-by %s -w 1m pipeline" % following)
    waiter.expect("held")
    if script.end() == 0:
        fail("the script went on without the lock")


def two_recipes_on_one_path():
    kazoo.create("/locks/total", struct.pack(">q", 42), makepath=True)
    op("zk-lockctl run total true", 65, ["is used for a counter"])
    hold("--slots", "1", "tickets")
    op("zk-lockctl run tickets true", 65, ["is used for a semaphore"])


def nobody_may_look():
    kazoo.ensure_path("/locks")
    owner = connect(auth_data=[("digest", "ops:secret")])
    acl = [make_digest_acl("ops", "secret", all=True)]
    owner.create("/locks/payroll", acl=acl, makepath=True)
    owner.create("/locks/payroll/lock-", ephemeral=True, sequence=True)
    op("zk-lockctl ls", 77, ["/locks/payroll could not be looked at"])
    op("zk-lockctl show payroll", 77)
    with open("ops.auth", "w", encoding="ascii") as file:
        os.chmod("ops.auth", 0o600)
        file.write("digest:ops:secret\n")
    op("zk-lockctl --auth-file ops.auth show payroll", says=["HELD"])
    owner.stop()
    op("zk-lockctl --auth-file ops.auth check --free payroll")
    kazoo.add_auth("digest", "ops:secret")  # to clean up


def a_server_hangs():
    holder = hold("--session-timeout", "60s", "mail")
    wait_until(lambda: len(followers()) == 2)
    os.kill(followers()[0], signal.SIGSTOP)
    op("zk-lockctl doctor", 82, ["does not answer", "0 findings"])
    op("zk-lockctl ls --held", says=["/locks/mail"])
    holder.kill()


def no_server_answers():
    pids = [pid for pid, _ in status()]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    op("zk-lockctl --timeout 3s ls", 69)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: len(followers()) == 2)
    op("zk-lockctl ls", says=[])


INCIDENTS = [
    what_is_there, everybody_waits_for_one_lock, the_holder_does_not_listen,
    a_client_of_another_library_holds, a_thousand_wait_behind_one_writer,
    two_wait_for_each_other, three_wait_for_each_other,
    the_machine_of_the_holder_is_gone, all_permits_are_taken_by_the_dead,
    a_node_that_nobody_owns, who_had_it_last_night, a_leader_must_move,
    a_script_holds, two_recipes_on_one_path, nobody_may_look, a_server_hangs,
    no_server_answers,
]


def clean_up():
    for client in cast:
        client.kill()
    cast.clear()
    for pid, _ in status():
        os.kill(pid, signal.SIGCONT)
    if asked(kazoo.exists, "/locks"):
        kazoo.retry(kazoo.delete, "/locks", recursive=True)


def title(incident_fn):
    return incident_fn.__name__.replace("_", " ")


def generic(command):
    """As the page has it: tokens, times, names of machines and files differ."""
    command = re.sub(r"(--token) \S+", r"\1 TOKEN", command)
    command = re.sub(r"(--at) \S+", r"\1 02:55", command)
    command = re.sub(r"( --from \S+)+", " --from /var/lib/zookeeper", command)
    return re.sub(r"(--held-by) \S+", r"\1 HOST", command)


def check_page():
    """The page has the commands of each incident, in their order."""
    want = {}
    for name, command in ops:
        want.setdefault(name, []).append(generic(command))
    have, section = {}, None
    with open(PAGE, encoding="utf-8") as page:
        for line in page:
            if line.startswith("## "):
                section = line[3:].strip().lower()
            elif line.startswith("$ "):
                have.setdefault(section, []).append(generic(line[2:].strip()))
    for name, commands in want.items():
        if have.get(name) != commands:
            fail("%s: '%s' has %s, not %s"
                 % (PAGE, name, have.get(name), commands))


# --- the ensemble ------------------------------------------------------------


def zk_dev(*args):
    return subprocess.run(
        [ZK_DEV, *args, "--dir", zk_dir], stdout=subprocess.PIPE, text=True,
        check=args[0] != "status"  # a server that hangs makes it fail
    ).stdout


def status():
    """The process of each server, and what it is."""
    return [
        (int(found(r"pid (\d+)", line)), line.split()[-1])
        for line in zk_dev("status").splitlines()
    ]


def followers():
    return [pid for pid, mode in status() if mode == "follower"]


incident = "the beginning"
cast, ops = [], []
directory = tempfile.mkdtemp(prefix="night-")
zk_dir = os.path.join(directory, "zk")
os.chdir(directory)
os.environ["ZK_DEV_JAVA_OPTS"] = "-Dznode.container.checkIntervalMs=600000"
try:
    zk_dev("up", "--nodes", "3")
    servers = found(r"ZK_SERVERS=(\S+)", zk_dev("env"))
    behind = dict(os.environ, ZK_SERVERS=servers)
    watched = dict(
        behind,
        PATH=os.path.dirname(LOCKCTL) + ":" + os.environ["PATH"],
        HOME=directory,
    )
    kazoo = connect()
    for play in INCIDENTS:
        incident = title(play)
        play()
        clean_up()
    check_page()
finally:
    for client in cast:
        client.kill()
    zk_dev("down")
    subprocess.run(["rm", "-rf", directory], check=False)
