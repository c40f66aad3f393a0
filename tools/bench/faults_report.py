# SPDX-License-Identifier: Apache-2.0
"""The tables of the trials of faults."""

import faults

# Of a trial, or of its writes; see judge.py.
COLUMNS = (
    ("both", "two holders at once"),
    ("stale", "stale write accepted"),
    ("fenced", "also with the token"),
    ("lost", "to B before A released"),
    ("untold", "A never told"),
    ("stuck", "hangs"),
)


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def cell(counts, name):
    if name not in counts:
        return "no token"
    text = "%d/%d" % (counts[name], counts["trials"])
    writes = counts.get(name + "_writes")
    return text + (" (%d writes)" % writes if writes else "")


def lock_row(lock, counts):
    if "trials" not in counts:
        why = counts.get("unsupported", "not measured")
        return row([lock, why] + [""] * (len(COLUMNS) - 1))
    return row([lock] + [cell(counts, name) for name, _ in COLUMNS])


def fault_text(fault, found):
    text = "**`%s`**: %s\n\n" % (fault.name, fault.title)
    text += row([""] + [title for _, title in COLUMNS])
    text += row(["---"] + ["---:"] * len(COLUMNS))
    for lock, _, _ in faults.LOCKS:
        text += lock_row(lock, found["locks"].get(lock, {}))
    return text


def text(measured):
    """Called by report.py."""
    if not measured.faults:
        return "Not measured.\n"
    runs = {(of["when"], of["commit"]) for of in measured.faults.values()}
    text = "".join("Measured %s, commit %s.\n" % run for run in sorted(runs))
    return text + "\n" + "\n".join(
        fault_text(fault, measured.faults[fault.name])
        for fault in faults.FAULTS
        if fault.name in measured.faults
    )
