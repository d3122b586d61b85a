"""Futures of frames that are on their way."""

import concurrent.futures
import threading
import typing

from .errors import Error

if typing.TYPE_CHECKING:
    import numpy.typing as npt

    from ._sinew import Frame, Poses, Stream


class PoseFutures:
    """Poses in, futures of frames out, with several poses in flight. From Character.futures().

        with character.futures() as stream:
            waiting = [stream.submit(pose) for pose in poses.joints]
            for future in waiting:
                show(future.result().positions)

    At the end of `with`, all futures are done. After an exception in it they end with an Error, as they do when the
    stream cannot be continued.
    """

    def __init__(self, stream: "Stream") -> None:
        self._stream = stream
        self._changed = threading.Condition()
        self._waiting: "typing.Dict[int, concurrent.futures.Future[Frame]]" = {}  # by the number of the pose
        self._ended: typing.Optional[Error] = None  # what ended the stream
        self._reader = threading.Thread(target=self._read, name="sinew frames", daemon=True)
        self._reader.start()

    def submit(self, pose: "typing.Union[npt.ArrayLike, Poses]", controls: "typing.Optional[npt.ArrayLike]" = None,
               time: typing.Optional[float] = None) -> "concurrent.futures.Future[Frame]":
        """Sends a pose; returns a concurrent.futures.Future of its Frame, or of the error of this pose.

        Waits while as many poses are queued as the stream may hold. May be called from several threads.
        """
        future: "concurrent.futures.Future[Frame]" = concurrent.futures.Future()
        future.set_running_or_notify_cancel()
        with self._changed:
            self._changed.wait_for(lambda: self._ended is not None or self._stream.room > 0)
            if self._ended is not None:
                raise self._ended
            self._waiting[self._stream.send(pose, controls, time)] = future
        return future

    def _read(self) -> None:
        try:
            while (item := self._stream._next_item()) is not None:
                number, frame, error = item
                with self._changed:
                    future = self._waiting.pop(number)
                    self._changed.notify_all()
                if error is None:
                    future.set_result(frame)
                else:
                    future.set_exception(error)
            with self._changed:
                self._ended = Error("stream: it has ended, no pose can be sent", code="FAILED_PRECONDITION")
                self._changed.notify_all()
        except Error as error:
            with self._changed:
                self._ended = error
                self._changed.notify_all()
            for future in self._waiting.values():
                future.set_exception(error)

    def __enter__(self) -> "PoseFutures":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._stream.finish()
        else:
            self._stream.cancel()
        self._reader.join()
