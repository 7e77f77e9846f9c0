"""`python -m analysis.pictures FORM < description.json > file`: a picture as a file, drawn in a process of its own."""

import json
import sys

from analysis.pictures.drawing import draw
from analysis.pictures.spec import from_dict


def main() -> int:
    try:
        drawn = draw(from_dict(json.load(sys.stdin)), sys.argv[1] if len(sys.argv) == 2 else "")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    sys.stdout.buffer.write(drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main())
