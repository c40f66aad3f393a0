# SPDX-License-Identifier: Apache-2.0
"""Brings the page docs/benchmarks.md up to date with results, and draws.

The page has two kinds of marks, which do not show when it is rendered:

    <!-- NAME --> ... <!-- end -->               a table, of BLOCKS below
    0.5<!-- ratio TEXT -->                       the median of that ratio
    12 µs<!-- figure BENCH, VARIANT, PEER, FIGURE -->   the median, with unit

A ratio or figure is of the first of the numbers of servers, or, of a figure, of
the one at the end. What the results do not have stays as the page has it.
"""

import os
import re
import sys

import faults
import figures
import plot
import stats
import table
from tables import Measured, heading, row, servers


def variants():
    for bench in table.BENCHES:
        for variant in bench.variants:
            yield bench, variant


def kept(old, start, unmeasured):
    """The row that begins so, of the table that the page has."""
    for line in old.splitlines(True):
        if line.startswith(start):
            return line
    return unmeasured


# The tables. Each is made from the results and from what the page has.


def is_held(must, value):
    bound = float(must.split()[1])
    return value <= bound if must.startswith("<=") else value >= bound


def must_row(values, ratio, old):
    start = [ratio.text, ratio.must]
    if not values:
        return kept(old, row(start)[:-1], row(start + ["not measured", ""]))
    held = is_held(ratio.must, stats.median(values))
    return row(start + [figures.spread(values), "yes" if held else "**no**"])


def must_text(measured, old):
    text = heading(["figure", "must", "median (quartiles)", "reached"])
    for bench, variant in variants():
        for ratio in variant.ratios:
            if ratio.must:
                nodes = variant.nodes[0]
                values = measured.ratio(bench.name, nodes, variant.name, ratio)
                text += must_row(values, ratio, old)
    return text


# Variant and figure of `rivals`, and the heading of its column.
RIVALS = (
    ("nobody else there", "ns", "cycle"),
    ("eight clients on one lock", "longest_by_mean", "longest wait by mean"),
    ("eight clients on one lock", "rate", "cycles of eight"),
    ("eight clients on one lock", "least_share", "least share of a client"),
)


def rivals_text(measured, old):
    text = heading(["lock"] + [title for _, _, title in RIVALS])
    for name, *_ in table.RIVAL_LOCKS:
        lists = [
            measured.peer("rivals", 1, variant, name).get(figure)
            for variant, figure, _ in RIVALS
        ]
        start = row([name])[:-1]
        if not all(lists):
            text += kept(old, start, start + " not measured |\n")
            continue
        cells = [figures.text(f, of) for (_, f, _), of in zip(RIVALS, lists)]
        text += row([name] + cells)
    return text


def letters(counts):
    """What may have happened in a trial: its letter on the page, and how often."""
    unfenced = counts.get("fenced", counts["stale"])
    yield "2", counts["both"]
    yield "S", unfenced
    yield "s", counts["stale"] - unfenced
    yield "L", counts["lost"]
    yield "U", counts["untold"]
    yield "W", counts["stuck"]


def fault_cell(counts):
    """Such as "2 S", or "W 1/3": not in all trials."""
    if "trials" not in counts:
        return "not tried"
    trials = counts["trials"]
    words = [
        letter if count == trials else "%s %d/%d" % (letter, count, trials)
        for letter, count in letters(counts)
        if count
    ]
    return " ".join(words) or "-"


def faults_text(measured, old):
    text = heading(["lock"] + ["`%s`" % fault.name for fault in faults.FAULTS])
    found = [measured.faults.get(fault.name) for fault in faults.FAULTS]
    for lock, _, _ in faults.LOCKS:
        start = row([lock])[:-1]
        if not all(found):
            text += kept(old, start, start + " not measured |\n")
            continue
        text += row(
            [lock] + [fault_cell(of["locks"].get(lock, {})) for of in found]
        )
    return text


def machine_text(measured, old):
    if not measured.machine:
        return old
    of = dict(measured.machine)
    packages = of.pop("packages", {})
    text = "- " + ", ".join("%s: %s" % pair for pair in sorted(of.items()))
    text += "\n- " + ", ".join("%s %s" % pair for pair in packages.items())
    runs = {"%s (%s)" % run for run in measured.runs()}
    if len(measured.benches) < len(table.BENCHES) or not measured.faults:
        runs.update(re.findall(r"[-\d]+ \(\w+\)", old.partition("- measured ")[2]))
    return text + "\n- measured " + ", ".join(sorted(runs)) + "\n"


BLOCKS = {
    "machine": machine_text,
    "must": must_text,
    "rivals": rivals_text,
    "faults": faults_text,
}


# The figures in the text. "": not measured.


def ratio_word(measured, wanted):
    for bench, variant in variants():
        for ratio in variant.ratios:
            if ratio.text == wanted:
                nodes = variant.nodes[0]
                values = measured.ratio(bench.name, nodes, variant.name, ratio)
                return figures.number(stats.median(values)) if values else ""
    raise KeyError("the page names no ratio: " + wanted)


def figure_word(measured, wanted):
    bench_name, variant_name, peer, figure, *nodes = wanted.split(", ")
    for bench, variant in variants():
        if (bench.name, variant.name) == (bench_name, variant_name):
            number = nodes[0] if nodes else variant.nodes[0]
            if peer not in [spec.name for spec in variant.peers]:
                break
            lists = measured.peer(bench_name, number, variant_name, peer)
            return figures.text(figure, lists[figure]) if lists else ""
    raise KeyError("the page names no figure: " + wanted)


WORDS = {"ratio": ratio_word, "figure": figure_word}


def renew(page, measured):
    """The page, with the figures of the results."""

    def block(m):
        return m[1] + BLOCKS[m[2]](measured, m[3]) + m[4]

    def word(m):
        return (WORDS[m[3]](measured, " ".join(m[4].split())) or m[1]) + m[2]

    page = re.sub(
        r"(<!-- (\w+) -->\n)(.*?)(<!-- end -->\n)", block, page, flags=re.S
    )
    return re.sub(
        r"([\d.,]+(?: µs)?)(<!--\s+(ratio|figure)\s+([^>]*?)\s+-->)", word, page
    )


# Plots.


def plot_row(measured, bench, nodes, variant, spec):
    """A label, whether it is ours, the values; None: nothing to show."""
    lists = measured.peer(bench.name, nodes, variant.name, spec.name)
    values = figures.scaled(bench.plot, lists.get(bench.plot, []))
    if not values or min(values) <= 0:
        return None
    label = "%s%s: %s" % (variant.name, servers(nodes), spec.name)
    return label, spec.name.startswith("zkrecipes"), values


def plot_rows(measured, bench):
    rows = (
        plot_row(measured, bench, nodes, variant, spec)
        for variant in bench.variants
        for nodes in variant.nodes
        for spec in variant.peers
    )
    return [row for row in rows if row]


def is_complete(measured, bench):
    """Whether all of its rows can be drawn."""
    return all(
        measured.variant(bench.name, nodes, variant.name)
        for variant in bench.variants
        for nodes in variant.nodes
    )


def draw(measured, bench, directory):
    axis = "%s %s (%s is better)" % (
        figures.heading(bench.plot),
        figures.unit(bench.plot),
        figures.better(bench.plot),
    )
    output = os.path.join(directory, bench.name + ".svg")
    plot.draw(bench.title, axis, plot_rows(measured, bench), output)


def write(results, directory):
    """Renews benchmarks.md, and the plots in benchmarks/."""
    measured = Measured(results)
    path = os.path.join(directory, "benchmarks.md")
    with open(path) as file:
        page = renew(file.read(), measured)
    with open(path, "w") as file:
        file.write(page)
    plots = os.path.join(directory, "benchmarks")
    os.makedirs(plots, exist_ok=True)
    for bench in table.BENCHES:
        if bench.plot and is_complete(measured, bench):
            draw(measured, bench, plots)
        elif bench.plot and bench.name in measured.benches:
            print("%s: not drawn, a part is missing" % bench.name, file=sys.stderr)
