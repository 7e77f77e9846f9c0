"""`python -m analysis.judge results.csv --judge verdict --human human`: may the judge be used?"""

import sys

from analysis.judge.command import main

if __name__ == "__main__":
    sys.exit(main())
