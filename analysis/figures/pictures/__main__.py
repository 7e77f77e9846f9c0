"""A picture as a file: `python -m analysis.figures.pictures FORM < description.json > file`."""

import json
import sys

from analysis.figures.pictures.drawing import draw
from analysis.figures.pictures.spec import from_dict


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
