"""What the first report of a worker would wait for: loading libraries takes nearly as long as its first figures."""

from importlib import import_module

# What first figures are computed with. Tests and pictures need more (scipy.stats, matplotlib), which takes longer than
# all of this, and which nobody waits for who has figures to look at.
MODULES = ("pandas", "scipy.sparse", "scipy.special", "analysis.stats", "analysis.reports.handler")


def load() -> None:
    """Load what reports need before they can show first figures."""
    for name in MODULES:
        import_module(name)
    from analysis.reports.metrics import REPORTS

    list(REPORTS)  # which imports them
