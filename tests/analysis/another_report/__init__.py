"""A report from outside the package, as CONTRIBUTING.md says how one is made: how many labels each person gave."""
