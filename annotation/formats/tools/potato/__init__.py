from annotation.formats.info import SURE, Format, Writer, has_columns
from annotation.formats.tools.potato.reading import is_output, label_set_of, read
from annotation.formats.tools.potato.writing import LOSES, write

has_answers = has_columns("displayed_text label_annotations", "user_id instance_id_to_label_to_value")

INFO = Format(
    slug="potato",
    title="Potato output (zip or folder)",
    extensions=(".json", ".jsonl", ".yaml", ".yml"),
    reader=read,
    detect=lambda head: SURE if any(map(is_output, head.names)) else has_answers(head),
    has_content_file=True,
    label_set_of=label_set_of,
    writers={"potato": Writer(title="Potato 2 (zip)", write=write, loses=LOSES)},
)
