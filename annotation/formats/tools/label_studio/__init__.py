from annotation.formats.info import LIKELY, Format, Writer, has_columns
from annotation.formats.tools.label_studio.config import is_config
from annotation.formats.tools.label_studio.reading import label_set_of, read
from annotation.formats.tools.label_studio.writing import LOSES, write

has_tasks = has_columns("data annotations", "data predictions", "data completions")

INFO = Format(
    slug="label-studio",
    title="Label Studio JSON",
    extensions=(".json", ".jsonl", ".xml"),
    reader=read,
    detect=lambda head: LIKELY if is_config(head.source) else has_tasks(head),
    label_set_of=label_set_of,
    writers={"label-studio": Writer(title="Label Studio JSON", write=write, loses=LOSES, has_suggestions=True)},
)
