"""Reports, a folder each in that of their family: `compute.py` computes, `report.py` has its rows, page and methods
(large reports: `result.py` and `show.py`). `metrics.py` lists them; modules directly in this folder are shared."""
