"""Writes the report: tables and plots, from the results and a template."""

import os
import re

import stats
import table

TEMPLATE = "benchmarks.in.md"
# Figures that the tables show: heading, unit, and what it is divided by.
FIGURES = {
    "ns": ("cycle", "µs", 1000),
    "acquire_ns": ("acquire", "µs", 1000),
    "cpu_ns": ("client CPU", "µs", 1000),
    "rate": ("cycles", "/s", 1),
    "requests": ("requests", "", 1),
    "bytes": ("bytes", "", 1),
    "median_ns": ("median", "µs", 1000),
    "p99_ns": ("p99", "µs", 1000),
    "max_ns": ("longest", "µs", 1000),
    "handoff_ns": ("release to grant", "µs", 1000),
    "gap_ns": ("until the next grant", "ms", 1e6),
    "line_cpu_ns": ("client CPU each", "µs", 1000),
    "enter_ns": ("to enter, each", "µs", 1000),
    "heap_each": ("bytes each", "", 1),
    "longest_by_mean": ("longest wait by mean", "", 1),
}


def number(value):
    """With three digits or so, as people write it."""
    if value >= 1000:
        return format(round(value), ",")
    return "%.3g" % value if value < 100 else "%.0f" % value


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def heading(cells):
    return row(cells) + row(["---"] + ["---:"] * (len(cells) - 1))


def figures_of(results, bench, nodes, variant, peer):
    """The lists of a peer, or {}: not measured."""
    found = results["benches"].get(bench, {}).get(str(nodes), {})
    peers = found.get(variant, {}).get("peers", {})
    return peers.get(peer, {}).get("figures", {})


def values_of_ratio(results, bench, nodes, variant, ratio):
    """One value of each round; []: not measured."""
    peer, figure = ratio.of
    above = figures_of(results, bench, nodes, variant, peer).get(figure, [])
    if ratio.to is None:
        return above
    peer, figure = ratio.to
    below = figures_of(results, bench, nodes, variant, peer).get(figure, [])
    return stats.ratios(above, below)


def with_spread(values):
    if not values:
        return "not measured"
    low, middle, high = stats.quartiles(values)
    return "%s (%s to %s)" % (number(middle), number(low), number(high))


def is_held(must, value):
    bound = float(must.split()[1].replace(",", ""))
    return value <= bound if must.startswith("<=") else value >= bound


def cell(figures, name):
    _, unit, divisor = FIGURES.get(name, (name, "", 1))
    if name not in figures:
        return ""
    middle = stats.quartiles(figures[name])[1] / divisor
    return ("%s %s" % (number(middle), unit)).strip()


def peers_table(variant, peers):
    titles = [FIGURES.get(name, (name,))[0] for name in variant.columns]
    text = heading([""] + titles)
    for spec in variant.peers:
        found = peers.get(spec.name, {})
        if "figures" in found:
            cells = [cell(found["figures"], c) for c in variant.columns]
        else:
            why = found.get("unsupported", "not measured")
            cells = ["unsupported: " + why] + [""] * (len(titles) - 1)
        text += row([spec.name] + cells)
    return text


def ratios_table(results, bench, nodes, variant):
    text = heading(["ratio", "median (quartiles)", "must"])
    for ratio in variant.ratios:
        values = values_of_ratio(results, bench, nodes, variant.name, ratio)
        text += row([ratio.text, with_spread(values), ratio.must])
    return text


def variant_text(results, bench, nodes, variant, peers):
    servers = "one server" if nodes == 1 else "%d servers" % nodes
    text = "\n**%s**, %s:\n\n" % (variant.name, servers)
    text += peers_table(variant, peers)
    if variant.ratios:
        text += "\n" + ratios_table(results, bench.name, nodes, variant)
    return text


def bench_text(results, bench):
    text = "### `%s`: %s\n" % (bench.name, bench.title)
    measured = results["benches"].get(bench.name, {})
    for variant in bench.variants:
        for nodes in variant.nodes:
            found = measured.get(str(nodes), {}).get(variant.name)
            if found:
                text += variant_text(
                    results, bench, nodes, variant, found["peers"]
                )
    return text if measured else text + "\nNot measured.\n"


def benches_text(results):
    return "\n".join(bench_text(results, bench) for bench in table.BENCHES)


def targets_text(results):
    text = heading(["figure", "must", "measured (quartiles)", ""])
    for bench in table.BENCHES:
        for variant in bench.variants:
            for ratio in variant.ratios:
                if ratio.must:
                    text += target_row(results, bench.name, variant, ratio)
    return text


def target_row(results, bench, variant, ratio):
    values = values_of_ratio(results, bench, 1, variant.name, ratio)
    held = ""
    if values:
        middle = stats.quartiles(values)[1]
        held = "yes" if is_held(ratio.must, middle) else "**no**"
    return row([ratio.text, ratio.must, with_spread(values), held])


def machine_text(results):
    found = dict(results.get("machine", {}))
    packages = found.pop("packages", {})
    text = "".join("- %s: %s\n" % pair for pair in sorted(found.items()))
    text += "- packages: "
    return text + ", ".join("%s %s" % pair for pair in packages.items()) + "\n"


def write(results, directory):
    """Writes benchmarks.md, and plots in benchmarks/."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, TEMPLATE)) as file:
        text = file.read()
    parts = {
        "machine": machine_text,
        "targets": targets_text,
        "benches": benches_text,
    }
    text = re.sub(
        r"^@@(\w+)@@\n", lambda m: parts[m[1]](results), text, flags=re.M
    )
    with open(os.path.join(directory, "benchmarks.md"), "w") as file:
        file.write(text)
