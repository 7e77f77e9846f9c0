"""`make demo`: the command `assay demo` of this checkout."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from assay.serving import demo

    sys.exit(demo(sys.argv[1:]))
