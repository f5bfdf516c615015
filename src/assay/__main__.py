"""`python -m assay`: the `assay` command."""

from assay.cli.main import app

app(prog_name="assay")
