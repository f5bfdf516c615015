"""The `assay` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli.errors import clear_errors
from assay.cli.evaluation_commands import register
from assay.config import load_study
from assay.core.cache import cache_root

app = typer.Typer(
    help="Is a leaderboard difference real, why does a model fail, which change to deploy?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
snapshot_app = typer.Typer(help="Frozen benchmark items.", no_args_is_help=True)
app.add_typer(snapshot_app, name="snapshot")
register(app)

ConfigFiles = Annotated[
    list[Path],
    typer.Option("--configfile", help="run file; later ones are laid over earlier ones"),
]
_DEFAULT = [Path("config/config.yaml")]


def _files(files: list[Path]) -> list[Path]:
    return files if files[:1] == _DEFAULT else [*_DEFAULT, *files]


@app.command()
def summary(configfile: ConfigFiles = _DEFAULT) -> None:
    """Print a study's three main sentences, what collecting took, and where the report is."""
    from assay.cli.summary import summary_lines

    with clear_errors():
        for line in summary_lines(load_study(*_files(configfile))):
            print(line)


@app.command()
def reconcile(configfile: ConfigFiles = _DEFAULT) -> None:
    """Mark results as undone that were made with other code or parameters than the present."""
    from assay.config.reconcile import reconcile as compare

    with clear_errors():
        for path, reason in compare(load_study(*_files(configfile))):
            print(f"stale: {path} ({reason}); it will be made anew")


@app.command()
def doctor(
    configfile: ConfigFiles = _DEFAULT,
    profile: Annotated[Path, typer.Option(help="folder of the cluster's profile")] = Path(
        "profiles/slurm"
    ),
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Say what is missing or wrong on this machine or cluster; leave with status 1 if it is."""
    from rich.console import Console

    from assay.cli.doctor import examine
    from assay.cli.doctor.table import as_json, print_table

    with clear_errors():
        checks = examine(_files(configfile), profile, Path.cwd())
    if json:
        print(as_json(checks))
    else:
        print_table(checks, Console())
    if any(check.state == "wrong" for check in checks):
        raise typer.Exit(1)


@app.command()
def analyze(
    source: Annotated[
        Path, typer.Argument(help="long table (CSV, parquet), released records, or shards")
    ],
    out: Annotated[Path, typer.Option(help="folder for leaderboard.json and tables/")],
    reference: Annotated[
        str | None, typer.Option(help="configuration to read a table's leaderboard at")
    ] = None,
    options: Annotated[
        int | None, typer.Option(help="options of every item, where a table does not say")
    ] = None,
    alpha: Annotated[float, typer.Option(help="share of claims that may be wrong")] = 0.05,
    margin: Annotated[float, typer.Option(help="difference that does not matter")] = 0.02,
    seed: Annotated[int, typer.Option(help="of everything that is drawn")] = 1234,
    allow_missing: Annotated[bool, typer.Option(help="analyse incomplete data")] = False,
    quick: Annotated[bool, typer.Option(help="leave out the further findings")] = False,
) -> None:
    """Analyse outcomes collected anywhere, without the workflow, and print what they say."""
    from assay.cli.analyze import Options, analyze_source, readings
    from assay.leaderboard import write

    with clear_errors():
        chosen = Options(
            study=out.name,
            alpha=alpha,
            margin=margin,
            seed=seed,
            allow_missing=allow_missing,
            reference=reference,
            options=options,
            quick=quick,
        )
        leaderboard = analyze_source(source, chosen)
        write(leaderboard, out)
        for line in readings(leaderboard):
            print(line)
        print(f"\nNumbers: {out / 'leaderboard.json'}, tables: {out / 'tables'}")


@app.command("compare-shards")
def compare_shards(
    first: Annotated[Path, typer.Argument(help="folder of a shard")],
    second: Annotated[Path, typer.Argument(help="folder of a shard of the same questions")],
    bound: Annotated[float, typer.Option(help="nats a token by which scores may differ")] = 1e-3,
) -> None:
    """Say where two runtimes answered alike; leave with status 1 where they did not."""
    from assay.cli.compare import comparison_lines
    from assay.records.compare import compare_shards as compare
    from assay.records.shard import read_shard

    with clear_errors():
        found = compare(read_shard(first), read_shard(second), bound=bound)
    for line in comparison_lines(found):
        print(line)
    if not found.equal:
        raise typer.Exit(1)


@app.command()
def export(
    layout: Annotated[
        Literal["released", "every_eval_ever", "lm_eval"], typer.Argument(help="whose layout")
    ],
    out: Annotated[Path, typer.Option(help="folder to write to, new or empty")],
    sources: Annotated[
        list[Path] | None, typer.Argument(help="folders with shards; by default the study's own")
    ] = None,
    configfile: ConfigFiles = _DEFAULT,
    extractor: Annotated[str, typer.Option(help="who reads the generated texts")] = "standard",
    allow_missing: Annotated[bool, typer.Option(help="export incomplete data")] = False,
) -> None:
    """Write collected answers in another project's layout."""
    from assay.cli.export import export_shards

    with clear_errors():
        if sources is None:
            sources = [plan.folder for plan in load_study(*_files(configfile)).present]
        paths = export_shards(
            layout, sources, out, extractor=extractor, allow_missing=allow_missing
        )
        print(f"{len(paths)} files below {out}; bits by the {extractor} extractor")


@app.command()
def pin(
    repo: Annotated[str, typer.Argument(help="hub repository, such as allenai/ai2_arc")],
    kind: Annotated[Literal["model", "dataset"], typer.Option(help="what it holds")] = "dataset",
    revision: Annotated[str, typer.Option(help="branch or tag to resolve")] = "main",
) -> None:
    """Print the commit that a branch or tag of a hub repository points to now."""
    from assay.benchmarks.sources.hub import resolve_revision

    with clear_errors():
        print(resolve_revision(repo, kind, revision))


@app.command()
def schema(
    folder: Annotated[Path, typer.Argument(help="where the schemas lie")] = Path(
        "workflow/schemas"
    ),
) -> None:
    """Write the JSON Schemas of run files, registries, records and results."""
    from assay.cli.schemas import write_schemas

    with clear_errors():
        for path in write_schemas(folder):
            print(path)


@snapshot_app.command("show")
def snapshot_show(folder: Annotated[Path, typer.Argument(help="snapshot folder")]) -> None:
    """Say what a snapshot holds and where it came from."""
    from assay.benchmarks.describe import describe
    from assay.benchmarks.snapshot import read_snapshot

    with clear_errors():
        print(describe(read_snapshot(folder)))


@snapshot_app.command("verify")
def snapshot_verify(
    folders: Annotated[list[Path], typer.Argument(help="snapshot folders")],
) -> None:
    """Check that snapshots are byte for byte what their manifests say."""
    from assay.benchmarks.snapshot import read_snapshot

    with clear_errors():
        for folder in folders:
            snapshot = read_snapshot(folder)
            print(f"{folder}: {len(snapshot.items)} items, as the manifest says")


@app.command("cache")
def cache() -> None:
    """Print the folder of downloads and converted weights."""
    print(cache_root())


if __name__ == "__main__":
    app()
