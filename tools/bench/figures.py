# SPDX-License-Identifier: Apache-2.0
"""What figures mean, and how they are written."""

import stats

# Heading, unit, what it is divided by, and what is better.
FIGURES = {
    "ns": ("cycle", "µs", 1000, "less"),
    "acquire_ns": ("acquire", "µs", 1000, "less"),
    "cpu_ns": ("client CPU", "µs", 1000, "less"),
    "rate": ("cycles", "/s", 1, "more"),
    "requests": ("requests", "", 1, "less"),
    "bytes": ("bytes", "", 1, "less"),
    "writes": ("committed writes", "", 1, "less"),
    "syncs": ("syncs", "", 1, "less"),
    "quorum_bytes": ("bytes between servers", "", 1, "less"),
    "server_cpu_ns": ("CPU of all servers", "µs", 1000, "less"),
    "median_ns": ("median", "µs", 1000, "less"),
    "p99_ns": ("p99", "µs", 1000, "less"),
    "max_ns": ("longest", "µs", 1000, "less"),
    "handoff_ns": ("release to grant", "µs", 1000, "less"),
    "check_ns": ("longest check()", "ms", 1e6, "less"),
    "late_ns": ("an acquire of 200 ms is late by", "ms", 1e6, "less"),
    "gap_ns": ("until the next grant", "ms", 1e6, "less"),
    "line_cpu_ns": ("client CPU each", "µs", 1000, "less"),
    "enter_ns": ("to enter, each", "µs", 1000, "less"),
    "heap_each": ("heap each", "bytes", 1, "less"),
    "peak_each": ("resident each, peak", "bytes", 1, "less"),
    "longest_by_mean": ("longest wait by mean", "", 1, "less"),
    "least_share": ("least share of a client", "", 1, "more"),
    "submit_ns": ("call to client", "µs", 1000, "less"),
    "send_ns": ("to its thread", "µs", 1000, "less"),
    "server_ns": ("server", "µs", 1000, "less"),
    "answer_ns": ("to its callback", "µs", 1000, "less"),
    "return_ns": ("to the caller", "µs", 1000, "less"),
}


def of(name):
    return FIGURES.get(name, (name, "", 1, "less"))


def heading(name):
    return of(name)[0]


def unit(name):
    return of(name)[1]


def better(name):
    return of(name)[3]


def scaled(name, values):
    return [value / of(name)[2] for value in values]


def number(value):
    """With three digits or so, as people write it."""
    if abs(value) >= 1000:
        return format(round(value), ",")
    return "%.0f" % value if abs(value) >= 100 else "%.3g" % value


def text(name, values):
    """The median, with its unit."""
    middle = stats.median(scaled(name, values))
    return ("%s %s" % (number(middle), unit(name))).strip()


def spread(values):
    """The median of plain numbers, and the quartiles."""
    if not values:
        return "not measured"
    low, middle, high = stats.quartiles(values)
    return "%s (%s to %s)" % (number(middle), number(low), number(high))
