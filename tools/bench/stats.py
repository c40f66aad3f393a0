# SPDX-License-Identifier: Apache-2.0
"""Medians and quartiles, and ratios of figures within a round."""

import statistics


def quartiles(values):
    """The lower quartile, the median, the upper quartile."""
    values = sorted(values)
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def ratios(above, below):
    """Of two lists of figures, one of each round."""
    return [a / b for a, b in zip(above, below) if b]


def median(values):
    return quartiles(values)[1]
