#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the library, or the tool, on purpose; a test must notice it.

The table beside this file has the mutants, and says how one is written."""

import argparse
import fnmatch
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

EPILOG = """
A mutant is killed when one of the programs after its "!" fails; they are tried
in that order. The tree without the mutant must pass what killed it. The exit
status is 1 when a mutant survives, cannot be applied, or does not compile, or
when the tree fails without a mutant.

To hunt with mutants that no test has seen, write them into a file of the same
form, without "!" lines, and try them:

    tests/mutants/run.py --table FILE

A mutant without "!" lines is tried with the tests of its room, see DEFAULTS in
run.py: those that bear the name of its file first, then from the cheapest on,
until one fails or --budget has passed. For each survivor one line says what saw
nothing. The last line is "N mutants, K killed, S not".
"""

# What is tried with a mutant that names no test, by the beginning of its file.
DEFAULTS = {
    "tools/": "cli-* test-lockctl-*",
    "src/fence/": "unit-fence*",
    "src/zk/": "unit-* stories line_stories test-zhandle test-client test-servers"
    " test-session test-guarded test-txn test-hostile lives sim test-*",
    "src/inspect/": "unit-* test-participants test-parts test-find test-break"
    " test-watching stories sim test-lockctl-view test-*",
    "recipes/": "unit-* stories line_stories sim test-contract lives test-*",
    "": "unit-* stories line_stories test-contract sim lives test-*",
}


class Mutant:
    """A record of the table."""

    def __init__(self, name, what):
        self.smoke = what.startswith("[smoke] ")
        self.name, self.what = name, what.removeprefix("[smoke] ")
        self.changes = []  # [file, old, new]
        self.trials = []  # (program, pattern or options)


def read_table(path):
    """The mutants of a file; an error names its line."""
    mutants, names = [], set()
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            kind, text = line[:2].rstrip(), line[2:].rstrip("\n")
            head = re.fullmatch(r"([\w-]+/[\w-]+): (.+)\n?", line)
            change = mutants[-1].changes[-1] if mutants and mutants[-1].changes else None
            if kind in ("", "#"):
                continue
            if head and head[1] not in names:
                names.add(head[1])
                mutants.append(Mutant(*head.groups()))
            elif kind == "@" and mutants:
                mutants[-1].changes.append([text, "", ""])
            elif kind == "-" and change:
                change[1] += text + "\n"
            elif kind == "+" and change:
                change[2] += text + "\n"
            elif kind == "!" and mutants and text:
                mutants[-1].trials.append((*text.split(None, 1), "")[:2])
            else:
                sys.exit(f"{path}:{number}: not a line of a mutant, or a name twice: {line}")
    return mutants


def squeeze(text):
    return "".join(text.split())


def span(source, old):
    """Where `old` stands in `source`: once. White space does not count, so that
    a line may be wrapped anew."""
    at = [i for i, char in enumerate(source) if not char.isspace()]
    bare, old = squeeze(source), squeeze(old)
    count = bare.count(old) if old else 0
    if count != 1:
        raise ValueError(f"the old text stands there {count} times")
    first = bare.index(old)
    return at[first], at[first + len(old) - 1] + 1


def changed(source, changes):
    """`source` with its new texts. Each old text is looked for in what was there
    before."""
    text = source
    for (begin, end), new in sorted(((span(source, o), n) for o, n in changes), reverse=True):
        text = text[:begin] + new.rstrip("\n") + text[end:]
    if squeeze(text) == squeeze(source):
        raise ValueError("the new text is the old one")
    return text


def apply(mutant, tree):
    """The files of the mutant as they were, by path: see restore()."""
    before, after = {}, {}
    for file in {change[0] for change in mutant.changes}:
        path = os.path.join(tree, file)
        try:
            with open(path, encoding="utf-8") as f:
                before[path] = f.read()
            after[path] = changed(before[path], [c[1:] for c in mutant.changes if c[0] == file])
        except (OSError, ValueError) as error:
            raise ValueError(f"{mutant.name}: {file}: {error}") from error
    restore(after)
    return before


def restore(files):
    for path, source in files.items():
        with open(path, "w", encoding="utf-8") as f:
            f.write(source)


def check(mutants):
    """Compiles nothing: does each mutant apply, is there such a test?"""
    tests = ""
    for folder, _, files in os.walk(os.path.join(ROOT, "tests")):
        for file in (f for f in files if f.endswith((".c", ".h"))):
            with open(os.path.join(folder, file), encoding="utf-8") as f:
                tests += f.read()
    failed = 0
    with tempfile.TemporaryDirectory() as tree:
        for mutant in mutants:
            errors = []
            for file in {change[0] for change in mutant.changes}:
                if os.path.exists(os.path.join(ROOT, file)):
                    os.makedirs(os.path.join(tree, os.path.dirname(file)), exist_ok=True)
                    shutil.copy(os.path.join(ROOT, file), os.path.join(tree, file))
            try:
                apply(mutant, tree)
            except ValueError as error:
                errors.append(str(error))
            if not mutant.changes:
                errors.append(f"{mutant.name}: changes nothing")
            for program, pattern in mutant.trials:
                words = re.findall(r"\w+", pattern)
                if program != "sim" and words and max(words, key=len) not in tests:
                    errors.append(f"{mutant.name}: no test of {program} is called {pattern}")
            for error in errors:
                print(error)
            failed += bool(errors)
    print(f"{len(mutants)} mutants, {failed} of them not as they should be")
    return failed


def show(mutants):
    print("| mutant | what is broken | what notices it |\n|---|---|---|")
    for m in mutants:
        trials = ", ".join(f"`{' '.join(t).strip()}`" for t in m.trials)
        print(f"| {m.name} | {m.what} | {trials} |")


class Trees:
    """Copies of the tree, each with a build of its own. `base` stays as it is."""

    def __init__(self, options):
        self.options = options
        self.work = tempfile.mkdtemp(prefix="mutants-")
        os.chmod(self.work, 0o711)  # one test is another user, who runs the tool
        self.base = os.path.join(self.work, "base")
        self.sound = {}  # trial: seconds that it took in base; None: it failed
        self.lock = threading.Lock()

    def make_base(self):
        def skip(folder, names):
            return [n for n in names if folder == ROOT and (n == ".git" or n.startswith("build"))]

        shutil.copytree(ROOT, self.base, symlinks=True, ignore=skip)
        off = ["-D" + o for o in ("examples=disabled", "docs=disabled", "debug=false")]
        self.command(["meson", "setup", "build", "-Dtests=enabled", "-Dtools=auto",
                      "-Doptimization=1", "-Dwerror=false", *off])
        self.tests = {}  # name of the program: tests of meson
        files = {}
        for target in json.loads(self.introspect("--targets")):
            files[target["id"]] = [os.path.relpath(f, self.base + "/build") for f in target["filename"]]
        for test in json.loads(self.introspect("--tests")):
            test["depends"] = [f for d in test["depends"] for f in files.get(d, [])]
            self.tests.setdefault(os.path.basename(test["cmd"][0]), []).append(test)

    def introspect(self, what):
        return subprocess.run(["meson", "introspect", "build", what], cwd=self.base,
                              check=True, capture_output=True, text=True).stdout

    def command(self, argv, tree=None):
        done = subprocess.run(argv, cwd=tree or self.base, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise RuntimeError(f"{argv[0]} fails:\n{done.stdout[-3000:]}")

    def copy(self, name):
        tree = os.path.join(self.work, name)
        self.command(["cp", "-a", "--reflink=auto", self.base, tree])
        # Where a test finds the tool is a path in its code.
        self.command(["sed", "-i", f"s|{self.base}/|{tree}/|g", "build/build.ninja"], tree)
        return tree

    def default_trials(self, mutant):
        """Those of the room; first the programs that bear the name of the file."""
        file = mutant.changes[0][0]
        room = next(d for d in DEFAULTS if file.startswith(d))
        found = []
        for pattern in DEFAULTS[room].split():
            found += [n for n in sorted(fnmatch.filter(self.tests, pattern)) if n not in found]
        stem = os.path.splitext(os.path.basename(file))[0].split("_")[0]
        return [(n, "") for n in sorted(found, key=lambda n: stem not in n)]

    def build(self, programs, tree):
        for program in programs:
            if program.split(":")[0] not in self.tests:
                raise RuntimeError(f"no test is called {program}")
        files = {f for p in programs for f in self.tests[p.split(":")[0]][0]["depends"]}
        self.command(["ninja", "-C", "build", *sorted(files)], tree)

    def run(self, trial, tree, limit):
        """(exit status, why it failed, seconds); status None: it did not end."""
        program, pattern = trial
        program, _, argument = program.partition(":")
        tests = self.tests[program]
        argv = tests[0]["cmd"][:1] + ([argument] if argument else [])
        if program == "sim":
            argv += ["--schedules", str(self.options.schedules), "--jobs", "1", "--no-shrink"]
            argv += pattern.split()
        elif not argument and len(tests) == 1:
            argv = tests[0]["cmd"]
        argv = [a.replace(self.base, tree) for a in argv]
        env = dict(os.environ, ZKR_TEST_ONLY=pattern or "*")
        env.update({k: v.replace(self.base, tree) for k, v in tests[0]["env"].items()})
        began = time.monotonic()
        with tempfile.TemporaryFile(mode="w+", errors="replace", dir=self.work) as log:
            run = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, env=env,
                                   stderr=subprocess.STDOUT, cwd=tree, start_new_session=True)
            try:
                status = run.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait()
                status = None
            log.seek(0)
            text = log.read()
        if status == 77:
            raise RuntimeError(f"{program} cannot run here: {text[-200:]}")
        ran = re.findall(r" Running (\d+) test", text)
        if ran and not any(map(int, ran)):
            raise RuntimeError(f"{program} has no test {pattern}")
        why = re.search(r"^(seed .* fails: .*)|^\[  FAILED  \] ([^\d\s].*)|^(.* hangs: .*)", text, re.M)
        why = next(filter(None, why.groups()))[:90] if why else f"status {status}"
        return status, why if status is not None else "does not end", time.monotonic() - began

    def is_sound(self, trial, limit):
        """Does the tree without a mutant pass this, and in less than a third of
        the limit, so that one that did not end was not only late?"""
        with self.lock:
            if trial not in self.sound:
                self.build([trial[0]], self.base)
                status, why, seconds = self.run(trial, self.base, 3 * limit)
                self.sound[trial] = seconds if status == 0 else None
                if status != 0:
                    print(f"without a mutant: {' '.join(trial)} fails: {why}")
            return self.sound[trial]

    def kill(self, mutant, tree):
        """(was it killed, how it went)"""
        began, rows, killed = time.monotonic(), [], False
        for trial in mutant.trials or self.default_trials(mutant):
            left = self.options.budget - (time.monotonic() - began)
            if left <= 0:
                rows.append("its time is over")
                break
            limit = min(self.options.limit * (10 if trial[0] == "sim" else 1), left)
            self.build([trial[0]], tree)
            status, why, seconds = self.run(trial, tree, limit)
            name = " ".join(trial).strip()
            sound = None if status == 0 else self.is_sound(trial, self.options.limit)
            if status == 0:
                rows.append(f"{name} sees nothing")
            elif sound is None or (status is None and sound > limit / 3):
                rows.append(f"{name} fails or is late without it, too")
            else:
                rows.append(f"{name}: {why}, {seconds:.1f} s")
                killed = True
                if not self.options.all:
                    return True, rows[-1]
        return killed, "; ".join(rows)


def worker(trees, number, waiting, survivors):
    tree = None
    while True:
        try:
            mutant = waiting.get_nowait()
        except queue.Empty:
            return
        killed = False
        try:
            tree = tree or trees.copy(str(number))
            before = apply(mutant, tree)
            try:
                killed, how = trees.kill(mutant, tree)
            finally:
                restore(before)
        except (RuntimeError, ValueError) as error:
            how = f"ERROR: {error}"
        if not killed:
            survivors.append(mutant.name)
        print(f"{mutant.name}: {'killed by ' if killed else 'SURVIVES: '}{how}", flush=True)


def run(mutants, options):
    trees = Trees(options)
    waiting, survivors = queue.Queue(), []
    try:
        trees.make_base()
        programs = {t[0] for m in mutants for t in m.trials or trees.default_trials(m)}
        trees.build(sorted(programs), trees.base)
        for mutant in mutants:
            waiting.put(mutant)
        workers = [threading.Thread(target=worker, args=(trees, n, waiting, survivors))
                   for n in range(options.jobs)]
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join()
    finally:
        shutil.rmtree(trees.work, ignore_errors=True)
    print(f"{len(mutants)} mutants, {len(mutants) - len(survivors)} killed, {len(survivors)} not")
    return 1 if survivors or None in trees.sound.values() else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only mutants whose AREA/WHAT contains it")
    parser.add_argument("--table", default=HERE + "/table", metavar="FILE", help="another file of mutants")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="mutants at the same time (2)")
    parser.add_argument("--schedules", type=int, metavar="N", help="of the simulator (50000; --smoke: 1000)")
    parser.add_argument("--limit", type=float, default=180, metavar="S", help="seconds for one program (180)")
    parser.add_argument("--budget", type=float, metavar="S",
                        help="seconds for one mutant (7200; 600 with --table)")
    parser.add_argument("--all", action="store_true", help="go on after the first that notices")
    parser.add_argument("--smoke", action="store_true", help="only those that are marked [smoke]")
    parser.add_argument("--list", action="store_true", help="run nothing, print the table for readers")
    parser.add_argument("--check", action="store_true", help="run nothing, check that each can be applied")
    options = parser.parse_args()
    own = options.table == HERE + "/table"
    options.schedules = options.schedules or (1000 if options.smoke else 50000 if own else 5000)
    options.budget = options.budget or (7200 if own else 600)
    mutants = [m for m in read_table(options.table)
               if (m.smoke or not options.smoke)
               and (not options.names or any(n in m.name for n in options.names))]
    if not mutants:
        sys.exit("there is no such mutant")
    if options.list:
        return show(mutants)
    if options.check:
        return 1 if check(mutants) else 0
    return run(mutants, options)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
