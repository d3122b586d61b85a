"""Exceptions. Every error of a server, a file or an argument is a sinew.Error."""

import typing


class Error(Exception):
    """What went wrong; str() says what was found and what is allowed.

    code: name of the gRPC code, such as "INVALID_ARGUMENT".
    field: path of the wrong field in the request, or place in the file; may be empty.
    reason: short name of the cause, such as "LIMIT" or "DRAINING"; may be empty.
    limits: names of the limits that were exceeded.
    retry_after: seconds after which a retry may succeed, or None.
    exit_code: what the command line would exit with: 65 bad input, 69 unavailable, 73 cannot write,
        75 temporary, 77 not permitted, 70 internal.
    """

    def __init__(self, message: str, code: str = "UNKNOWN", field: str = "", reason: str = "",
                 limits: typing.Iterable[str] = (), retry_after: typing.Optional[float] = None,
                 exit_code: int = 70) -> None:
        super().__init__(message)
        self.code = code
        self.field = field
        self.reason = reason
        self.limits = list(limits)
        self.retry_after = retry_after
        self.exit_code = exit_code


class InvalidArgument(Error, ValueError):
    """INVALID_ARGUMENT, OUT_OF_RANGE or FAILED_PRECONDITION: what was given cannot be used."""


class NotFound(Error, LookupError):
    """NOT_FOUND: no such file, folder, rig or session."""


class LimitExceeded(Error):
    """RESOURCE_EXHAUSTED: see `limits` and `retry_after`."""


class Unavailable(Error):
    """UNAVAILABLE: no server, or it is about to stop."""


class Timeout(Error, TimeoutError):
    """DEADLINE_EXCEEDED: no answer, or no frame, in the time that was given."""


class NotPermitted(Error):
    """UNAUTHENTICATED or PERMISSION_DENIED, by a server or where a file is written."""


class Damaged(Error):
    """DATA_LOSS: bytes are not what their checksum says."""


class FileWarning(UserWarning):
    """What an importer changed or lost of a character file so that it may show in the result."""


_CLASSES = {
    "INVALID_ARGUMENT": InvalidArgument,
    "OUT_OF_RANGE": InvalidArgument,
    "FAILED_PRECONDITION": InvalidArgument,
    "NOT_FOUND": NotFound,
    "RESOURCE_EXHAUSTED": LimitExceeded,
    "UNAVAILABLE": Unavailable,
    "DEADLINE_EXCEEDED": Timeout,
    "UNAUTHENTICATED": NotPermitted,
    "PERMISSION_DENIED": NotPermitted,
    "DATA_LOSS": Damaged,
}


def make(code: str, message: str, field: str, reason: str, limits: typing.List[str],
         retry_after: typing.Optional[float], exit_code: int) -> Error:
    """The exception of a status. Called by the extension module."""
    return _CLASSES.get(code, Error)(message or code, code, field, reason, limits, retry_after,
                                     exit_code)
