#!/usr/bin/env python
"""Django's command line."""

from assay.managing import manage

if __name__ == "__main__":
    manage()
