"""`python -m assay`."""

import sys

from assay.command import main

if __name__ == "__main__":
    sys.exit(main())
