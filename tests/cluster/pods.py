#!/usr/bin/env python3
"""deploy/kubernetes/overlays/development as pods of podman: each container has the rights and the memory that its
manifest says, its probes succeed, and bakes through the balancer have the bits of a local one, also while the replica
that serves them is killed, and while it is stopped.

usage: pods.py [WORKDIR]     (that of tests/container.sh; default: build/container)
Exit code 77: not run. The images are those of container.sh and compose.sh. Class Pod has what is changed for podman,
which ignores NetworkPolicy, PodDisruptionBudget, fsGroup, topology, sizes of volumes, and the time to stop.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import copy
import ctypes
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import name_server

ROOT = pathlib.Path(__file__).resolve().parents[2]
OVERLAY = ROOT / "deploy/kubernetes/overlays/development"
IMAGES = {name: f"localhost/{name}:test" for name in ("sinew", "haproxy", "redis")}
NETWORK = "sinew"
NAME_SERVER = "10.96.0.10"  # where it often is in Kubernetes
BALANCER = "sinew.sinew.svc.cluster.local:50051"  # the Service
WAIT_SECONDS = 60.0
CLONE_NEWNET = 0x40000000  # os.CLONE_NEWNET, and os.unshare, come with Python 3.12
BEGIN = time.monotonic()
# Prints what the first process may do, whether each of the folders can be written to, and the limit of memory.
RIGHTS = """cat /proc/1/status
for each; do echo "$each: $(touch "$each/new" 2>&1 && rm "$each/new" && echo written)"; done
echo "memory: $(cd /sys/fs/cgroup && cat memory.max 2>/dev/null || cat memory/memory.limit_in_bytes)"
"""
Object = dict[str, Any]


def skip(why: str) -> None:
    print(f"pods: SKIPPED, {why}", file=sys.stderr)
    sys.exit(77)  # what ctest takes as skipped


def step(what: str) -> None:
    print(f"pods: [{time.monotonic() - BEGIN:.1f} s] {what}", flush=True)


def need(name: str, found: object, expected: object) -> None:
    if found != expected:
        raise AssertionError(f"{name}: got {found}, need {expected}")


def wait(name: str, done: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise AssertionError(f"{name}: not after {WAIT_SECONDS} s")
        time.sleep(0.1)


def of_kind(objects: list[Object], *kinds: str) -> list[Object]:
    return [each for each in objects if each["kind"] in kinds]


class Pod:
    """A pod as Kubernetes makes it of a workload, changed where podman 4.3.1 differs. All have one container."""

    def __init__(self, objects: list[Object], workload: Object, number: int) -> None:
        # Podman knows no StatefulSet, and names the pods of a Deployment otherwise. The images are those of the test.
        self.name, space = f"{workload['metadata']['name']}-{number}", workload["metadata"]["namespace"]
        template = copy.deepcopy(workload["spec"]["template"])
        labels, self.spec = template["metadata"]["labels"], template["spec"]
        self.container, = self.spec["containers"]
        self.container_name = f"{self.name}-{self.container['name']}"  # podman's
        self.container["image"] = IMAGES[self.container["image"].partition(":")[0]]
        # Podman probes with curl in the container, and knows no ports by name: `Podman.probe` does it instead.
        self.probes = {kind: self.container.pop(kind) for kind in ("startupProbe", "livenessProbe", "readinessProbe")
                       if kind in self.container}
        # Podman publishes all ports to the machine, where those of the replicas are the same.
        self.ports = {each["name"]: each["containerPort"] for each in self.container.pop("ports")}
        # Podman knows no metadata.namespace and no $(NAME).
        values: dict[str, str] = {}
        for each in self.container.get("env", []):
            if "valueFrom" in each:
                each["value"] = {"metadata.namespace": space}[each.pop("valueFrom")["fieldRef"]["fieldPath"]]
            each["value"] = values[each["name"]] = re.sub(r"\$\((\w+)\)", lambda use: values[use[1]], each["value"])
        # tests/container.sh limits open files: fewer connections, as in compose.sh.
        if self.container["name"] == "haproxy":
            self.container["env"].append({"name": "BALANCER_MAXCONN", "value": "1000"})
        # Podman keeps an emptyDir in a volume of that name, which all replicas would share.
        for each in self.spec.get("volumes", []) + self.container.get("volumeMounts", []):
            each["name"] = f"{self.name}-{each['name']}"
        # Podman knows no Service: its name is that of the pod that it selects. Podman's name server knows no names of
        # Kubernetes, and is silent about pods that do not exist.
        domain = f"{space}.svc.cluster.local"
        self.spec["dnsConfig"] = {"nameservers": [NAME_SERVER], "searches": [domain]}
        self.names = [f"{service['metadata']['name']}.{domain}" for service in of_kind(objects, "Service")
                      if service["spec"]["selector"].items() <= labels.items()]
        if "serviceName" in workload["spec"]:
            self.names.append(f"{self.name}.{workload['spec']['serviceName']}.{domain}")
        self.object = {"apiVersion": "v1", "kind": "Pod", "spec": self.spec,
                       "metadata": {**template["metadata"], "name": self.name}}


class Podman:
    """Pods, volumes and networks in a folder of their own, so with the names of Kubernetes; images of WORKDIR."""

    def __init__(self, work: pathlib.Path) -> None:
        os.environ["CONTAINERS_CONF"] = str(work / "containers.conf")
        os.environ["CONTAINERS_STORAGE_CONF"] = str(work / "storage.conf")
        self.command = ["podman"]
        for image in set(IMAGES.values()) - set(self.run("images", "--format={{.Repository}}:{{.Tag}}").split()):
            skip(f"no image {image}: run tests/container.sh and tests/cluster/compose.sh first")
        if "--store " not in self.run("run", "--rm", "--pull=never", "--network=none", IMAGES["sinew"], "--help"):
            skip("this sinewd has no store")
        self.names = name_server.NameServer(NAME_SERVER)
        images = self.run("info", "--format={{.Store.GraphRoot}}")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pods-", dir=work))
        self.command += [f"--root={self.folder}/graph", f"--runroot={self.folder}/run",
                         f"--network-config-dir={self.folder}/networks", f"--storage-opt=overlay.imagestore={images}"]

    def run(self, *words: str, text: str = "") -> str:
        done = subprocess.run([*self.command, *words], input=text, capture_output=True, text=True, timeout=180)
        if done.returncode != 0:
            raise AssertionError(f"podman {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def inspect(self, pod: Pod, field: str) -> str:
        return self.run("inspect", f"--format={{{{.{field}}}}}", pod.container_name)

    def get(self, pod: Pod, port: str, path: str | None, seconds: float = 5) -> str:
        """The body of a reply with status 200; without a path, only connects. Raises OSError. Any call enters the pod's
        address in the name server."""
        address = self.inspect(pod, f"NetworkSettings.Networks.{NETWORK}.IPAddress")
        self.names.addresses.update(dict.fromkeys(pod.names, address))
        if path is None:
            with socket.create_connection((address, pod.ports[port]), seconds):
                return ""
        with urllib.request.urlopen(f"http://{address}:{pod.ports[port]}{path}", timeout=seconds) as reply:
            need(path, reply.status, 200)
            return reply.read().decode()

    def probe(self, pod: Pod, kind: str) -> bool:
        """Asks as Kubernetes does."""
        how = pod.probes[kind].get("httpGet") or pod.probes[kind]["tcpSocket"]
        with contextlib.suppress(OSError):
            self.get(pod, how["port"], how.get("path"), pod.probes[kind].get("timeoutSeconds", 1))
            return True
        return False

    def frames(self, pod: Pod) -> float:
        return sum(map(float, re.findall(r"(?m)^sinew_frames_total.* (\S+)$", self.get(pod, "http", "/metrics"))))

    def leave(self) -> None:
        """Removes everything, also after a failure."""
        for words in ("pod rm --all --force --time=0", "rm --all --force --time=0", f"network rm --force {NETWORK}"):
            with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
                self.run(*words.split())
        shutil.rmtree(self.folder, ignore_errors=True)


def check_rights(podman: Podman, pod: Pod) -> None:
    context, limit = pod.spec["securityContext"], pod.container["resources"]["limits"]["memory"]
    user, group = str(context["runAsUser"]), str(context["runAsGroup"])
    image = podman.run("image", "inspect", pod.container["image"], "--format={{.Config.User}}")
    need(f"{pod.name}: runAsUser", user, image.partition(":")[0])
    writable = {"/": False, "/tmp": False}
    writable.update((each["mountPath"], not each.get("readOnly")) for each in pod.container.get("volumeMounts", []))
    said = podman.run("exec", pod.container_name, "sh", "-c", RIGHTS, "sh", *writable)
    found = dict(line.split(":", 1) for line in said.splitlines())
    expected = {"Uid": [user] * 4, "Gid": [group] * 4, "NoNewPrivs": ["1"], "Seccomp": ["2"],  # a filter
                **dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), ["0" * 16]),
                "memory": [str(int(limit[:-2]) << {"Mi": 20, "Gi": 30}[limit[-2:]])]}
    need(pod.name, {name: found[name].split() for name in expected}, expected)
    for folder, may in writable.items():
        ends = "written" if may else "Read-only file system"
        need(f"{pod.name}: a file in {folder}", found[folder].rpartition(": ")[2].strip(), ends)


def bake(podman: Podman, *where: str) -> str:
    """The sha256 of a cache."""
    sinew = ("sinew", "--quiet", *where, "bake", "model:hand", "--deformer", "ddm", "--frames", "0-5")
    podman.run("exec", "client", *sinew, "--out", "/dev/shm/hand.npy")
    return podman.run("exec", "client", "sha256sum", "/dev/shm/hand.npy").split()[0]


@contextlib.contextmanager
def baking(podman: Podman, bits: str) -> Iterator[None]:
    """Bakes one after the other through the balancer, from before the body until after it: all have these bits."""
    found: list[str] = []
    stopped = threading.Event()

    def run() -> None:
        while not stopped.is_set():
            found.append(bake(podman, "--server", BALANCER))

    with concurrent.futures.ThreadPoolExecutor() as pool:
        bakes = pool.submit(run)
        try:
            wait("a bake before", lambda: found or bakes.done())
            yield
            count = len(found)
            wait("a bake after", lambda: len(found) >= count + 2 or bakes.done())
        finally:
            stopped.set()
    bakes.result()
    need("bakes", found, [bits] * len(found))
    step(f"{len(found)} bakes meanwhile")


def check(podman: Podman) -> None:
    text = subprocess.run(["kubectl", "kustomize", OVERLAY], stdout=subprocess.PIPE, check=True).stdout
    objects = [each for each in yaml.safe_load_all(text) if each]
    pods = [Pod(objects, workload, number) for workload in of_kind(objects, "Deployment", "StatefulSet")
            for number in range(workload["spec"]["replicas"])]
    replicas = [pod for pod in pods if pod.container["name"] == "sinewd"]
    step("start")
    podman.run("network", "create", "--disable-dns", NETWORK)
    podman.run("run", "--detach", "--name=client", f"--network={NETWORK}", f"--dns={NAME_SERVER}",
               "--entrypoint=sleep", IMAGES["sinew"], "infinity")
    # Otherwise the bridge has the address of one of its ports, and is not reached for a minute when that pod has ended.
    subprocess.run(["ip", "link", "set", podman.run("network", "inspect", "--format={{.NetworkInterface}}", NETWORK),
                    "address", "02:00:00:00:00:01"], check=True)
    played = yaml.safe_dump_all(of_kind(objects, "ConfigMap", "PersistentVolumeClaim") + [pod.object for pod in pods])
    podman.run("play", "kube", f"--network={NETWORK}", "-", text=played)
    wait("all are ready", lambda: all([podman.probe(pod, "readinessProbe") for pod in pods]))  # a list: asks all
    step(f"ready: {', '.join(pod.name for pod in pods)}")
    for pod in pods:
        check_rights(podman, pod)
        need(f"{pod.name}: probes", [kind for kind in pod.probes if not podman.probe(pod, kind)], [])
    step("bake")
    podman.run("exec", "client", "sinewd", "--probe", BALANCER)
    bits = bake(podman, "--local")
    need("a bake through the balancer", bake(podman, "--server", BALANCER), bits)
    keys = podman.run("exec", "sinew-redis-0-redis", "redis-cli", "--scan")
    need(f"a session in Redis, which has {keys}", "sinew:session:" in keys, True)
    stored = podman.run("exec", replicas[0].container_name, "find", "/store", "-type", "f").splitlines()
    need("files in the store", len(stored) > 0, True)
    used = max(replicas, key=podman.frames)
    need(f"frames of {used.name}", podman.frames(used), 6)
    step(f"kill {used.name}, which served it")
    with baking(podman, bits):
        podman.run("kill", used.container_name)
    need(f"{used.name} runs", podman.inspect(used, "State.Running"), "false")
    podman.run("pod", "start", used.name)  # as Kubernetes would
    wait(f"{used.name} is ready again", lambda: podman.probe(used, "readinessProbe"))
    wait(f"{used.name} serves again", lambda: bake(podman, "--server", BALANCER) == bits and podman.frames(used) > 0)
    step(f"stop {used.name}, which serves it again")
    with baking(podman, bits):
        podman.run("pod", "stop", f"--time={used.spec['terminationGracePeriodSeconds']}", used.name)
        need(f"exit code of {used.name}", podman.inspect(used, "State.ExitCode"), "0")
    podman.run("play", "kube", "--down", "-", text=played)
    need("pods that are left", podman.run("pod", "ps", "--quiet"), "")
    step(f"passed, {len(stored)} files in the store")


def main() -> None:
    work = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/container").resolve()
    if shutil.which("kubectl") is None or not (work / "storage.conf").exists():
        skip("kubectl is not installed, or tests/container.sh has not run")
    # The namespace ends with this process and what podman starts.
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        skip(f"cannot make a network namespace: {os.strerror(ctypes.get_errno())}")
    for words in ("link set lo up", f"address add {NAME_SERVER} dev lo"):
        subprocess.run(["ip", *words.split()], check=True)
    os.environ["no_proxy"] = "*"
    podman = Podman(work)
    try:
        check(podman)
    except Exception:
        for name in podman.run("ps", "--all", "--format={{.Names}}").split():
            print(f"-- {name}", file=sys.stderr, flush=True)
            subprocess.run([*podman.command, "logs", "--tail=15", name], stdout=sys.stderr, check=False)
        raise
    finally:
        podman.leave()


if __name__ == "__main__":
    try:
        import yaml
    except ImportError:
        skip("python3-yaml is not installed (deploy/install-deps.sh cluster)")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # removes the pods
    main()
