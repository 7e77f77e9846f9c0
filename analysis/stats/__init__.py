"""What labels say, as pure numpy and scipy: arrays in, result objects with intervals out. Usable in a notebook."""

from analysis.stats import accuracy, agreement, annotators, correlation, generation, planning, resampling, spans
from analysis.stats.accuracy import *
from analysis.stats.agreement import *
from analysis.stats.annotators import *
from analysis.stats.correlation import *
from analysis.stats.generation import *
from analysis.stats.labels import Labels, encode
from analysis.stats.planning import *
from analysis.stats.resampling import *
from analysis.stats.spans import *

FAMILIES = (accuracy, agreement, annotators, correlation, generation, planning, resampling, spans)
__all__ = ["Labels", "encode", *(name for family in FAMILIES for name in family.__all__)]
