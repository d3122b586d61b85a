#!/usr/bin/env python3
"""deploy/monitoring: promtool accepts the rules and they fire when they should, Prometheus loads them, every metric
that rules and dashboard name exists in sinewd, and every alert has a paragraph in the runbook."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "deploy" / "monitoring"
METRIC = re.compile(r"\b(?:sinew|process)_[a-z_]+")
LABEL = re.compile(r'\b(?:code|reason)="\w+"')
# Appears only once it has counted; everything else is there from the start.
LATER = {"sinew_refusals_total", "sinew_store_requests_total"}

options = argparse.ArgumentParser()
options.add_argument("--sinewd", required=True)
arguments, rest = options.parse_known_args()


def text(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "the awaited event did not happen"
        time.sleep(0.05)


def read(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.read().decode()
    except OSError:
        return ""


class MonitoringTest(unittest.TestCase):
    def test_alerts_have_paragraphs(self):
        alerts = re.findall(r"- alert: (\w+)", text("alerts.yml"))
        self.assertEqual(alerts, re.findall(r"^\*\*(\w+)\.\*\*", text("runbook.md"), re.MULTILINE))

    def test_metrics_exist(self):
        with tempfile.TemporaryDirectory() as folder:
            ready = pathlib.Path(folder) / "ready.json"
            server = subprocess.Popen([arguments.sinewd, "--listen", "127.0.0.1:0", "--data-dir", folder + "/data",
                                       "--audit-log", folder + "/audit", "--ready-file", ready, "--store",
                                       f"file://{folder}/store", "--redis", f"unix:{folder}/none"],
                                      stdout=subprocess.DEVNULL)
            try:
                wait_for(ready.exists)
                page = read(f"http://{json.loads(ready.read_text())['http']}/metrics")
            finally:
                server.terminate()
                server.wait(60)
        queries = [target["expr"] for panel in json.loads(text("grafana.json"))["panels"] for target in panel["targets"]]
        used = text("alerts.yml") + " ".join(queries)
        named = set(METRIC.findall(used))
        self.assertGreater(len(named), 30)
        self.assertEqual(named - set(METRIC.findall(page)) - LATER, set())
        labels = set(LABEL.findall(used))
        self.assertGreater(len(labels), 2)
        self.assertEqual(labels - set(LABEL.findall(page)), set())

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed (deploy/install-deps.sh monitoring)")
    def test_rules_fire(self):
        for command in (["check", "rules", FOLDER / "alerts.yml"], ["check", "config", FOLDER / "prometheus.yml"],
                        ["test", "rules", HERE / "alerts_test.yml"]):
            done = subprocess.run(["promtool", *command], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed (deploy/install-deps.sh monitoring)")
    def test_prometheus_loads_rules(self):
        with tempfile.TemporaryDirectory() as folder:
            server = subprocess.Popen(["prometheus", "--config.file", FOLDER / "prometheus.yml", "--storage.tsdb.path",
                                       folder, "--web.listen-address", "127.0.0.1:0"],
                                      stderr=subprocess.PIPE, text=True)
            try:
                lines = iter(server.stderr.readline, "")
                port = next(found.group(1) for line in lines if (found := re.search(r"127\.0\.0\.1:([1-9]\d*)", line)))
                # What it writes later is read too, so that it cannot block.
                import threading

                threading.Thread(target=lambda: [None for _ in lines], daemon=True).start()
                url = f"http://127.0.0.1:{port}/api/v1/rules"
                wait_for(lambda: '"SinewDown"' in read(url))
                loaded = [rule["name"] for group in json.loads(read(url))["data"]["groups"] for rule in group["rules"]]
            finally:
                server.terminate()
                server.wait(60)
                server.stderr.close()
        self.assertEqual(loaded, re.findall(r"- alert: (\w+)", text("alerts.yml")))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest])
