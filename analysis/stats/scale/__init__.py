"""Labellers on an ordered or numeric scale: distances to people, errors along the scale, calibration, a verdict."""

from analysis.stats.scale.calibration import ScaleCalibration, isotonic_calibration
from analysis.stats.scale.distances import DistanceGap, distance_gap
from analysis.stats.scale.errors import ErrorsAlong, ScaleError, errors_along
from analysis.stats.scale.standing import ScaleStanding, scale_standing

__all__ = [
    "DistanceGap",
    "ErrorsAlong",
    "ScaleCalibration",
    "ScaleError",
    "ScaleStanding",
    "distance_gap",
    "errors_along",
    "isotonic_calibration",
    "scale_standing",
]
