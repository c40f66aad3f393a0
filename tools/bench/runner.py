# SPDX-License-Identifier: Apache-2.0
"""Runs sub-benchmarks: the peers of a variant in turn, round after round."""

import datetime
import os
import time
import traceback

import faults
import machine
import peer
import results
import table
from servers import Servers

QUICK_ROUNDS = 5
SMOKE_ROUNDS = 1
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # starts faster


class Runner:
    def __init__(self, options):
        self.options = options
        self.failures = 0
        self.results = results.read(options.out)
        self.results["machine"] = machine.describe()
        self.log = open(os.path.join(options.work, "peers.log"), "ab")

    def say(self, text):
        print(text, flush=True)

    def run(self):
        """Returns the exit status."""
        with Servers(self.options) as servers:
            self.servers = servers
            for bench in table.BENCHES:
                if self.is_wanted(bench):
                    self.run_bench(bench)
        if self.options.faults or not self.options.names:
            self.run_faults()
        results.write(self.results, self.options.out)
        if self.failures:
            self.say("%d failed" % self.failures)
        return 1 if self.failures else 0

    def is_wanted(self, bench):
        if self.options.faults:
            return False
        return not self.options.names or bench.name in self.options.names

    def run_faults(self):
        trials = faults.Faults(self.options, self.say)
        for name, locks in trials.run().items():
            of_fault = dict(self.stamp(), locks=locks)
            self.results.setdefault("faults", {})[name] = of_fault
        self.failures += trials.failures

    def run_bench(self, bench):
        for variant in bench.variants:
            if (self.options.variant or "") not in variant.name:
                continue
            for nodes in variant.nodes:
                if self.options.nodes in (None, nodes):
                    self.try_variant(bench, variant, nodes)

    def try_variant(self, bench, variant, nodes):
        begin = time.monotonic()
        try:
            peers = self.run_variant(variant, nodes)
        except Exception as error:
            self.failures += 1
            self.say("%s, %s: FAILED: %s" % (bench.name, variant.name, error))
            if not isinstance(error, peer.PeerError):
                traceback.print_exc()
            return
        self.say(
            "%s, %s, servers: %d, %.0f s"
            % (bench.name, variant.name, nodes, time.monotonic() - begin)
        )
        of_bench = self.results["benches"].setdefault(bench.name, {})
        of_variant = dict(self.stamp(), peers=peers)
        of_bench.setdefault(str(nodes), {})[variant.name] = of_variant
        results.write(self.results, self.options.out)

    def stamp(self):
        return {
            "when": datetime.date.today().isoformat(),
            "commit": machine.commit(),
        }

    def run_variant(self, variant, nodes):
        """Returns what its peers measured."""
        measured = {}
        running = []
        try:
            for spec in variant.peers:
                running.append((spec, self.start(spec, nodes)))
            running = self.await_all(running, measured)
            for number in range(self.rounds(variant, nodes)):
                self.round(variant, running, number, nodes, measured)
            for spec, process in running:
                if not process.stop():
                    process.fail("did not end in order")
        finally:
            for _, process in running:
                process.kill()
        return measured

    def start(self, spec, nodes):
        program = table.PROGRAMS[spec.program]
        system = self.servers.get(program.system, nodes)
        target = getattr(system, program.at)
        words = [word.format(**self.places()) for word in program.command]
        words += [target, spec.bench]
        settings = dict(spec.options)
        if self.options.smoke:
            settings.update(spec.smoke)
        words += ["%s=%s" % pair for pair in settings.items()]
        environment = dict(os.environ)
        if self.options.smoke:
            environment["JAVA_TOOL_OPTIONS"] = QUICK_JAVA
        return peer.Process(spec.name, words, environment, self.log)

    def places(self):
        """What the commands of the programs may name."""
        here = os.path.dirname(os.path.abspath(__file__))
        return {
            "source": here,
            "build": os.path.abspath(self.options.build),
            "java": "/usr/share/java",
        }

    def await_all(self, running, measured):
        """Those that are ready; the others cannot take part."""
        ready = []
        for spec, process in running:
            try:
                process.await_ready()
                ready.append((spec, process))
                measured[spec.name] = {"figures": {}}
            except peer.Unsupported as why:
                self.say("%s: unsupported: %s" % (spec.name, why))
                measured[spec.name] = {"unsupported": str(why)}
                process.stop()
        return ready

    def rounds(self, variant, nodes):
        """Several servers take several times as long for a batch."""
        rounds = variant.rounds if nodes == 1 else variant.rounds_of_several
        if self.options.smoke:
            return SMOKE_ROUNDS
        return min(rounds, QUICK_ROUNDS) if self.options.quick else rounds

    def round(self, variant, running, number, nodes, measured):
        """One batch of each peer; another one begins in each round."""
        first = number % max(len(running), 1)
        for spec, process in running[first:] + running[:first]:
            batch = self.batch(variant, spec, process, nodes)
            results.add_round(measured[spec.name]["figures"], batch)

    def batch(self, variant, spec, process, nodes):
        cycles = spec.smoke_batch if self.options.smoke else spec.batch
        system = self.servers.get(table.PROGRAMS[spec.program].system, nodes)
        if spec.tidy in ("before", "both"):
            process.run(0)
        before = system.counters()
        with system.fault(variant.fault):
            wall, cpu, more = process.run(cycles)
        # A server that was killed has forgotten what it had counted.
        counted = {} if variant.fault else system.since(before)
        if spec.tidy in ("after", "both"):
            process.run(0)
        return results.figures_of(cycles, wall, cpu, counted, more)
