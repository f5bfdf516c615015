"""The files of a model folder: what they are, their digests, and what its configuration says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.core.errors import ModelError
from assay.core.files import read_json
from assay.core.identity import digest, sha256_file, sha256_text

#: Written beside converted or verified weights: sha256 and size of every file of the folder.
DIGESTS = "digests.json"
#: Tokenizer files by name, in whatever subset a model ships them.
TOKENIZER_FILES = (
    "added_tokens.json",
    "merges.txt",
    "special_tokens_map.json",
    "spiece.model",
    "tekken.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a model folder, by name.

    Raises
    ------
    ModelError
        If there is none, or an index of shards names other files: pickled weights can run code
        when they are loaded and are not read. If they are an adapter, whose base model no pin
        names.
    """
    if (folder / "adapter_config.json").exists():
        raise ModelError(
            "the folder holds an adapter, which leads to a base model that nothing pins.",
            where=folder / "adapter_config.json",
            fix="merge it (peft: merge_and_unload, then save_pretrained) and name that folder.",
        )
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise ModelError(
            "the folder holds no *.safetensors weights.",
            where=folder,
            fix="save the model with save_pretrained; pickled checkpoints are not loaded.",
        )
    _refuse_other_weights(folder, {file.name for file in files})
    return files


def _refuse_other_weights(folder: Path, known: set[str]) -> None:
    """Refuse an index that leads a loader to a pickle or out of the folder."""
    for index in sorted(folder.glob("*.index.json")):
        named = set(map(str, read_json(index).get("weight_map", {}).values()))
        if index.name.endswith(".safetensors.index.json") and named - known:
            raise ModelError(
                f"the index of the weights names {min(named - known)!r}, which is no safetensors"
                " file of this folder.",
                where=index,
                fix="save the model with save_pretrained; pickled checkpoints are not loaded.",
            )


def refuse_foreign_code(folder: Path) -> None:
    """Refuse code of another repository than the pinned one, before any of it is imported.

    Raises
    ------
    ModelError
        If a configuration maps a class to ``owner/name--module.Class``, which no commit pins.
    """
    for path in sorted(folder.glob("*config.json")):
        listed = json.dumps(read_json(path).get("auto_map", {}))
        if "--" in listed:
            raise ModelError(
                f"its classes come from another repository, which no commit pins: {listed}.",
                where=path,
                fix="take a repository that holds its own code, or a model transformers knows.",
            )


def model_digest(
    folder: Path, *, weights: bool = True, known: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return one digest each for the weights (configuration included), tokenizer and template.

    Parameters
    ----------
    folder : Path
        A model folder.
    weights : bool
        Whether to digest the weights, which takes a second or two a gigabyte.
    known : mapping of str to str, optional
        File name → sha256 that the caller vouches for; other files are read.

    Returns
    -------
    dict of str to str
        Keys "weights" (if asked), "tokenizer", "template" (of "" where there is none).
    """
    known = known or {}
    names = {file.name for file in folder.iterdir() if file.is_file()}
    parts = {"tokenizer": sorted(names & set(TOKENIZER_FILES))}
    if weights:
        extra = {"config.json", "generation_config.json"} & names
        parts["weights"] = sorted({file.name for file in weight_files(folder)} | extra)
    found = {
        part: digest({name: known.get(name) or sha256_file(folder / name) for name in members})
        for part, members in parts.items()
    }
    return found | {"template": sha256_text(chat_template(folder))}


def recorded_digests(folder: Path) -> dict[str, str]:
    """Return the recorded sha256 of each file of `folder`, after checking the sizes.

    Raises
    ------
    ModelError
        If a recorded file is missing or its size has changed.
    """
    recorded: dict[str, dict[str, Any]] = read_json(folder / DIGESTS)
    for name, entry in recorded.items():
        file = folder / name
        size = file.stat().st_size if file.exists() else None
        if size != entry["bytes"]:
            state = "missing" if size is None else f"{size} bytes instead of {entry['bytes']}"
            raise _altered(folder, name, state)
    return {name: entry["sha256"] for name, entry in recorded.items()}


def verify_digests(folder: Path) -> None:
    """Recompute the sha256 of every recorded file of `folder`.

    Raises
    ------
    ModelError
        If a file is missing or altered.
    """
    for name, expected in recorded_digests(folder).items():
        if sha256_file(folder / name) != expected:
            raise _altered(folder, name, "its sha256 is not the recorded one")


def refuse_altered(folder: Path, digests: Mapping[str, str]) -> None:
    """Read every file of a model folder and compare with what was fetched.

    Weights that changed on the disk would answer like another model, and nothing else would say so.
    A gigabyte takes about half a second.

    Parameters
    ----------
    digests : mapping of str to str
        As `model_digest` returned them.

    Raises
    ------
    ModelError
        If weights, tokenizer or template are not those of `digests`.
    """
    found = model_digest(folder)
    altered = sorted(part for part, expected in digests.items() if found.get(part) != expected)
    if altered:
        raise ModelError(
            f"not what was fetched: {', '.join(altered)} changed on the disk.",
            where=folder,
            fix="delete the folder and run again, which fetches the model anew; no answer is lost.",
        )


def _altered(folder: Path, name: str, state: str) -> ModelError:
    return ModelError(
        f"a file of the model is altered: {state}.",
        where=folder / name,
        fix=f"delete {folder} and fetch the model again.",
    )


def chat_template(folder: Path) -> str:
    """Return the chat template text of a model folder, "" where there is none."""
    separate = folder / "chat_template.jinja"
    if separate.exists():
        return separate.read_text("utf-8")
    config = folder / "tokenizer_config.json"
    template = read_json(config).get("chat_template") if config.exists() else None
    if isinstance(template, list):  # several named templates
        template = next((t["template"] for t in template if t["name"] == "default"), None)
    return template or ""


def text_config(folder: Path) -> dict[str, Any]:
    """Return the part of ``config.json`` that describes the language model.

    Raises
    ------
    ModelError
        If the folder has no ``config.json``.
    """
    path = folder / "config.json"
    if not path.exists():
        raise ModelError(
            "the folder holds no config.json.",
            where=folder,
            fix="point to a folder written by save_pretrained.",
        )
    config: dict[str, Any] = read_json(path)
    return config.get("text_config") or config


def max_length(folder: Path) -> int | None:
    """Return the most tokens (prompt and answer) the model has positions for, None if unbounded."""
    return positions(text_config(folder))


def positions(config: Mapping[str, Any]) -> int | None:
    """Return the number of positions that a language model's configuration names, if it does."""
    for name in ("max_position_embeddings", "n_positions", "max_sequence_length"):
        if isinstance(config.get(name), int):
            return int(config[name])
    return None
