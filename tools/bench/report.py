# SPDX-License-Identifier: Apache-2.0
"""Writes the report: the template, with tables and plots of the results.

In the template a line "@@NAME@@" becomes a table, and in the text

    @{ratio TEXT}                           the median of that ratio
    @{figure BENCH, VARIANT, PEER, FIGURE}  the median, with its unit

of the first of the numbers of servers, or of the one at the end of the latter.
"""

import os
import re

import faults_report
import figures
import plot
import stats
import table

TEMPLATE = "benchmarks.in.md"


class Measured:
    """The results, by what the table calls them."""

    def __init__(self, results):
        self.benches = results["benches"]
        self.machine = results.get("machine", {})
        self.faults = results.get("faults", {})

    def variant(self, bench, nodes, variant):
        """None: not measured."""
        return self.benches.get(bench, {}).get(str(nodes), {}).get(variant)

    def peer(self, bench, nodes, variant, peer):
        """The lists of its figures; {}: not measured."""
        found = self.variant(bench, nodes, variant) or {"peers": {}}
        return found["peers"].get(peer, {}).get("figures", {})

    def ratio(self, bench, nodes, variant, ratio):
        """One value of each round; []: not measured."""
        peer, figure = ratio.of
        above = self.peer(bench, nodes, variant, peer).get(figure, [])
        if ratio.to is None:
            return above
        peer, figure = ratio.to
        below = self.peer(bench, nodes, variant, peer).get(figure, [])
        return stats.ratios(above, below)


def variants():
    for bench in table.BENCHES:
        for variant in bench.variants:
            yield bench, variant


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def heading(cells):
    return row(cells) + row(["---"] + ["---:"] * (len(cells) - 1))


# The tables of one variant.


def peer_row(spec, found, columns):
    if "figures" not in found:
        why = found.get("unsupported", "not measured")
        return row([spec.name, why] + [""] * (len(columns) - 1))
    lists = found["figures"]
    return row(
        [spec.name]
        + [figures.text(c, lists[c]) if c in lists else "" for c in columns]
    )


def peers_table(variant, peers):
    text = heading([""] + [figures.heading(c) for c in variant.columns])
    for spec in variant.peers:
        text += peer_row(spec, peers.get(spec.name, {}), variant.columns)
    return text


def ratios_table(measured, bench, nodes, variant):
    if not variant.ratios:
        return ""
    text = "\n" + heading(["", "median (quartiles)", "must"])
    for ratio in variant.ratios:
        values = measured.ratio(bench.name, nodes, variant.name, ratio)
        text += row([ratio.text, figures.spread(values), ratio.must])
    return text


def variant_text(measured, bench, nodes, variant):
    found = measured.variant(bench.name, nodes, variant.name)
    if not found:
        return ""
    servers = "" if nodes == 1 else ", %d servers" % nodes
    text = "\n**%s%s**\n\n" % (variant.name, servers)
    text += peers_table(variant, found["peers"])
    return text + ratios_table(measured, bench, nodes, variant)


# Parts of the page.


def bench_text(measured, bench):
    text = "### `%s`: %s\n" % (bench.name, bench.title)
    if bench.name not in measured.benches:
        return text + "\nNot measured.\n"
    if bench.plot:
        text += "\n![%s](benchmarks/%s.svg)\n" % (bench.title, bench.name)
    for variant in bench.variants:
        for nodes in variant.nodes:
            text += variant_text(measured, bench, nodes, variant)
    return text


def benches_text(measured):
    return "\n".join(bench_text(measured, bench) for bench in table.BENCHES)


def is_held(must, value):
    bound = float(must.split()[1])
    return value <= bound if must.startswith("<=") else value >= bound


def promise_row(values, ratio):
    verdict = ""
    if values:
        held = is_held(ratio.must, stats.median(values))
        verdict = "yes" if held else "**no**"
    return row([ratio.text, ratio.must, figures.spread(values), verdict])


def promises_text(measured):
    text = heading(["figure", "must", "median (quartiles)", "reached"])
    for bench, variant in variants():
        for ratio in variant.ratios:
            if ratio.must:
                nodes = variant.nodes[0]
                values = measured.ratio(bench.name, nodes, variant.name, ratio)
                text += promise_row(values, ratio)
    return text


def runs_text(measured):
    """When, and of which commits."""
    runs = {
        (found["when"], found.get("commit", ""))
        for by_nodes in measured.benches.values()
        for by_variant in by_nodes.values()
        for found in by_variant.values()
    }
    return "".join("- measured %s, commit %s\n" % run for run in sorted(runs))


def machine_text(measured):
    found = dict(measured.machine)
    packages = found.pop("packages", {})
    text = "".join("- %s: %s\n" % pair for pair in sorted(found.items()))
    for pair in packages.items():
        text += "- %s %s\n" % pair
    return text + runs_text(measured)


# The text between the tables.


def ratio_word(measured, wanted):
    for bench, variant in variants():
        for ratio in variant.ratios:
            if ratio.text == wanted:
                nodes = variant.nodes[0]
                values = measured.ratio(bench.name, nodes, variant.name, ratio)
                return figures.number(stats.median(values)) if values else "?"
    raise KeyError("the template names no ratio: " + wanted)


def figure_word(measured, wanted):
    bench_name, variant_name, peer, figure, *nodes = wanted.split(", ")
    for bench, variant in variants():
        if (bench.name, variant.name) == (bench_name, variant_name):
            number = nodes[0] if nodes else variant.nodes[0]
            lists = measured.peer(bench_name, number, variant_name, peer)
            return figures.text(figure, lists[figure]) if lists else "?"
    raise KeyError("the template names no figure: " + wanted)


def fill(template, measured):
    tables = {
        "machine": machine_text,
        "promises": promises_text,
        "benches": benches_text,
        "faults": faults_report.text,
    }
    words = {"ratio": ratio_word, "figure": figure_word}
    text = re.sub(
        r"@\{(\w+)\s+([^}]*)\}",
        lambda m: words[m[1]](measured, " ".join(m[2].split())),
        template,
    )
    return re.sub(
        r"^@@(\w+)@@\n", lambda m: tables[m[1]](measured), text, flags=re.M
    )


# Plots.


def plot_row(measured, bench, nodes, variant, spec):
    """A label, whether it is ours, the values; None: nothing to show."""
    lists = measured.peer(bench.name, nodes, variant.name, spec.name)
    values = figures.scaled(bench.plot, lists.get(bench.plot, []))
    if not values or min(values) <= 0:
        return None
    servers = "" if nodes == 1 else ", %d servers" % nodes
    label = "%s%s: %s" % (variant.name, servers, spec.name)
    return label, spec.name.startswith("zkrecipes"), values


def plot_rows(measured, bench):
    rows = (
        plot_row(measured, bench, nodes, variant, spec)
        for variant in bench.variants
        for nodes in variant.nodes
        for spec in variant.peers
    )
    return [row for row in rows if row]


def write_plots(measured, directory):
    os.makedirs(directory, exist_ok=True)
    for bench in table.BENCHES:
        rows = plot_rows(measured, bench) if bench.plot else []
        if rows:
            axis = "%s %s (%s is better)" % (
                figures.heading(bench.plot),
                figures.unit(bench.plot),
                figures.better(bench.plot),
            )
            output = os.path.join(directory, bench.name + ".svg")
            plot.draw(bench.title, axis, rows, output)


def write(results, directory):
    """Writes benchmarks.md, and plots in benchmarks/."""
    measured = Measured(results)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, TEMPLATE)) as file:
        text = fill(file.read(), measured)
    with open(os.path.join(directory, "benchmarks.md"), "w") as file:
        file.write(text)
    write_plots(measured, os.path.join(directory, "benchmarks"))
