"""Agreement of raters: coefficients, their differences and tests."""

from analysis.stats.agreement.alpha import Alpha, krippendorff_alpha
from analysis.stats.agreement.chance_corrected import ChanceCorrected, brennan_prediger, gwet_ac, scott_pi
from analysis.stats.agreement.cohen import CohenKappa, cohen_kappa, cohen_kappa_table, shared_units
from analysis.stats.agreement.difference import AgreementDifference, agreement_difference
from analysis.stats.agreement.fleiss import FleissKappa, fleiss_kappa
from analysis.stats.agreement.inverse_probability import WeightedAgreement, weighted_agreement
from analysis.stats.agreement.leave_one_out import OthersAgreement, agreement_with_others, mean_share, shares_of_others
from analysis.stats.agreement.percent import PercentAgreement, percent_agreement, pooled_percent_agreement
from analysis.stats.agreement.permutation import PermutationTest, agreement_permutation_test
from analysis.stats.agreement.sets import jaccard_distance, masi_distance, set_alpha
from analysis.stats.agreement.two_way import agreement_effect, clustered_agreement

__all__ = [
    "AgreementDifference",
    "Alpha",
    "ChanceCorrected",
    "CohenKappa",
    "FleissKappa",
    "OthersAgreement",
    "PercentAgreement",
    "PermutationTest",
    "WeightedAgreement",
    "agreement_difference",
    "agreement_effect",
    "agreement_permutation_test",
    "agreement_with_others",
    "brennan_prediger",
    "clustered_agreement",
    "cohen_kappa",
    "cohen_kappa_table",
    "fleiss_kappa",
    "gwet_ac",
    "jaccard_distance",
    "krippendorff_alpha",
    "masi_distance",
    "mean_share",
    "percent_agreement",
    "pooled_percent_agreement",
    "scott_pi",
    "set_alpha",
    "shared_units",
    "shares_of_others",
    "weighted_agreement",
]
