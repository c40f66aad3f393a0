# SPDX-License-Identifier: Apache-2.0
"""All figures as tables of Markdown, and what the tables and the page share."""

import faults
import figures
import stats
import table

# Of a trial of a fault, or of its writes; see judge.py.
COLUMNS = (
    ("both", "two holders at once"),
    ("stale", "stale write accepted"),
    ("fenced", "also with the token"),
    ("lost", "to B before A released"),
    ("untold", "A never told"),
    ("stuck", "hangs"),
)


class Measured:
    """The results, by what table.py calls them."""

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
        above, below = (
            self.peer(bench, nodes, variant, peer).get(ratio.figure, [])
            for peer in (ratio.of, ratio.to)
        )
        return above if ratio.to is None else stats.ratios(above, below)

    def runs(self):
        """When, and of which commits."""
        found = {
            (of["when"], of.get("commit", ""))
            for by_nodes in self.benches.values()
            for by_variant in by_nodes.values()
            for of in by_variant.values()
        }
        of_faults = ((of["when"], of["commit"]) for of in self.faults.values())
        return sorted(found.union(of_faults))


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def heading(cells):
    return row(cells) + row(["---"] + ["---:"] * (len(cells) - 1))


def servers(nodes):
    return "" if nodes == 1 else ", %d servers" % nodes


# Of one variant.


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
    text = "\n**%s%s**\n\n" % (variant.name, servers(nodes))
    text += peers_table(variant, found["peers"])
    return text + ratios_table(measured, bench, nodes, variant)


def bench_text(measured, bench):
    text = "\n## `%s`: %s\n" % (bench.name, bench.title)
    for variant in bench.variants:
        for nodes in variant.nodes:
            text += variant_text(measured, bench, nodes, variant)
    return text


# Of the trials of faults.


def trials_cell(counts, name):
    if name not in counts:
        return "no token"
    text = "%d/%d" % (counts[name], counts["trials"])
    writes = counts.get(name + "_writes")
    return text + (" (%d writes)" % writes if writes else "")


def lock_row(lock, counts):
    if "trials" not in counts:
        why = counts.get("unsupported", "not measured")
        return row([lock, why] + [""] * (len(COLUMNS) - 1))
    return row([lock] + [trials_cell(counts, name) for name, _ in COLUMNS])


def fault_text(fault, found):
    text = "\n## `%s`: %s\n\n" % (fault.name, fault.title)
    text += heading([""] + [title for _, title in COLUMNS])
    for lock, _, _ in faults.LOCKS:
        text += lock_row(lock, found["locks"].get(lock, {}))
    return text


def text(measured):
    """All that was measured."""
    text = "# All figures\n\n"
    for name, value in sorted(measured.machine.items()):
        text += "- %s: %s\n" % (name, value)
    text += "".join("- measured %s, commit %s\n" % run for run in measured.runs())
    for bench in table.BENCHES:
        if bench.name in measured.benches:
            text += bench_text(measured, bench)
    for fault in faults.FAULTS:
        if fault.name in measured.faults:
            text += fault_text(fault, measured.faults[fault.name])
    return text
