"""Floor 9: the `assay` command."""
