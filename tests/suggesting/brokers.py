"""Redis and RabbitMQ servers of the tests' own: nobody else's messages are in them, and they can be killed."""

import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.suggesting.workers import kill_session

START_SECONDS = 60
# Debian's own command changes to a user whose folders are the system's; the one behind it goes by the environment.
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def command_of(name: str) -> str | None:
    """The server's program, or None where it is not installed."""
    if name == "RabbitMQ":
        return RABBITMQ if Path(RABBITMQ).exists() else shutil.which("rabbitmq-server")
    return shutil.which("redis-server")


@dataclass
class Server:
    """A broker on a free port, with its files in `folder`. Redis stores nothing: it forgets when it dies."""

    name: str
    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return (
            f"redis://127.0.0.1:{self.port}/0"
            if self.name == "Redis"
            else f"amqp://guest:guest@127.0.0.1:{self.port}//"
        )

    def start(self) -> None:
        arguments, variables = self._redis() if self.name == "Redis" else self._rabbitmq()
        with (self.folder / "said.log").open("ab") as output:
            self.process = subprocess.Popen(
                [command_of(self.name), *arguments],
                cwd=self.folder,
                env=os.environ | variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            is_over = self.process.poll() is not None or time.monotonic() > end
            assert not is_over, (self.folder / "said.log").read_text(errors="replace")[-3000:]
            time.sleep(0.05)

    def kill(self) -> None:
        """As a crash does it."""
        if self.process is not None:
            kill_session(self.process)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            probe.settimeout(0.5)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _redis(self) -> tuple[list[str], dict[str, str]]:
        return ["--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no"], {}

    def _rabbitmq(self) -> tuple[list[str], dict[str, str]]:
        settings = self.folder / "rabbitmq.conf"
        settings.write_text(f"listeners.tcp.local = 127.0.0.1:{self.port}\n")
        (self.folder / "empty.conf").touch()
        return [], {
            "HOME": str(self.folder),
            "RABBITMQ_CONF_ENV_FILE": str(self.folder / "empty.conf"),
            "RABBITMQ_CONFIG_FILE": str(settings.with_suffix("")),
            "RABBITMQ_NODENAME": f"assay-test-{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "ERL_EPMD_ADDRESS": "127.0.0.1",
        }
