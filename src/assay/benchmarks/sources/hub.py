"""Items and weights from a Hugging Face Hub at one commit (`HF_ENDPOINT` and tokens are obeyed)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from functools import partial
from pathlib import Path

from assay.benchmarks.sources.holding import Contents, Holding, Kind
from assay.benchmarks.sources.rows import Row
from assay.core.errors import SourceError
from assay.core.pins import HubPin

#: What a safetensors model needs; never pickled weights, never code.
MODEL_FILES = ("*.safetensors", "*.json", "*.txt", "*.jinja", "tokenizer.model", "*.tiktoken")
#: Duplicates of the weights in other layouts.
NOT_MODEL_FILES = ("*/*",)
#: Fetched besides for an entry that says `trust_remote_code: true`.
CODE_FILES = ("*.py",)


def fetch(pin: HubPin, cache: Path, offline: bool) -> dict[str, str]:
    """Fetch the files of a dataset's configuration and split; return the sha256 of each."""
    _, contents = _held("dataset", pin, cache, offline, _download_split)
    return {name: held.sha256 for name, held in contents.files.items()}


def read_rows(pin: HubPin, cache: Path, offline: bool) -> Iterator[Row]:
    """Yield the rows of a dataset's configuration and split from verified files.

    Class labels stay numbers, as they are in the files.
    """
    from assay.benchmarks.sources.formats import read_table

    holding, contents = _held("dataset", pin, cache, offline, _download_split)
    for name in contents.files:
        with holding.path(contents, name).open("rb") as stream:
            yield from read_table(stream, f"{pin.repo}/{name}")


def download_model(pin: HubPin, cache: Path, offline: bool, *, code: bool = False) -> Path:
    """Return the folder of a model's verified safetensors, configuration and tokenizer files.

    Parameters
    ----------
    code : bool
        Fetch the repository's Python files too; without it none is ever on this machine.

    Raises
    ------
    SourceError
        If the model is gated, unknown, unreachable, has no safetensors, or was altered.
    """
    holding, contents = _held(
        "model_with_code" if code else "model",
        pin,
        cache,
        offline,
        partial(_download_model, patterns=MODEL_FILES + (CODE_FILES if code else ())),
    )
    return holding.cache / contents.folder


def resolve_revision(repo: str, repo_type: Kind, branch: str = "main") -> str:
    """Return the 40 hex digits of the commit that `branch` names now, to be pasted as a pin.

    Raises
    ------
    SourceError
        If the repository or the branch does not exist, or the hub cannot be reached.
    """
    from huggingface_hub import HfApi

    with _explained(repo, branch):
        info = HfApi().repo_info(repo, repo_type=repo_type, revision=branch)
    return str(info.sha)


def _held(
    kind: Kind,
    pin: HubPin,
    cache: Path,
    offline: bool,
    download: Callable[[HubPin, Path], tuple[Path, list[str]]],
) -> tuple[Holding, Contents]:
    """Return the verified holding of `pin`, downloading what is absent unless `offline`."""
    holding = Holding(kind, pin, cache)
    contents = holding.recorded()
    if offline and contents is None:
        raise SourceError(
            f"{pin.repo} is not in the cache, or its fetch never came to its end.",
            where=f"{pin.repo}@{pin.revision}",
            fix="fetch it once with a connection (run without --offline).",
        )
    if contents is None or (not offline and holding.absent(contents)):
        with _explained(pin.repo, pin.revision):
            _check_access(kind, pin)
            folder, files = download(pin, cache / "hub")
        contents = holding.record(folder, files)
    holding.verify(contents)
    return holding, contents


def _check_access(kind: Kind, pin: HubPin) -> None:
    """Ask first whether the repository is open: `datasets` loses the reason when it is not."""
    from huggingface_hub import HfApi

    HfApi().auth_check(pin.repo, repo_type="dataset" if kind == "dataset" else "model")


def _download_split(pin: HubPin, folder: Path) -> tuple[Path, list[str]]:
    """Let `datasets` say which files make up the split, and fetch just those."""
    from datasets import load_dataset_builder
    from huggingface_hub import snapshot_download

    builder = load_dataset_builder(pin.repo, pin.config, revision=pin.revision)
    splits = builder.config.data_files or {}
    if pin.split not in splits:
        raise SourceError(
            f"there is no split {pin.split!r}.",
            where=f"{pin.repo}@{pin.revision}",
            fix=f"use one of: {', '.join(sorted(map(str, splits)))}.",
        )
    files = [str(url).split(f"@{pin.revision}/", 1)[1] for url in splits[pin.split]]
    snapshot = snapshot_download(
        pin.repo,
        repo_type="dataset",
        revision=pin.revision,
        cache_dir=folder,
        allow_patterns=files,
    )
    return Path(snapshot), files


def _download_model(
    pin: HubPin, folder: Path, *, patterns: tuple[str, ...]
) -> tuple[Path, list[str]]:
    from huggingface_hub import snapshot_download

    snapshot = Path(
        snapshot_download(
            pin.repo,
            revision=pin.revision,
            cache_dir=folder,
            allow_patterns=list(patterns),
            ignore_patterns=list(NOT_MODEL_FILES),
        )
    )
    files = sorted(path.name for path in snapshot.iterdir() if path.is_file())
    if not any(name.endswith(".safetensors") for name in files):
        raise SourceError(
            "this repository has no weights in safetensors format.",
            where=f"{pin.repo}@{pin.revision}",
            fix="pin a commit that has them; pickled weights are not loaded.",
        )
    return snapshot, files


@contextmanager
def _explained(repo: str, revision: str) -> Iterator[None]:
    """Turn the hub libraries' errors into one that says what to do."""
    from huggingface_hub import errors

    try:
        yield
    except (OSError, ValueError, RuntimeError, errors.HTTPError) as error:  # type: ignore[attr-defined]
        what, fix = _meaning(error, revision)
        raise SourceError(what, where=f"{repo}@{revision}", fix=fix) from error


def _meaning(error: BaseException, revision: str) -> tuple[str, str]:
    """Return what happened and what to do, by the first known cause of `error`."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) and cause not in chain:
        chain.append(cause)
    if any(isinstance(link, OSError) and link.errno == ENOSPC for link in chain):
        return "there is no space left on the disk of the cache.", "free some or set ASSAY_CACHE."
    for kind, what, fix in _known(revision):
        if any(isinstance(link, kind) for link in chain):
            return what, fix
    return (
        f"the hub did not give what was asked for: {error}",
        "check connection, HF_ENDPOINT, configuration and split.",
    )


def _known(revision: str) -> list[tuple[type[BaseException], str, str]]:
    """Return (error, what, fix), the special cases first: a gated repository is "not found" too."""
    from huggingface_hub import errors

    return [
        (
            errors.GatedRepoError,
            "this repository is gated: its owner wants its terms accepted first.",
            "accept them on the repository's page and set HF_TOKEN, or take an open one.",
        ),
        (
            errors.RevisionNotFoundError,
            f"the repository has no revision {revision}.",
            "run `assay pin REPO` to see the newest commit.",
        ),
        (
            errors.RepositoryNotFoundError,
            "there is no such repository, or it is private.",
            "check the name; set HF_TOKEN for a private one.",
        ),
        (
            errors.OfflineModeIsEnabled,
            "HF_HUB_OFFLINE is set, so that nothing can be fetched.",
            "unset it for the fetch.",
        ),
    ]
