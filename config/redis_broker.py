"""Kombu's Redis transport, made safe for a worker whose Redis dies while it has messages in hand.

The worker first collects its connection and then closes the channels on it, which try to put the messages back. With
kombu 5.7.0 the channel then looks up the address on a connection that is gone and raises an AttributeError, which
Celery does not take for a lost connection: the worker ends. `tests/suggesting/test_broker_death.py` fails once kombu
does without this.
"""

from kombu.transport import redis


class RedisChannel(redis.Channel):
    def _connparams(self, *args, **kwargs):
        if self.connection is None or self.connection.client is None:
            raise ConnectionError("The channel's connection to Redis is closed")
        return super()._connparams(*args, **kwargs)


class RedisTransport(redis.Transport):
    Channel = RedisChannel
