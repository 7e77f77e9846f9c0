"""A broker that dies while workers are busy: what the worker does with the connection that it lost."""

import contextlib

import kombu
import pytest
from kombu.common import ignore_errors
from kombu.transport import redis as stock

from config import redis_broker
from config.celery import app
from tests.suggesting.brokers import Server, command_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.services,
    pytest.mark.skipif(command_of("Redis") is None, reason="Redis is not installed"),
]


def lose_a_connection(server: Server, transport: type) -> None:
    """Hold a message and wait for another when the server is killed; then give the connection up as Celery does."""
    connection = kombu.Connection(server.url, transport=transport)
    queue = kombu.Queue("held", routing_key="held", channel=connection.default_channel)
    queue.declare()
    with connection.Producer() as producer:
        producer.publish({}, routing_key="held")
    held = []
    consumer = connection.Consumer([queue], callbacks=[lambda body, message: held.append(message)])
    consumer.consume()
    connection.drain_events(timeout=5)
    assert held and connection.default_channel.qos._delivered
    replies = kombu.Queue("replies", kombu.Exchange("replies", type="fanout"), auto_delete=True)
    connection.Consumer([replies], channel=connection.channel()).consume()  # as remote control does
    connection.default_channel._brpop_start()
    server.kill()
    with contextlib.suppress(Exception):
        connection.collect(socket_timeout=1)
    ignore_errors(connection, connection.close)


@pytest.fixture
def server(tmp_path):
    server = Server("Redis", tmp_path)
    server.start()
    yield server
    server.kill()


def test_a_busy_worker_closes_a_connection_that_redis_dropped(server):
    lose_a_connection(server, redis_broker.RedisTransport)


def test_kombu_still_needs_the_transport_of_ours(server):
    """Where this fails, `config/redis_broker.py` can go."""
    with pytest.raises(AttributeError, match="hostname"):
        lose_a_connection(server, stock.Transport)


def test_workers_use_the_transport_and_never_stop_looking_for_their_broker():
    for scheme in ("redis", "rediss"):
        assert kombu.Connection(f"{scheme}://127.0.0.1:1/0").get_transport_cls() is redis_broker.RedisTransport
    assert app.conf.broker_connection_max_retries is None
