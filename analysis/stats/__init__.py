"""What labels say, as pure numpy and scipy: arrays in, result objects with intervals out. Usable in a notebook."""

from .alpha import Alpha, krippendorff_alpha
from .bootstrap import Estimate, Interval
from .cohen import CohenKappa, cohen_kappa, cohen_kappa_table
from .confusion import Classification, LabelFigures, classification
from .correlation import Correlation, kendall_tau_b, pearson, spearman
from .fleiss import FleissKappa, fleiss_kappa
from .labels import Labels, encode
from .percent import PercentAgreement, percent_agreement, pooled_percent_agreement
from .rates import LabelRates, ModelRates, label_rates
from .voting import Majority, majority

__all__ = [
    "Alpha",
    "Classification",
    "CohenKappa",
    "Correlation",
    "Estimate",
    "FleissKappa",
    "Interval",
    "LabelFigures",
    "LabelRates",
    "Labels",
    "Majority",
    "ModelRates",
    "PercentAgreement",
    "classification",
    "cohen_kappa",
    "cohen_kappa_table",
    "encode",
    "fleiss_kappa",
    "kendall_tau_b",
    "krippendorff_alpha",
    "label_rates",
    "majority",
    "pearson",
    "percent_agreement",
    "pooled_percent_agreement",
    "spearman",
]
