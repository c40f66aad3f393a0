# SPDX-License-Identifier: Apache-2.0
"""One plot for a sub-benchmark: a bar for each peer of each variant."""

import subprocess

import stats

OURS = 0x2A6FBB
OTHERS = 0xB0B0B0
LINE_HEIGHT = 22  # pixels
FRAME_HEIGHT = 90

SCRIPT = """
set terminal svg size 900,%(height)d font "sans,11" background rgb "white"
set output "%(output)s"
set title "%(title)s" noenhanced
set xlabel "%(unit)s" noenhanced
set logscale x
set grid x
set yrange [%(rows)d - 0.5:-0.5]
set xrange [%(low)g:%(high)g]
set tics nomirror
set ytics noenhanced
set style fill solid
set lmargin 42
$data << END
%(data)s
END
plot $data using 2:1:(%(low)g):2:($1-0.35):($1+0.35):6:ytic(5) \\
         with boxxyerror lc rgb variable notitle, \\
     $data using 2:1:3:4 with xerrorbars pt -1 lc rgb "black" notitle
"""


def data_of(rows):
    lines = []
    for number, (label, is_ours, values) in enumerate(rows):
        low, middle, high = stats.quartiles(values)
        color = OURS if is_ours else OTHERS
        lines.append(
            '%d %g %g %g "%s" %d' % (number, middle, low, high, label, color)
        )
    return "\n".join(lines)


def draw(title, unit, rows, output):
    """rows: (label, whether it is ours, values); values are positive."""
    every = [value for row in rows for value in row[2]]
    script = SCRIPT % {
        "height": FRAME_HEIGHT + LINE_HEIGHT * len(rows),
        "output": output,
        "title": title.replace('"', "'"),
        "unit": unit,
        "rows": len(rows),
        "low": min(every) / 2,
        "high": max(every) * 1.5,
        "data": data_of(rows),
    }
    subprocess.run(["gnuplot", "-"], input=script, text=True, check=True)
