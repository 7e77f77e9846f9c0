"""Assay from a program. `Assay` is the way in."""

from assay_client.client import Assay, AssayError, JobFailed, Project, Report

__all__ = ["Assay", "AssayError", "JobFailed", "Project", "Report"]
