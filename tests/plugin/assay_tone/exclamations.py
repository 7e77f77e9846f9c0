from models_runtime.contracts import CheckerInfo, Prediction
from models_runtime.inputs import answer_each, read_passages
from models_runtime.labels.labelling import answer, label

INFO = CheckerInfo(
    slug="exclamations",
    version="1",
    kind="exclamations",
    title="Exclamation marks",
    summary="Takes letters with an exclamation mark for loud.",
    roles=("stance",),
    needs="cpu",
)


class Exclamations:
    def __init__(self, info, spaces, parameters):
        self.info, self.spaces, self.parameters = info, spaces, parameters

    def describe(self):
        described = {"checker": self.info.slug, "version": self.info.version, "parameters": self.parameters}
        return described | {"model": "", "revision": "", "device": "cpu", "libraries": {}}

    def predict(self, inputs):
        return answer_each(inputs, self._answer)

    def _answer(self, item):
        support = 1.0 if any("!" in text for _, text in read_passages(item)) else -1.0
        return Prediction(item.id, answer(self.spaces, lambda space: label(space, relevance=1.0, support=support)), {})


build = Exclamations
