# SPDX-License-Identifier: Apache-2.0
"""What the figures were measured on: the machine, and the versions."""

import os
import platform
import subprocess

# Debian's packages whose versions matter.
PACKAGES = (
    "zookeeper libzookeeper-mt2 libcurator-recipes-java python3-kazoo "
    "openjdk-17-jre-headless openjdk-21-jre-headless "
    "redis-server mariadb-server memcached etcd-server"
).split()


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.partition("\n")[0].strip()


def processor():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def distribution():
    with open("/etc/os-release") as file:
        lines = [line.rstrip() for line in file if "=" in line]
    pairs = dict(line.split("=", 1) for line in lines)
    return pairs.get("PRETTY_NAME", "").strip('"')


def package_versions():
    found = {}
    for name in PACKAGES:
        version = first_line("dpkg-query", "-W", "-f", "${Version}", name)
        if version:
            found[name] = version
    return found


def commit():
    here = os.path.dirname(os.path.abspath(__file__))
    return first_line("git", "-C", here, "rev-parse", "--short", "HEAD")


def describe():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory": "%.0f GiB" % (memory / 2**30),
        "load average before": "%.2f" % os.getloadavg()[0],
        "kernel": platform.release(),
        "distribution": distribution(),
        "compiler": first_line("gcc", "--version"),
        "packages": package_versions(),
    }
