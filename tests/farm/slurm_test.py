"""deploy/farm/submit-slurm.sh on a real Slurm of two nodes on this machine, one of which dies during the job.

usage: slurm_test.py --sinew FILE      needs root, and the packages of `deploy/install-deps.sh farm`
"""

import argparse
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

_SKIP = 77  # what ctest takes as skipped
_PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "munged")
_SUBMIT = pathlib.Path(__file__).resolve().parents[2] / "deploy/farm/submit-slurm.sh"
_FRAMES, _CHUNK = 189, 12  # of "fist" at 96 frames a second

parser = argparse.ArgumentParser()
parser.add_argument("--sinew", type=pathlib.Path, required=True)
options, rest = parser.parse_known_args()


def _wait(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.1)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """A controller and two nodes of one processor each, with a munge of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = {}
        host = socket.gethostname().split(".")[0]
        folder.chmod(0o755)  # munged wants it
        (folder / "state").mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        lines = [
            "ClusterName=test", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root", "SlurmdUser=root",
            "AuthType=auth/munge", f"AuthInfo=socket={folder}/munge.socket", f"SlurmctldPort={_free_port()}",
            f"StateSaveLocation={folder}/state", f"SlurmctldPidFile={folder}/slurmctld.pid",
            f"SlurmdPidFile={folder}/%n.pid", f"SlurmdSpoolDir={folder}/%n", "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none", "SelectType=select/cons_tres", "ReturnToService=2",
            "JobAcctGatherType=jobacct_gather/none", "MpiDefault=none", "SlurmdTimeout=5", "JobRequeue=1"
        ]
        for node in ("n1", "n2"):
            (folder / node).mkdir()
            lines.append(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={_free_port()} CPUs=1 State=UNKNOWN")
        lines.append("PartitionName=farm Nodes=n1,n2 Default=YES State=UP")
        config = folder / "slurm.conf"
        config.write_text("\n".join(lines) + "\n")
        self.environment = dict(os.environ, SLURM_CONF=str(config),
                                PATH=f"{options.sinew.resolve().parent}:{os.environ['PATH']}")
        self._start("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={key}",
                    f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
                    f"--seed-file={folder}/munged.seed")
        _wait((folder / "munge.socket").exists, 10, "munged")
        self._start("slurmctld", "-D", "-c")
        for node in ("n1", "n2"):
            self._start("slurmd", "-D", "-N", node, name=node)
        _wait(lambda: self.output("sinfo", "-h", "-o", "%D %t") == "2 idle", 30, "two idle nodes")

    def _start(self, program, *arguments, name=None):
        with open(self.folder / f"{name or program}.out", "wb") as log:
            self.processes[name or program] = subprocess.Popen([shutil.which(program), *arguments], stdout=log,
                                                               stderr=log, env=self.environment)

    def output(self, *command):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.stderr}")
        return done.stdout.strip()

    def processes_of(self, node):
        """The tasks that run on a node, with their parents, the step daemons."""
        found = set()
        for entry in pathlib.Path("/proc").iterdir():
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
                if f"SLURMD_NODENAME={node}".encode() in variables and f"SLURM_CONF={self.environment['SLURM_CONF']}".encode() in variables:
                    found.add(int(entry.name))
                    parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                    if "slurmstepd" in pathlib.Path(f"/proc/{parent}/cmdline").read_text():
                        found.add(parent)
            except (OSError, ValueError):
                continue
        return found

    def kill_node(self, node):
        """Kills a node while a task runs on it, with that task, as a loss of power does."""
        _wait(lambda: self.processes_of(node), 60, f"a task on {node}")
        daemon = self.processes.pop(node)
        daemon.kill()
        daemon.wait()
        for pid in self.processes_of(node):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def stop(self):
        for process in reversed(self.processes.values()):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class SlurmTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinew-slurm-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cluster = Cluster(self.folder)
        self.addCleanup(self.cluster.stop)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.bake = ["model:hand", "--deformer", "implicit_skinning", "--fps", "96"]

    def submit(self, out):
        arguments = [str(_SUBMIT), f"0-{_FRAMES - 1}", str(_CHUNK), str(out), *self.bake, "--local"]
        done = subprocess.run(arguments, cwd=self.work, env=self.cluster.environment, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def wait_for_end(self, jobs, seconds):

        def is_over():
            return self.cluster.output("squeue", "-h", "-o", "%i", "-j", ",".join(jobs)) == ""

        try:
            _wait(is_over, seconds, f"jobs {jobs}")
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.cluster.output('squeue')}") from None

    def test_job_survives_the_death_of_a_node(self):
        out = self.work / "hand.pc2"
        jobs = self.submit(out)
        parts = self.work / "hand.pc2.parts"
        _wait(lambda: len(list(parts.glob("*.json"))) >= 2, 120, "two parts")
        self.cluster.kill_node("n1")
        self.assertFalse(out.exists())
        self.wait_for_end(jobs, 300)
        whole = self.folder / "whole.pc2"
        subprocess.run([options.sinew, "bake", *self.bake, "--out", whole, "--local", "--quiet"], check=True,
                       capture_output=True)
        log = "\n".join(path.read_text() for path in self.work.glob("slurm-*.out"))
        self.assertTrue(out.exists(), log)
        self.assertEqual(out.read_bytes(), whole.read_bytes())
        manifest = pathlib.Path(f"{out}.json")
        self.assertEqual(manifest.read_bytes(), pathlib.Path(f"{whole}.json").read_bytes())
        left = {path.name for path in self.work.iterdir() if not path.name.startswith("slurm-")}
        self.assertEqual(left, {out.name, manifest.name})


if __name__ == "__main__":
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing or os.geteuid() != 0:
        print(f"skipped: needs root and {' '.join(missing) or 'nothing else'}; see deploy/install-deps.sh farm")
        sys.exit(_SKIP)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
