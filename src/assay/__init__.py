"""Assay: is a leaderboard difference real, why does a model fail, which change to deploy."""
