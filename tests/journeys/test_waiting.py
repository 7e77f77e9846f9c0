"""In the demo, what people wait for does not queue behind checkers: a report is there in seconds while checkers
compute for minutes and a language model's server does not answer, and the run says what it waits for."""

from __future__ import annotations

import json
import re
import socket
import threading
import time

import pytest

from models_runtime.llm.endpoints import VARIABLE
from models_runtime.outside import VARIABLE as CHECKERS

from .demo import made_before, manage, running_demo, wait_until
from .test_demo import sign_in, text_of

pytestmark = pytest.mark.slow

PROJECT, OTHER = "demo-stance", "demo-inference"
RUNNING = ">running<"
REPORT_SECONDS = 30  # on a machine that has other things to do; before, it took as long as the work before it
# In the place of a training, and as long as one.
NAP = """
import time
from models_runtime.contracts import CheckerInfo, Prediction, ScoreInfo

INFO = CheckerInfo("nap", "1", "nap", "Nap", "Takes its time.", (), "cpu", gives="scores",
                   scores=(ScoreInfo("slept", "Seconds"),))

class build:
    def __init__(self, info, spaces, parameters):
        pass

    def describe(self):
        return {"checker": "nap", "version": "1", "model": "", "revision": "", "parameters": {}, "device": "cpu"}

    def predict(self, inputs):
        time.sleep(300)
        return [Prediction(one.id, scores={"slept": 300.0}) for one in inputs]
"""


@pytest.fixture
def silent():
    """The port of a server that takes every connection and answers nothing."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        kept = []

        def take():
            try:
                while True:
                    kept.append(listening.accept()[0])
            except OSError:
                pass

        threading.Thread(target=take, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        for connection in kept:
            connection.close()


def test_a_report_is_there_while_everything_else_is_busy(silent, tmp_path, tmp_path_factory, capsys):
    (tmp_path / "nap.py").write_text(NAP)
    endpoints = json.dumps({"main": {"url": f"http://127.0.0.1:{silent}/v1", "model": "m"}})
    more = {VARIABLE: endpoints, CHECKERS: "nap", "PYTHONPATH": str(tmp_path)}
    with running_demo(made_before(tmp_path_factory, "waiting"), **more) as demo:
        opener, _ = sign_in(demo, "researcher")

        def run_page(project: str, checker: str) -> str:
            listed = text_of(opener, f"{demo.address}/projects/{project}/runs/")
            return text_of(opener, demo.address + re.search(rf'href="(/runs/[0-9a-f-]+/)">{checker} ', listed)[1])

        def waiting() -> str:
            page = run_page(PROJECT, "llm")
            return page if "Waiting since" in page else ""

        manage(demo.folder, "run_checker", PROJECT, "llm", **more)
        page = wait_until(waiting, 90, "the run had given its worker back")
        assert f"the server main at 127.0.0.1:{silent} cannot be reached" in page and "Next try at" in page
        for project in (PROJECT, OTHER):
            manage(demo.folder, "run_checker", project, "nap", **more)

        def are_busy() -> bool:
            return all(RUNNING in run_page(project, "nap") for project in (PROJECT, OTHER))

        wait_until(are_busy, 60, "both processes of the checkers were busy")
        begun = time.monotonic()
        report = f"{demo.address}/projects/{PROJECT}/agreement/"
        wait_until(lambda: "Percent agreement" in text_of(opener, report), REPORT_SECONDS, "the report was there")
        took = time.monotonic() - begun
        assert are_busy() and waiting()
        with capsys.disabled():
            print(f"\nan agreement report, beside busy checkers and a server that is away: {took:.1f} s")
