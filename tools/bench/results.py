# SPDX-License-Identifier: Apache-2.0
"""The file of the results: what each peer measured in each round.

    benches / NAME / "NODES" / VARIANT / peers / PEER / figures / FIGURE: [...]

A list has one number for each round, in the order of the rounds. Figures of a
batch of N cycles: ns, cpu_ns, requests and bytes (at the servers) of one cycle,
rate (cycles per second), and what else the peer measured. A peer that cannot
take part has `unsupported` instead.
"""

import json
import os
import re


def read(path):
    if not os.path.exists(path):
        return {"benches": {}}
    with open(path) as file:
        return json.load(file)


def write(results, path):
    """A list of numbers is one line."""
    text = json.dumps(results, indent=1, sort_keys=True)
    text = re.sub(
        r"\[[^][{}]*\]", lambda found: " ".join(found[0].split()), text
    )
    with open(path + ".new", "w") as file:
        file.write(text + "\n")
    os.replace(path + ".new", path)


def significant(number):
    """With five digits: more of them are noise, and make the file long."""
    return float("%.5g" % number)


def figures_of(cycles, wall_ns, cpu_ns, counted, more):
    """The figures of one batch."""
    figures = {
        "ns": wall_ns / cycles,
        "cpu_ns": cpu_ns / cycles,
        "rate": 1e9 * cycles / max(wall_ns, 1),
    }
    for name, count in counted.items():
        figures[name] = count / cycles
    figures.update(more)
    return {name: significant(value) for name, value in figures.items()}


def add_round(figures, batch):
    for name, value in batch.items():
        figures.setdefault(name, []).append(value)
