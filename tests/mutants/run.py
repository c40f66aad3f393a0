#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the library, or the tool, on purpose; a test must notice it.

The mutants are in the table beside this file, whose head says how to write one."""

import argparse
import concurrent.futures
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

import operands

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TABLE = os.path.join(HERE, "table")
PATIENCE = 180  # seconds: see patience()

EPILOG = """
A mutant is killed when a program after its "!" fails that the tree without the
mutant passes. The exit status is 1 when a mutant survives, cannot be applied, or
does not compile.

To hunt with mutants that no test has seen, write them into a file of the same
form, without "!" lines:

    tests/mutants/run.py --table FILE

Each is tried with the tests of its room (DEFAULTS in run.py): those that bear the
name of its file, then from the cheapest on, until one fails or the time is over.
The last line is "N mutants, K killed, S not".

To break each condition, call and assignment of a file by itself:

    tests/mutants/run.py --operands FILE... [--tests PATTERNS]

All are compiled at once. Each is tried with the tests that come past it, from the
cheapest on; the survivors are printed as the table has them. --list only writes
them all.
"""

# What is left out of a line "~" for the old text, and for the new one.
BOTH_TEXTS = r"\{\+.*?\+\}|\[-|-\]", r"\[-.*?-\]|\{\+|\+\}"
# What is tried with a mutant that names no test, by the beginning of its file.
DEFAULTS = {
    "tools/": "cli-* test-lockctl-*",
    "src/fence/": "unit-fence* unit-failing",
    "include/zkrecipes/zkrecipes.hpp": "examples.sh",
    "src/inspect/": "unit-* test-part* test-find test-break stories sim test-lockctl-* test-*",
    "": "unit-* stories line_stories test-contract sim lives test-*",
}


class Mutant:
    def __init__(self, name, what):
        self.smoke = what.startswith("[smoke] ")
        self.name, self.what = name, what.removeprefix("[smoke] ")
        self.changes = []  # [file, old, new]
        self.trials = []  # (program, pattern or options)

    @classmethod
    def of(cls, file):
        mutant = cls(file, "")
        mutant.changes.append([file, "", ""])
        return mutant


def read_table(path):
    mutants, names, file, last = [], set(), None, ""
    untold = []  # those of the file above the next line "!"
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            kind, text = line[:2].strip(), line[2:].rstrip("\n")
            head = re.fullmatch(r"([\w-]+/[\w-]+): (.+)\n?", line)
            changes = mutants[-1].changes if mutants else None
            if head and head[1] not in names:
                kind = "name"
                names.add(head[1])
                mutants.append(Mutant(*head.groups()))
                untold = [m for m in untold if m.changes and m.changes[0][0] == file] + mutants[-1:]
            elif kind == "@":
                file = text
            elif kind == "-" and mutants and file:
                if last != "-":
                    changes.append([file, "", ""])
                changes[-1][1] += text + "\n"
            elif kind == "+" and changes:
                changes[-1][2] += text + "\n"
            elif kind == "~" and mutants and file:
                changes.append([file, *(re.sub(pattern, "", text) for pattern in BOTH_TEXTS)])
            elif kind == "!" and untold and text:
                for mutant in untold:
                    mutant.trials = [(*t.split(None, 1), "")[:2] for t in text.split(";")]
                untold = []
            elif kind not in ("", "#"):
                sys.exit(f"{path}:{number}: no line of a mutant, or a second one of the name: {line}")
            last = kind
    return mutants


def patience(trial):
    return PATIENCE * (10 if trial[0] == "sim" else 1)


def squeeze(text):
    return "".join(text.split())


def span(source, old):
    """Where `old` stands in `source`: once, and white space does not count."""
    at = [i for i, char in enumerate(source) if not char.isspace()]
    bare, old = squeeze(source), squeeze(old)
    count = bare.count(old) if old else 0
    if count != 1:
        raise ValueError(f"the old text stands there {count} times")
    first = bare.index(old)
    return at[first], at[first + len(old) - 1] + 1


def mutate(mutant, tree):
    """({path: text}, {path: text}): its files as they are, and as they are to be."""
    before, after = {}, {}
    for file in {change[0] for change in mutant.changes}:
        path = os.path.join(tree, file)
        try:
            with open(path, encoding="utf-8") as f:
                text = before[path] = f.read()
            spans = [(span(text, old), new) for name, old, new in mutant.changes if name == file]
        except (OSError, ValueError) as error:
            raise ValueError(f"{file}: {error}") from error
        for (begin, end), new in sorted(spans, reverse=True):
            text = text[:begin] + new.rstrip("\n") + text[end:]
        after[path] = text
        if squeeze(text) == squeeze(before[path]):
            raise ValueError(f"{file}: the new text is the old one")
    return before, after


def write(files):
    for path, text in files.items():
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def check(mutants, hunting):
    """Compiles nothing: does each mutant apply, and is there such a test?"""
    tests, failed = "", 0
    for folder, _, files in os.walk(os.path.join(ROOT, "tests")):
        for file in (f for f in files if f.endswith(".c")):
            with open(os.path.join(folder, file), encoding="utf-8") as f:
                tests += f.read()
    for mutant in mutants:
        errors = [] if mutant.changes and (mutant.trials or hunting) else ["has no old text, or no test"]
        try:
            mutate(mutant, ROOT)
        except ValueError as error:
            errors.append(str(error))
        for program, pattern in mutant.trials:
            words = re.findall(r"\w+", pattern)
            if program != "sim" and words and max(words, key=len) not in tests:
                errors.append(f"{program} has no test {pattern}")
        for error in errors:
            print(f"{mutant.name}: {error}")
        failed += bool(errors)
    print(f"{len(mutants)} mutants, {failed} of them not as they should be")
    return 1 if failed else 0


class Trees:
    """Copies of the tree with a build each; `base` stays without a mutant."""

    def __init__(self, schedules, budget, go_on, build=None):
        self.schedules, self.budget, self.go_on = schedules, budget, go_on
        self.finished = build and os.path.dirname(build) == ROOT and build
        self.work = tempfile.mkdtemp(prefix="mutants-")
        os.chmod(self.work, 0o711)  # one test is another user, who runs the tool
        self.base = os.path.join(self.work, "base")
        self.sound = {}  # (trial, was it late): does base pass it?
        self.lock = threading.Lock()  # of sound, and of the build of base
        self.free = queue.SimpleQueue()  # the copies

    def command(self, tree, *argv):
        done = subprocess.run(argv, cwd=tree, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            why = re.search(r".*error:.*", done.stdout, re.I)
            error = RuntimeError(f"{argv[0]} fails: {why[0] if why else done.stdout[-3000:]}")
            error.log = done.stdout
            raise error
        return done.stdout

    def make_base(self):
        shutil.copytree(ROOT, self.base, symlinks=True, ignore=lambda folder, names: [
            n for n in names if folder == ROOT and re.match(r"\.git$|build", n)])
        if self.finished:  # but for its programs, which are large
            build = os.path.join(self.base, "build")
            shutil.copytree(self.finished, build, symlinks=True, ignore=lambda _, names: [
                n for n in names if re.match(r"(test|cli|unit)-[\w-]+$|meson-logs$", n)])
            self.command(build, "sed", "-Ei", f"s|{self.finished}|{build}|g; s#(^|[^./[:alnum:]]){ROOT}\\>#\\1{self.base}#g",
                         "build.ninja", *(os.path.join("meson-info", f) for f in os.listdir(build + "/meson-info")))
        else:
            self.command(self.base, "meson", "setup", "build", "-Dtests=enabled", "-Dtools=auto",
                         "-Dexamples=disabled", "-Ddocs=disabled", "-Ddebug=false",
                         "-Doptimization=1", "-Dwerror=false")
        targets, tests = (json.loads(self.command(self.base, "meson", "introspect", "build", what))
                          for what in ("--targets", "--tests"))
        files = {t["id"]: [os.path.relpath(f, self.base + "/build") for f in t["filename"]] for t in targets}
        self.tests = {}  # by the name of the program, or the path of the script: tests of meson
        for test in tests:
            test["depends"] = [f for d in test["depends"] for f in files.get(d, [])]
            name = test["cmd"][0].removeprefix(self.base + "/tests/")
            self.tests.setdefault(os.path.basename(name) if name[0] == "/" else name, []).append(test)

    def copy(self, name):
        tree = os.path.join(self.work, name)
        self.command(self.work, "cp", "-a", "--reflink=auto", self.base, tree)
        # Where a test finds the tool is a path in its code.
        self.command(tree, "sed", "-i", f"s|{self.base}\\>|{tree}|g", "build/build.ninja")
        return tree

    def trials(self, mutant):
        if mutant.trials or not mutant.changes:
            return mutant.trials
        file = mutant.changes[0][0]
        room = next(d for d in DEFAULTS if file.startswith(d))
        names = [n for p in DEFAULTS[room].split() for n in sorted(fnmatch.filter(self.tests, p))]
        stem = os.path.splitext(os.path.basename(file))[0].split("_")[0]
        return [(n, "") for n in sorted(dict.fromkeys(names), key=lambda n: stem not in n)]

    def build(self, tree, *programs):
        missing = [p for p in programs if p.split(":")[0] not in self.tests]
        if missing:
            raise RuntimeError(f"no program of the tests is called {', '.join(missing)}")
        files = {f for p in programs for f in self.tests[p.split(":")[0]][0]["depends"]}
        self.command(tree, "ninja", "-C", "build", *sorted(files))

    def run(self, tree, trial, limit, **more):
        """(exit status, why it failed, seconds)"""
        program, _, argument = trial[0].partition(":")
        test = self.tests[program][0]
        argv = [*test["cmd"][:1], *filter(None, [argument])]
        if program == "sim":
            argv += ["--schedules", self.schedules, "--jobs", "1", "--no-shrink", *trial[1].split()]
        elif not argument and len(self.tests[program]) == 1:
            argv = test["cmd"]
        env = {**os.environ, **test["env"], "ZKR_TEST_ONLY": trial[1] or "*", **more}
        began = time.monotonic()
        with tempfile.TemporaryFile("w+", errors="replace", dir=self.work) as log:
            run = subprocess.Popen([a.replace(self.base, tree) for a in argv], cwd=tree + "/build",
                                   env={k: v.replace(self.base, tree) for k, v in env.items()},
                                   stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT, start_new_session=True)
            try:
                status = run.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait()
                status = "late"
            log.seek(0)
            text = log.read()
        ran = re.findall(r" Running (\d+) test", text)
        if status == 77 or ran and not any(map(int, ran)):
            return None, "can run", 0
        why = re.search(r"^seed .* fails: .*|^.* hangs: .*|(?<=\[  FAILED  \] )[^\d\s].*", text, re.M)
        return status, (why[0] if why else f"status {status}")[:90], time.monotonic() - began

    def is_sound(self, trial, late):
        """Does it pass in base? What was late there has to be quick here."""
        with self.lock:
            if (trial, late) not in self.sound:
                self.build(self.base, trial[0])
                limit = PATIENCE / 3 if late else 2 * patience(trial)
                status, why, _ = self.run(self.base, trial, limit)
                self.sound[trial, late] = status == 0
                if status != 0:
                    print(f"without a mutant {' '.join(trial)} fails: {why}", flush=True)
            return self.sound[trial, late]

    def kill(self, tree, mutant):
        """(is it killed, how it went)"""
        end, how, killed = time.monotonic() + self.budget, [], False
        for trial in self.trials(mutant):
            name, left = " ".join(trial).strip(), end - time.monotonic()
            self.build(tree, trial[0])
            status, why, seconds = self.run(tree, trial, max(0, min(left, patience(trial))))
            if status == "late" and left < patience(trial):
                how.append("the time is over")
                break
            if not status:
                how.append(f"{name} {'sees' if status == 0 else why} nothing")
                continue
            seed = re.match(r"seed (\d+) fails", why)  # base has to pass only this
            if seed:
                trial = (trial[0], f"{trial[1]} --schedules 1 --seed {seed[1]}")
            sound = self.is_sound(trial, status == "late")
            killed |= sound
            how.append(f"{name}: {why}, {seconds:.1f} s" if sound else
                       f"{name} fails without it, too, or is slow")
            if sound and not self.go_on:
                return True, how[-1]
        return killed, "; ".join(how)

    def is_killed(self, mutant):
        tree, killed = self.free.get(), False
        try:
            before, after = mutate(mutant, tree)
            write(after)
            try:
                killed, how = self.kill(tree, mutant)
            finally:
                write(before)
        except (RuntimeError, ValueError) as error:
            how = f"ERROR: {error}"
        self.free.put(tree)
        print(f"{mutant.name}: {'killed by' if killed else 'SURVIVES:'} {how}", flush=True)
        return killed


def run(mutants, trees, jobs):
    try:
        trees.make_base()
        trees.build(trees.base, *{t[0] for m in mutants for t in trees.trials(m)})
        for number in range(jobs):
            trees.free.put(trees.copy(str(number)))
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            killed = sum(pool.map(trees.is_killed, mutants))
    finally:
        shutil.rmtree(trees.work, ignore_errors=True)
    print(f"{len(mutants)} mutants, {killed} killed, {len(mutants) - killed} not")
    return 0 if killed == len(mutants) else 1


class Operands:
    """The mutants that operands.py makes of some files, all in one build."""

    def __init__(self, files, trees, patterns):
        self.trees, self.files = trees, {}
        for file in files:
            with open(os.path.join(ROOT, file), encoding="utf-8") as f:
                self.files[file] = f.read()
        self.all = dict(enumerate(((f, c) for f in files for c in operands.make(self.files[f])), 1))
        self.first = {f: n for n, (f, _) in reversed(self.all.items())}
        self.patterns, self.made, self.named = patterns, len(self.all), {}
        for mutant in read_table(TABLE):
            for change in mutant.changes:
                self.named.setdefault(change[0], []).extend(mutant.trials)

    def record(self, number):
        file, change = self.all[number]
        room, stem = file.removesuffix(".c").split("/")[-2:]
        return operands.record(self.files[file], file, change, f"{room}/{stem}-{number - self.first[file]}")

    def compile(self):
        """What does not compile is left out."""
        trees, failed = self.trees, True
        while failed:
            write({os.path.join(trees.base, f):
                   f'#include "{HERE}/chosen.h"\n#line 1 "{f}"\n' + operands.at_once(
                       text, [(n, c) for n, (name, c) in self.all.items() if name == f])
                   for f, text in self.files.items()})
            try:
                trees.build(trees.base, *self.programs)
                failed = []
            except RuntimeError as error:
                errors = re.findall(r"^(\S+?):(\d+):.* error:", getattr(error, "log", ""), re.M)
                lines = {(f, int(n)) for f, n in errors}
                failed = [n for n, (f, c) in self.all.items()
                          for line in [self.files[f].count("\n", 0, c.begin) + 1]
                          if any((f, line + i) in lines for i in range(self.files[f].count("\n", c.begin, c.end) + 1))]
                if not failed:
                    raise
            for number in failed:
                del self.all[number]

    def come_past(self, program):
        """[(mutant, seconds, trial)] of one program without a mutant"""
        log = os.path.join(self.trees.work, program + ".reached")
        status, why, whole = self.trees.run(self.trees.base, (program, ""), patience((program,)),
                                            ZKR_MUTANTS_REACHED=log, ZKR_TEST_NAME="")
        if status != 0 or not os.path.exists(log):
            return print(f"# {program}: {why}" if status else f"# {program} comes past nothing", flush=True) or []
        with open(log, encoding="utf-8", errors="replace") as f:
            lines = {(int(n), int(ms), test) for n, ms, test in (x.rstrip("\n").split(" ", 2) for x in f)}
        times, tests = {}, {}
        for n, ms, test in lines:
            times.setdefault(test, []).append(ms)
            tests.setdefault(n, set()).add(test)
        took = {t: (max(ms) - min(ms)) / 1000 for t, ms in times.items()}
        start = max(0, whole - sum(took.values()))  # also of the servers
        past = []
        for n, names in tests.items():
            single = sorted((n, start + took[t], (program, t)) for t in names if t and whole >= 1)
            if not single or "" in names or sum(s[1] for s in single) > whole:
                single[2:] = [(n, whole, (program, ""))]
            past += single
        return past

    def by_rank(self, number):
        """First those that the table names for this file, then the quickest."""
        named = self.named.get(self.all[number][0], ())
        return sorted((not any(t[0] == trial[0] and fnmatch.fnmatch(trial[1], t[1] or "*") for t in named), *rest)
                      for rest in self.past.get(number, []) for trial in [rest[1]])

    def is_killed(self, number):
        end, tried = time.monotonic() + self.trees.budget, 0
        for _, seconds, trial in self.by_rank(number):
            if time.monotonic() > end:
                break
            status, _, _ = self.trees.run(self.trees.base, trial, 5 * seconds + 20, ZKR_MUTANT=str(number))
            if status:
                return True
            tried += 1
        print(f"# {tried} of {len(self.past.get(number, []))} tests that come past it see nothing\n"
              + self.record(number), flush=True)
        return False

    def run(self, jobs):
        trees, self.past = self.trees, {}
        trees.make_base()
        self.programs = [p for p in dict.fromkeys(
            t[0] for f in self.files for t in trees.trials(Mutant.of(f)))
            if any(fnmatch.fnmatch(p, pattern) for pattern in self.patterns)]
        self.compile()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for trials in pool.map(self.come_past, self.programs):
                for n, seconds, trial in trials:
                    self.past.setdefault(n, []).append((seconds, trial))
            killed = dict(zip(self.all, pool.map(self.is_killed, self.all)))
        for file in self.files:
            mine = [killed[n] for n, (f, _) in self.all.items() if f == file]
            print(f"# {file}: {len(mine)} mutants, {sum(mine)} killed, {mine.count(False)} not")
        print(f"# {self.made - len(self.all)} more do not compile")
        return 0 if all(killed.values()) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="those whose AREA/WHAT contains it; AREA/ for all of one")
    parser.add_argument("--table", default=TABLE, metavar="FILE", help="another file of mutants")
    parser.add_argument("--operands", nargs="+", metavar="FILE", help="makes mutants of these by itself")
    parser.add_argument("--tests", default="*", metavar="PATTERNS", help="--operands: only these programs")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="at the same time (2)")
    parser.add_argument("--schedules", metavar="N",
                        help="of the simulator (50000; --table: 5000; --smoke: 1000)")
    parser.add_argument("--budget", type=float, metavar="S",
                        help="seconds for one mutant (7200; --table: 600)")
    parser.add_argument("--build", metavar="DIR",
                        help="copy this finished build, in the root of the tree, instead of making one")
    parser.add_argument("--all", action="store_true", help="go on after the first that notices")
    parser.add_argument("--smoke", action="store_true", help="only those with [smoke]")
    parser.add_argument("--list", action="store_true", help="--operands: only write them")
    parser.add_argument("--check", action="store_true", help="compile nothing, does each apply?")
    o = parser.parse_args()
    if o.operands:
        hunt = Operands(o.operands, Trees(o.schedules or "1000", o.budget or 60, False), o.tests.split())
        if o.list:
            return print(*map(hunt.record, hunt.all), sep="\n")
        try:
            return hunt.run(o.jobs)
        finally:
            shutil.rmtree(hunt.trees.work, ignore_errors=True)
    mutants = [m for m in read_table(o.table) if (m.smoke or not o.smoke)
               and (not o.names or any(n in m.name for n in o.names))]
    if not mutants:
        sys.exit("there is no such mutant")
    if o.check:
        return check(mutants, o.table != TABLE)
    schedules = "1000" if o.smoke else "50000" if o.table == TABLE else "5000"
    budget = 7200 if o.table == TABLE else 600
    return run(mutants, Trees(o.schedules or schedules, o.budget or budget, o.all, o.build), o.jobs)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
