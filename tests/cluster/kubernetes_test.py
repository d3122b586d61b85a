#!/usr/bin/env python3
"""deploy/kubernetes: every object of every overlay fits its schema, what objects say of each other is true, and sinewd
and haproxy accept their configuration. No cluster is needed.

usage: kubernetes_test.py --packages FOLDER --sinewd FILE    FOLDER: npm packages with the schemas, installed if missing
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any

SKIP = 77  # what ctest takes as skipped
ROOT = pathlib.Path(__file__).resolve().parents[2]
OVERLAYS = ROOT / "deploy/kubernetes/overlays"
PACKAGES = ("kubernetes-models@5.1.0", "@kubernetes-models/prometheus-operator@6.0.0")
Object = dict[str, Any]

parser = argparse.ArgumentParser()
parser.add_argument("--packages", type=pathlib.Path, required=True)
parser.add_argument("--sinewd", required=True)
options, rest = parser.parse_known_args()


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(SKIP)


def install() -> None:
    """The schemas, from npm."""
    if all((options.packages / "node_modules" / package.rsplit("@", 1)[0]).exists() for package in PACKAGES):
        return
    options.packages.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix",
                           options.packages, *PACKAGES], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        skip(f"npm cannot install {' '.join(PACKAGES)}: {done.stderr.strip()[-200:]}")


def rendered(overlay: pathlib.Path) -> list[Object]:
    done = subprocess.run(["kubectl", "kustomize", overlay], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def schema_findings(objects: list[Object]) -> list[str]:
    done = subprocess.run(["node", ROOT / "tests/cluster/validate_objects.mjs", options.packages.resolve()], text=True,
                          input=json.dumps(objects), capture_output=True, check=False)
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    return done.stdout.splitlines()


def of_kind(objects: list[Object], *kinds: str) -> list[Object]:
    return [each for each in objects if each["kind"] in kinds]


def workloads(objects: list[Object]) -> list[Object]:
    return of_kind(objects, "Deployment", "StatefulSet")


def containers(workload: Object) -> list[Object]:
    return workload["spec"]["template"]["spec"]["containers"]


def labels(workload: Object) -> dict[str, str]:
    return workload["spec"]["template"]["metadata"]["labels"]


def selected(objects: list[Object], selector: dict[str, str]) -> list[Object]:
    """The workloads whose pods have these labels."""
    return [each for each in workloads(objects) if selector.items() <= labels(each).items()]


def ports(workload: Object) -> set[str]:
    return {port["name"] for container in containers(workload) for port in container.get("ports", [])}


def environment(objects: list[Object], container: Object) -> dict[str, str]:
    """The variables of a container; those that are not known before it runs are empty."""
    found: dict[str, str] = {}
    for source in container.get("envFrom", []):
        name = source["configMapRef"]["name"]
        found.update(next(each["data"] for each in of_kind(objects, "ConfigMap") if each["metadata"]["name"] == name))
    for each in container.get("env", []):
        found[each["name"]] = each.get("value", "")
    return found


def reference_findings(objects: list[Object], documented: str) -> Iterator[str]:
    """What pods mount and read: it is an object beside them, or a secret that the overlay's text says how to make."""
    maps = {each["metadata"]["name"] for each in of_kind(objects, "ConfigMap")}
    claims = {each["metadata"]["name"] for each in of_kind(objects, "PersistentVolumeClaim")}
    for workload in workloads(objects):
        name = workload["metadata"]["name"]
        volumes = {each["name"]: each for each in workload["spec"]["template"]["spec"].get("volumes", [])}
        for volume in volumes.values():
            if "configMap" in volume and volume["configMap"]["name"] not in maps:
                yield f"{name}: no ConfigMap {volume['configMap']['name']}"
            if "persistentVolumeClaim" in volume and volume["persistentVolumeClaim"]["claimName"] not in claims:
                yield f"{name}: no claim {volume['persistentVolumeClaim']['claimName']}"
            if "secret" in volume and not re.search(rf"\b{volume['secret']['secretName']}\b", documented):
                yield f"{name}: secret {volume['secret']['secretName']} is not documented"
        for container in containers(workload):
            mounts = {each["name"] for each in container.get("volumeMounts", [])}
            yield from (f"{name}: no volume {each}" for each in mounts - set(volumes))
            yield from (f"{name}: volume {each} is not mounted" for each in set(volumes) - mounts)
            folders = tuple(each["mountPath"] + "/" for each in container.get("volumeMounts", []))
            for variable, value in environment(objects, container).items():
                if value.startswith("/") and not value.startswith(folders):
                    yield f"{name}: {variable} names {value}, which is in no mounted folder"


def selector_findings(objects: list[Object]) -> Iterator[str]:
    """Selectors select something, and ports have the names they are called by."""
    for workload in workloads(objects):
        name = workload["metadata"]["name"]
        if workload not in selected(objects, workload["spec"]["selector"]["matchLabels"]):
            yield f"{name}: its selector does not match its labels"
        for spread in workload["spec"]["template"]["spec"].get("topologySpreadConstraints", []):
            if workload not in selected(objects, spread["labelSelector"]["matchLabels"]):
                yield f"{name}: topology spread does not match its labels"
        for container in containers(workload):
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                for how in ("httpGet", "tcpSocket"):
                    port = container.get(probe, {}).get(how, {}).get("port")
                    if port is not None and port not in ports(workload):
                        yield f"{name}: {probe} uses port {port}"
    services = of_kind(objects, "Service")
    for service in services:
        name, matched = service["metadata"]["name"], selected(objects, service["spec"]["selector"])
        if len(matched) != 1:
            yield f"Service {name}: matches {len(matched)} workloads"
        for port in service["spec"]["ports"]:
            yield from (f"Service {name}: no port {port['targetPort']}" for each in matched
                        if port["targetPort"] not in ports(each))
    for workload in of_kind(objects, "StatefulSet"):
        if not any(service["metadata"]["name"] == workload["spec"]["serviceName"] and
                   service["spec"].get("clusterIP") == "None" for service in services):
            yield f"{workload['metadata']['name']}: serviceName is no headless service"
    for budget in of_kind(objects, "PodDisruptionBudget"):
        if not selected(objects, budget["spec"]["selector"]["matchLabels"]):
            yield f"PodDisruptionBudget {budget['metadata']['name']}: matches nothing"
    for monitor in of_kind(objects, "ServiceMonitor"):
        wanted = monitor["spec"]["selector"]["matchLabels"].items()
        matched = [each for each in services if wanted <= each["metadata"].get("labels", {}).items()]
        for endpoint in monitor["spec"]["endpoints"]:
            if not any(endpoint["port"] == port["name"] for each in matched for port in each["spec"]["ports"]):
                yield f"ServiceMonitor {monitor['metadata']['name']}: no port {endpoint['port']}"


def network_findings(objects: list[Object]) -> Iterator[str]:
    """Each workload has a policy; named ports of a rule exist where it leads."""
    covered = set()
    for policy in of_kind(objects, "NetworkPolicy"):
        name, own = policy["metadata"]["name"], selected(objects, policy["spec"]["podSelector"]["matchLabels"])
        covered |= {each["metadata"]["name"] for each in own}
        for rule in policy["spec"].get("ingress", []):
            for port in rule["ports"]:
                if not all(port["port"] in ports(each) for each in own):
                    yield f"NetworkPolicy {name}: ingress to port {port['port']}"
        for rule in policy["spec"].get("egress", []):
            peers = [each["podSelector"]["matchLabels"] for each in rule.get("to", []) if "podSelector" in each]
            for port in rule["ports"]:
                known = [port["port"] in ports(each) for peer in peers for each in selected(objects, peer)]
                if isinstance(port["port"], str) and (not known or not all(known)):
                    yield f"NetworkPolicy {name}: egress to port {port['port']}"
        for rule in policy["spec"].get("ingress", []) + policy["spec"].get("egress", []):
            for peer in rule.get("from", []) + rule.get("to", []):
                wanted = peer.get("podSelector", {}).get("matchLabels", {})
                if wanted and not selected(objects, wanted):
                    yield f"NetworkPolicy {name}: no pod is {wanted}"
    for workload in workloads(objects):
        if workload["metadata"]["name"] not in covered:
            yield f"{workload['metadata']['name']}: no NetworkPolicy"


def scaling_findings(objects: list[Object]) -> Iterator[str]:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "server").rglob("*.cc"))
    for scaler in of_kind(objects, "HorizontalPodAutoscaler"):
        target = scaler["spec"]["scaleTargetRef"]
        found = [each for each in workloads(objects) if each["metadata"]["name"] == target["name"] and
                 (each["kind"], each["apiVersion"]) == (target["kind"], target["apiVersion"])]
        if not found:
            yield f"HorizontalPodAutoscaler {scaler['metadata']['name']}: no target"
        for metric in scaler["spec"]["metrics"]:
            if f"\"{metric['pods']['metric']['name']}\"" not in sources:
                yield f"sinewd has no metric {metric['pods']['metric']['name']}"
        known = [name for workload in workloads(objects) for container in containers(workload)
                 for name in environment(objects, container) if re.fullmatch(r"SINEWD_\d+", name)]
        if len(known) < scaler["spec"]["maxReplicas"]:
            yield f"the balancer knows {len(known)} replicas of {scaler['spec']['maxReplicas']}"


def security_findings(objects: list[Object]) -> Iterator[str]:
    user = re.search(r"^USER (\d+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    for workload in workloads(objects):
        name, pod = workload["metadata"]["name"], workload["spec"]["template"]["spec"]
        context = pod["securityContext"]
        if not context.get("runAsNonRoot") or context.get("seccompProfile") != {"type": "RuntimeDefault"}:
            yield f"{name}: root, or no seccomp profile"
        if name == "sinewd" and (user is None or context.get("runAsUser") != int(user.group(1))):
            yield f"{name}: not the user of the Dockerfile"
        if pod.get("automountServiceAccountToken") is not False or pod.get("enableServiceLinks") is not False:
            yield f"{name}: has a token of the cluster, or variables of services"
        for container in containers(workload):
            if container["securityContext"] != {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                "capabilities": {"drop": ["ALL"]}}:
                yield f"{name}: container {container['name']} may do more than it needs"
            if "memory" not in container["resources"]["limits"] or "cpu" not in container["resources"]["requests"]:
                yield f"{name}: container {container['name']} without resources"


def option_findings(objects: list[Object]) -> Iterator[str]:
    """Every option of sinewd exists; it has time to drain; the limits are those of the systemd unit."""
    said = subprocess.run([options.sinewd, "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"^  (?:-h,)?--([a-z0-9-]+)", said, re.MULTILINE))
    sinewd, = (each for each in workloads(objects) if each["metadata"]["name"] == "sinewd")
    container, = containers(sinewd)
    used = [name.removeprefix("SINEWD_").lower().replace("_", "-") for name in environment(objects, container)]
    configuration = config_of(objects)
    used += [word[2:] for word in container["args"] if word.startswith("--")] + list(configuration)
    yield from (f"sinewd has no option {name}" for name in used if name not in known)
    if sinewd["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] <= configuration["drain-seconds"]:
        yield "terminationGracePeriodSeconds: not longer than drain-seconds"
    unit = (ROOT / "deploy/sinewd.service").read_text(encoding="utf-8")
    limits = {name.lower().replace("_", "-"): int(value) for name, value in re.findall(r"SINEWD_(MAX_\w+)=(\d+)", unit)}
    if limits != {name: value for name, value in configuration.items() if name.startswith("max-")}:
        yield "config.yaml: other limits than deploy/sinewd.service"
    memory = re.search(r"(?m)^MemoryMax=(\d+)G$", unit)
    if memory is None or container["resources"]["limits"]["memory"] != f"{memory.group(1)}Gi":
        yield "sinewd: another limit of memory than deploy/sinewd.service"


def config_of(objects: list[Object]) -> Object:
    """The configuration file of sinewd."""
    text, = (each["data"]["sinewd.yaml"] for each in of_kind(objects, "ConfigMap") if "sinewd.yaml" in each["data"])
    return yaml.safe_load(text)


def make_certificate(folder: pathlib.Path) -> str:
    """The certificate of a secret of type kubernetes.io/tls, with its key beside it."""
    certificate = f"{folder}/tls.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-subj", "/CN=sinew", "-keyout", folder / "tls.key", "-out", certificate], check=True,
                   capture_output=True)
    return certificate


def findings(objects: list[Object], documented: str) -> list[str]:
    return [*reference_findings(objects, documented), *selector_findings(objects), *network_findings(objects),
            *scaling_findings(objects), *security_findings(objects), *option_findings(objects)]


class KubernetesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.overlays = {folder.name: rendered(folder) for folder in sorted(OVERLAYS.iterdir())}
        cls.texts = {name: (OVERLAYS / name / "kustomization.yaml").read_text(encoding="utf-8")
                     for name in cls.overlays}

    def test_objects_fit_their_schemas(self) -> None:
        for name, objects in self.overlays.items():
            with self.subTest(name):
                self.assertEqual(schema_findings(objects), [])
                print(f"{name}: {len(objects)} objects")

    def test_objects_fit_each_other_and_sinewd(self) -> None:
        for name, objects in self.overlays.items():
            with self.subTest(name):
                self.assertEqual(findings(objects, self.texts[name]), [])

    def test_schemas_find_what_is_wrong(self) -> None:
        pod = "spec/template/spec"
        container = f"{pod}/containers/0"
        for path, value in {"spec/replica": 3, f"{container}/securityContext/readOnlyRootFileSystem": True,
                            f"{container}/ports/0/containerPort": "50051", f"{container}/readinesProbe": {},
                            f"{container}/resources/limits/memory": "16GiB", f"{pod}/terminationGracePeriod": 45,
                            f"{container}/livenessProbe/httpGet/paths": "/", "apiVersion": "apps/v2",
                            "spec/selector": None}.items():
            with self.subTest(path):
                changed = copy.deepcopy(next(each for each in self.overlays["production"]
                                             if each["kind"] == "StatefulSet"))
                self.change(changed, path, value)
                found = schema_findings([changed])
                self.assertEqual({each.split()[1] for each in found}, {"sinewd:"})

    def test_checks_find_what_is_wrong(self) -> None:
        pod = "spec/template/spec"
        container = f"{pod}/containers/0"
        for kind, path, value, expected in (
                ("Service", "spec/selector", {"app.kubernetes.io/name": "sinew"}, "matches 0 workloads"),
                ("Service", "spec/ports/0/targetPort", "gprc", "no port gprc"),
                ("StatefulSet", "spec/serviceName", "sinewds", "no headless service"),
                ("StatefulSet", f"{pod}/topologySpreadConstraints/0/labelSelector/matchLabels", {"a": "b"}, "topology"),
                ("StatefulSet", f"{container}/readinessProbe/httpGet/port", "https", "uses port https"),
                ("StatefulSet", f"{container}/env/0/name", "SINEWD_TOKENS", "no option tokens"),
                ("StatefulSet", f"{container}/env/0/value", "/elsewhere/tokens", "in no mounted folder"),
                ("StatefulSet", f"{container}/volumeMounts/0/name", "other", "no volume other"),
                ("StatefulSet", f"{pod}/terminationGracePeriodSeconds", 30, "not longer than drain-seconds"),
                ("StatefulSet", f"{pod}/securityContext/runAsUser", 1000, "not the user"),
                ("StatefulSet", f"{container}/securityContext/capabilities", {}, "may do more"),
                ("StatefulSet", f"{container}/resources/limits/memory", "8Gi", "another limit of memory"),
                ("PodDisruptionBudget", "spec/selector/matchLabels", {"a": "b"}, "matches nothing"),
                ("HorizontalPodAutoscaler", "spec/scaleTargetRef/kind", "Deployment", "no target"),
                ("HorizontalPodAutoscaler", "spec/metrics/0/pods/metric/name", "sinew_jobs", "no metric sinew_jobs"),
                ("HorizontalPodAutoscaler", "spec/maxReplicas", 7, "knows 6 replicas of 7"),
                ("NetworkPolicy", "spec/ingress/0/ports/0/port", "http2", "ingress to port http2"),
                ("NetworkPolicy", "spec/podSelector/matchLabels", {"a": "b"}, "no NetworkPolicy"),
                ("ServiceMonitor", "spec/endpoints/0/port", "metrics", "no port metrics")):
            with self.subTest(f"{kind} {path}"):
                changed = copy.deepcopy(self.overlays["production"])
                self.change(next(each for each in changed if each["kind"] == kind), path, value)
                found = findings(changed, self.texts["production"])
                self.assertTrue([each for each in found if expected in each], found)

    @staticmethod
    def change(target: Any, path: str, value: object) -> None:
        """Sets or, with None, removes what the path names."""
        *parents, last = [int(part) if part.isdigit() else part for part in path.split("/")]
        for part in parents:
            target = target[part]
        if value is None:
            del target[last]
        else:
            target[last] = value

    def test_sinewd_accepts_its_configuration(self) -> None:
        """With the variables of its container; secrets are replaced by files of their kind."""
        if shutil.which("openssl") is None:
            self.skipTest("openssl is not installed")
        for name, objects in self.overlays.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as temporary:
                folder = pathlib.Path(temporary)
                (folder / "sinewd.yaml").write_text(yaml.safe_dump({**config_of(objects), "data-dir": temporary}),
                                                    encoding="utf-8")
                make_certificate(folder)
                token = subprocess.run([options.sinewd, "--make-token", "test", "--out", folder / "token"],
                                       capture_output=True, check=True)
                (folder / "tokens.jsonl").write_bytes(token.stdout)
                (folder / "credentials").write_text("[default]\naws_access_key_id = a\naws_secret_access_key = b\n",
                                                    encoding="utf-8")
                (folder / "password").write_text("secret\n", encoding="utf-8")
                sinewd, = (each for each in workloads(objects) if each["metadata"]["name"] == "sinewd")
                variables = environment(objects, containers(sinewd)[0])
                for variable, value in variables.items():
                    if value.startswith("/secrets/"):
                        variables[variable] = str(folder / pathlib.Path(value).name)
                (folder / "store").mkdir()
                variables["SINEWD_STORE"] = variables["SINEWD_STORE"].replace("file:///", f"file://{folder}/")
                done = subprocess.run([options.sinewd, "--check", "--config", folder / "sinewd.yaml", "--listen",
                                       "0.0.0.0:0"], env={**os.environ, **variables}, capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                warnings = [line for line in done.stderr.splitlines() if "warning" in line.lower()]
                self.assertEqual(len(warnings), 1, done.stderr)  # that of the host, which only a cluster knows
                self.assertIn("sinewd: warning: redis: ", warnings[0])

    def test_haproxy_accepts_its_configuration(self) -> None:
        haproxy = shutil.which("haproxy", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if haproxy is None or shutil.which("openssl") is None:
            self.skipTest("haproxy or openssl is not installed")
        for name, objects in self.overlays.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                certificate = make_certificate(pathlib.Path(folder))
                balancer, = (each for each in workloads(objects) if each["metadata"]["name"] == "sinew-balancer")
                variables = environment(objects, containers(balancer)[0])
                self.assertEqual(sum(value.startswith("sinewd-") for value in variables.values()), 6)
                for variable, value in variables.items():
                    if value.startswith("/secrets/"):
                        variables[variable] = certificate
                    elif value.startswith("/"):
                        variables[variable] = f"{folder}/socket"
                    variables[variable] = re.sub(r"\S+\.svc\.cluster\.local", "localhost", variables[variable])
                text, = (each["data"]["haproxy.cfg"] for each in of_kind(objects, "ConfigMap")
                         if "haproxy.cfg" in each["data"])
                path = pathlib.Path(folder) / "haproxy.cfg"
                path.write_text(text, encoding="utf-8")
                done = subprocess.run([haproxy, "-c", "-f", path], env={**os.environ, **variables}, check=False,
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    try:
        import yaml
    except ImportError:
        skip("python3-yaml is not installed (deploy/install-deps.sh cluster)")
    for program in ("kubectl", "node", "npm"):
        if shutil.which(program) is None:
            skip(f"{program} is not installed")
    install()
    unittest.main(argv=[__file__, *rest])
