"""Floor 9: the typed configuration that the Snakefile and the command line share."""
