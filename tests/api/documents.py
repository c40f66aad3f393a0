#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents: is each source file that one names in the tree, does each
link lead to a file and to a heading in it, is each page there that a source names,
and each test that a page names, are the times of the guide those of the benchmarks,
the packages of the install page those that scripts install, does an installed page
link to installed ones only, and has the guide each class of C++?

    documents.py SOURCE_ROOT
"""
import os
import re
import sys
from pathlib import Path


def anchors(page):
    """As forges make them from headings."""
    for title in re.findall(r"^#+ +(.*)", page.read_text(), re.M):
        yield re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")


def link_fault(page, link):
    to, _, heading = link.partition("#")
    to = page.parent / to if to else page
    if not to.exists():
        return f"links to {link}, which is not there"
    if heading and heading not in anchors(to):
        return f"links to {link}: no such heading"
    return None


def tests_that_are_not_there():
    """Names of tests have four words at least, and stand outside of backticks."""
    tests = set()
    for source in Path("tests").rglob("*.c"):
        # TEST(name), STORY(name), TOLD(name), a function, or a row { "name", ...
        tests.update(re.findall(
            r'^(?:(?:(?:TEST|STORY|TOLD)(?:_[A-Z]+)*\(|static void )?([a-z0-9_]+)[(,)]'
            r'| +\{ "([a-z0-9_]+)")', source.read_text(), re.M))
    tests = {name for names in tests for name in names}
    for page in (Path("docs/faults.md"), Path("docs/tests.md")):
        text = re.sub("`[^`\n]*`", "", page.read_text())
        for name in set(re.findall(r"[a-z0-9]+(?:_[a-z0-9]+){3,}", text)) - tests:
            yield f"{page} names the test {name}, which is not there"


def packages_of(file, pattern):
    """Without versions."""
    text = re.search(pattern, Path(file).read_text(), re.S).group(1)
    return set(re.findall(r"[a-z][a-z0-9+-]+", re.sub(r"\(.*?\)", "", text)))


def packages():
    """What each way needs, in the table of the install page."""
    page = Path("docs/install.md").read_text()
    for way, file, pattern in (
            ("Debian packages", "debian/control", r"Build-Depends: debhelper-compat[^,]*,(.*?)\nStandards"),
            ("the client inside", "tools/build-client.sh", r"\npackages=\((.*?)\)"),
            ("the demo", "tools/demo.sh", r"needed < <\(missing (.*?)\)"),
            ("its check 8", "tools/demo.sh", r"absent < <\(missing (.*?)\)"),
            ("the tests", "tools/test.sh", r"\npackages=\((.*?)\)"),
            ("tests that", "tools/test.sh", r"\nextra=\((.*?)\)")):
        row = re.search(rf"^\| {way}.*?\| `(.*)` \|$", page, re.M)
        named = set(row.group(1).split()) if row else set()
        ours = packages_of(file, pattern)
        if way == "Debian packages":
            ours |= {"debhelper", "build-essential"} # which each build of a package has
        for name in named ^ ours:
            yield f"docs/install.md and {file} differ in {name} ({way})"


def not_installed():
    """Whoever has no source tree can follow each link of a page that is installed."""
    there = {os.path.normpath(f"docs/{name}") for name in
             re.findall(r"'([./A-Za-z-]+)'", Path("docs/meson.build").read_text())}
    for page in (Path(name) for name in there if name.endswith(".md")):
        for link in set(re.findall(r"\]\((?!http)([^#) ]+)", page.read_text())):
            to = os.path.normpath(page.parent / link)
            if not any(to == name or to.startswith(f"{name}/") for name in there):
                yield f"{page} is installed, and links to {link}, which is not"


def not_in_the_table_of_classes():
    """The guide has each header, and each class of C++, in one table."""
    text = Path("include/zkrecipes/zkrecipes.hpp").read_text()
    text = re.sub(r"^namespace detail .*?^} // namespace detail", "", text, flags=re.M | re.S)
    classes = set(re.findall(r"^(?:template <.*> )?class (\w+)", text, re.M))
    table = re.search(r"^\| C \| C\+\+.*?\n\n", Path("docs/guide.md").read_text(), re.M | re.S)
    rows = dict(re.findall(r"^\| (`.*?`) \| (.*) \|$", table.group(), re.M))
    named = set(re.findall(r"`(\w+)`", " ".join(rows.values())))
    headers = {file.name for file in Path("include/zkrecipes").glob("*.h")} - {"zkrecipes.h"}
    for name in classes ^ named | headers ^ set(re.findall(r"`(.*?)`", " ".join(rows))):
        yield f"docs/guide.md: the table of C++ differs from the headers in {name}"


def faults():
    yield from not_in_the_table_of_classes()
    yield from not_installed()
    yield from tests_that_are_not_there()
    yield from packages()
    places = "src recipes include tests tools examples debian docs/man .ci".split()
    sources = [Path(top, f) for p in places for top, _, files in os.walk(p) for f in files]
    ends = {"/".join(f.parts[i:]) for f in sources for i in range(len(f.parts))}
    for page in [*Path().glob("*.md"), *Path("docs").glob("*.md")]:
        text = page.read_text()
        for name in set(re.findall(r"`([a-z_/]+\.[ch])`", text)) - ends:
            yield f"{page} names {name}, which is not there"
        for link in set(re.findall(r"\]\(([^) ]+)", text)):
            fault = not link.startswith("http") and link_fault(page, link)
            if fault:
                yield f"{page} {fault}"
    for source in sources:
        for name in re.findall(r"(?:^|[^/a-zA-Z\\-])((?:docs/)?[a-zA-Z][a-zA-Z-]*\.md)\b",
                               source.read_text(errors="replace"), re.M):
            if not (Path(name).exists() or Path("docs", name).exists()):
                yield f"{source} names {name}, which is not there"
    # "| 160 µs | 176 |" ends a row of the guide, and [0.172 µs] is a link.
    measured = Path("docs/benchmarks.md").read_text()
    for row in re.findall(r"[0-9.]+ µs(?: \| [0-9.]+ \|$)?", Path("docs/guide.md").read_text(), re.M):
        for figure in re.findall(r"[0-9]+(?:\.[0-9]+)?", row):
            if not re.search(rf"(^|[| ]){figure}( µs| \|)", measured, re.M):
                yield f"docs/guide.md has {figure}, which docs/benchmarks.md has not"


os.chdir(sys.argv[1])
found = sorted(faults())
print(*found, sep="\n")
sys.exit(bool(found))
