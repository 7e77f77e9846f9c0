"""The notebooks of docs/notebooks, cell by cell in one namespace, without a kernel: they give the outputs that they
show. RENEW_NOTEBOOKS=1 stores the new ones."""

import ast
import contextlib
import io
import json
import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def executed(source: str, names: dict) -> list[dict]:
    """The outputs of a cell: what it printed, and the value of its last line."""
    tree, value, printed = ast.parse(source), None, io.StringIO()
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(last, "<cell>", "eval"), names)
    outputs = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if value is not None:
        shown = {"text/plain": repr(value).splitlines(keepends=True)}
        outputs.append({"data": shown, "metadata": {}, "output_type": "execute_result"})
    return outputs


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["agreement", "checker", "judge"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_gives_the_outputs_that_it_shows(path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    notebook, names, number = json.loads(path.read_text("utf-8")), {}, 0
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        outputs = executed("".join(cell["source"]), names)
        for output in outputs:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number
        if "RENEW_NOTEBOOKS" in os.environ:
            cell |= {"outputs": outputs, "execution_count": number}
        assert cell["outputs"] == outputs and cell["execution_count"] == number, f"cell {number}"
    assert any(cell["outputs"] for cell in cells)
    if "RENEW_NOTEBOOKS" in os.environ:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
