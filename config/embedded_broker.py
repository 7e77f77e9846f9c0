"""Kombu's file-system transport, made safe for several processes that start, write and die at the same moment.

Kombu reads a message file that its writer has opened and not yet filled, and two processes that start together can
leave an empty routing table behind. Here one file lock goes round every step, and what a killed writer left is dropped.
"""

import contextlib
import fcntl
import os

from kombu.transport import filesystem
from kombu.utils.json import loads


class Channel(filesystem.Channel):
    @contextlib.contextmanager
    def _locked(self):
        with open(os.path.join(self.data_folder_in, "lock"), "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _put(self, queue, payload, **kwargs):
        with self._locked():
            super()._put(queue, payload, **kwargs)

    def _get(self, queue):
        ending = f".{queue}.msg"
        with self._locked():
            for name in sorted(name for name in os.listdir(self.data_folder_in) if name.endswith(ending)):
                if name.partition(".")[2] != ending[1:]:
                    continue
                path = os.path.join(self.data_folder_in, name)
                with open(path, "rb") as file:
                    raw = file.read()
                os.remove(path)
                with contextlib.suppress(ValueError):
                    return loads(raw.decode())
        raise filesystem.Empty

    def get_table(self, exchange):
        with self._locked():
            try:
                return super().get_table(exchange)
            except ValueError:
                self._exchange_file(exchange).unlink()
                return []

    def _queue_bind(self, exchange, routing_key, pattern, queue):
        self.get_table(exchange)  # throws a broken table away
        with self._locked():
            super()._queue_bind(exchange, routing_key, pattern, queue)

    def _delete(self, queue, exchange, routing_key, pattern, *args, **kwargs):
        self.get_table(exchange)
        with self._locked():
            super()._delete(queue, exchange, routing_key, pattern, *args, **kwargs)


class Transport(filesystem.Transport):
    Channel = Channel
