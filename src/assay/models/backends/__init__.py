"""Runtimes: each gives the `Model` protocol of `assay.core.model`."""
