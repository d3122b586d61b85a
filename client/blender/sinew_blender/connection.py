"""The client of the chosen server, and jobs that wait for it beside Blender's main thread."""

import atexit
import ipaddress
import threading
import typing
import urllib.parse

import bpy
import sinew

_RETRY_SECONDS = 1.0  # between attempts while the server cannot be reached

_client: typing.Optional[sinew.Client] = None
generation = 0  # raised when the server changes: characters of an older one are not used


def preferences() -> bpy.types.AddonPreferences:
    return bpy.context.preferences.addons[__package__].preferences


def _on_this_machine(address: str) -> bool:
    if address.startswith("unix:"):
        return True
    try:
        host = urllib.parse.urlsplit(f"//{address}").hostname
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:  # the name of another host
        return False


def client() -> sinew.Client:
    """Does not wait for the server. Raises sinew.Error if the preferences cannot be used."""
    global _client
    chosen = preferences()
    online = getattr(bpy.app, "online_access", True)  # of Blender 4.2 and later
    if chosen.server == "REMOTE" and not online and not _on_this_machine(chosen.address):
        raise sinew.NotPermitted(f"Address: got {chosen.address}, but Blender may not use the network; switch on "
                                 "Preferences > System > Allow Online Access, or use a server on this machine",
                                 "PERMISSION_DENIED")
    if _client is None:
        if chosen.server == "LOCAL":
            _client = sinew.local()
        else:
            _client = sinew.connect(chosen.address, tls_ca=chosen.tls_ca or None, token_file=chosen.token_file)
    return _client


def is_remote() -> bool:
    """Whether frames come over a network."""
    chosen = preferences()
    return chosen.server == "REMOTE" and not _on_this_machine(chosen.address)


def server_name() -> str:
    """Of the chosen server, for messages."""
    chosen = preferences()
    return "server in Blender" if chosen.server == "LOCAL" else chosen.address


def failure(error: sinew.Error) -> str:
    """One line that names the server."""
    if error.code == "DEADLINE_EXCEEDED":
        return f"{server_name()}: does not answer in time"
    text, through, proxy = str(error).partition(" (through the proxy ")
    if error.code == "UNAVAILABLE" and not error.reason and "connect" in text.lower():
        cause = text.rpartition(":")[2].strip()  # the text is gRPC's own, which ends in the cause
        return f"No server at {server_name()} ({cause[:1].lower()}{cause[1:]}){through}{proxy}"
    return f"{server_name()}: {error}"


def reset() -> None:
    """The next call of client() makes a new one."""
    global _client, generation
    _client = None
    generation += 1


class Cancelled(Exception):
    """Raised in a job that shall end."""


class Job:
    """A function that runs in a thread: work(job). It may use numpy and sinew, never bpy."""

    _running: "typing.Set[Job]" = set()

    def __init__(self, work: typing.Callable[["Job"], typing.Any]) -> None:
        self.fraction = 0.0  # of the work
        self.result: typing.Any = None
        self.error: typing.Optional[Exception] = None
        self.lacks: typing.Optional[sinew.Error] = None  # why it waits for the server
        self._cancel = threading.Event()
        self._work = work
        self._thread = threading.Thread(target=self._run, name="sinew job", daemon=True)
        Job._running.add(self)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result = self._work(self)
        except Exception as error:  # pylint: disable=broad-except
            self.error = error
        finally:
            Job._running.discard(self)

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def progress(self, fraction: float) -> None:
        """For the progress argument of calls; ends them once the job is cancelled."""
        self.fraction, self.lacks = fraction, None
        if self._cancel.is_set():
            raise Cancelled()

    def wait_for_server(self, error: sinew.Error) -> None:
        """For a while, after which to try again."""
        self.lacks = error
        if self._cancel.wait(_RETRY_SECONDS):
            raise Cancelled()

    def cancel(self, timeout: float = 0.0) -> None:
        self._cancel.set()
        if timeout:
            self._thread.join(timeout)


def cancel_jobs() -> None:
    jobs = list(Job._running)
    for job in jobs:
        job.cancel()
    for job in jobs:
        job.cancel(timeout=1.0)


atexit.register(cancel_jobs)
