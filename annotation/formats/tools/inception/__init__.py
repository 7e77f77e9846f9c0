from annotation.formats.info import SURE, Format, Writer
from annotation.formats.tools.inception.reading import is_export, label_set_of, looks_like_document, read
from annotation.formats.tools.inception.writing import LOSES, write, write_xmi

INFO = Format(
    slug="inception",
    title="INCEpTION (UIMA CAS JSON or XMI)",
    extensions=(".json", ".xmi", ".xml"),
    reader=read,
    detect=lambda head: SURE if is_export(head.packed) or (not head.packed and looks_like_document(head.start)) else 0,
    label_set_of=label_set_of,
    writers={
        "inception": Writer(title="INCEpTION (zip, UIMA CAS JSON)", write=write, loses=LOSES, needs="cassis"),
        "inception-xmi": Writer(title="INCEpTION (zip, UIMA CAS XMI)", write=write_xmi, loses=LOSES, needs="cassis"),
    },
)
