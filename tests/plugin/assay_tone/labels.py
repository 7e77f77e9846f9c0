from annotation.task_types import Dimension, Label, TaskType

TONE = TaskType(
    slug="tone",
    variant="",
    version=1,
    title="Tone of a letter",
    summary="Judge the tone in which a letter speaks of a claim.",
    anchor_kind="evidence",
    unit_kind="evidence",
    contents="evidence",
    dimensions=(
        Dimension(
            slug="tone",
            title="Tone",
            question="In which tone is the letter written?",
            labels=(Label("calm", "Calm", polarity=-1.0), Label("loud", "Loud", polarity=1.0)),
            role="stance",
        ),
    ),
    template="assay_tone/tone.html",  # in the package's folder `templates`
    export_layout="content",
    checkers=("exclamations",),
)
