"""From one GGUF file to a safetensors folder that every loader reads the same way.

transformers can dequantise a GGUF, which takes minutes at every load and loses parts of the
tokenizer. The conversion is done once, put right, and kept.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.core.errors import ModelError
from assay.core.files import write_json
from assay.core.identity import sha256_file
from assay.models.files import DIGESTS

#: Raised by hand when the conversion gives other files; part of the name of a converted folder.
CONVERTER_VERSION = 1

#: GGUF pre-tokenizers that split runs of digits, which transformers leaves out.
_SPLIT_DIGITS = frozenset({"smollm"})


def convert_gguf(gguf: Path, folder: Path) -> None:
    """Write the model in `gguf` to `folder` as float32 safetensors with its tokenizer.

    Raises
    ------
    ModelError
        If the tokenizer does not come back from the folder as it was put there.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    where = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
    with _parsed_once() as read:
        facts = _tokenizer_facts(read(str(gguf)))
        tokenizer = AutoTokenizer.from_pretrained(**where)
        model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    # The weights are dense now; without this save_pretrained refuses to write them.
    model.hf_quantizer = None
    del model.config.quantization_config
    model.config._name_or_path = ""  # the folder of this conversion says nothing about the model
    _mend(tokenizer, facts)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    _check(folder, tokenizer, facts)
    record_digests(folder)


def record_digests(folder: Path) -> None:
    """Write sha256 and size of every file in `folder` to its ``digests.json``."""
    files = sorted(file for file in folder.iterdir() if file.is_file())
    for file in files:
        file.chmod(0o644)  # a cache may be shared; safetensors writes for its owner alone
    sizes = {file.name: file.stat().st_size for file in files}
    digests = {file.name: sha256_file(file) for file in files}
    write_json(folder / DIGESTS, {n: {"sha256": digests[n], "bytes": sizes[n]} for n in digests})


@contextmanager
def _parsed_once() -> Iterator[Any]:
    """Yield a GGUF reader that keeps what it has parsed.

    transformers parses the file for the configuration, the tokenizer and the weights in turn, and
    a vocabulary of 262,144 entries takes half a minute each time.
    """
    import gguf

    original = gguf.GGUFReader
    gguf.GGUFReader = functools.cache(original)
    try:
        yield gguf.GGUFReader
    finally:
        gguf.GGUFReader = original


def _tokenizer_facts(reader: Any) -> dict[str, Any]:
    """Return what the GGUF says about its tokenizer, without the token lists."""
    names = ("add_bos_token", "pre", "model")
    fields = {name: reader.get_field(f"tokenizer.ggml.{name}") for name in names}
    facts = {name: field.contents() for name, field in fields.items() if field is not None}
    # Where the file does not say, SentencePiece vocabularies get a BOS and others do not.
    facts.setdefault("add_bos_token", facts.get("model") == "llama")
    return facts


def _mend(tokenizer: Any, facts: dict[str, Any]) -> None:
    """Restore the digit splitter and the leading BOS that the GGUF asks for."""
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence

    if facts.get("pre") in _SPLIT_DIGITS:
        tokenizer.backend_tokenizer.pre_tokenizer = Sequence(
            [
                Digits(individual_digits=True),
                ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True),
            ]
        )
    tokenizer.add_bos_token = facts["add_bos_token"]


def _check(folder: Path, tokenizer: Any, facts: dict[str, Any]) -> None:
    """Compare the tokenizer read back from `folder` with the one that was saved."""
    from transformers import AutoTokenizer

    again = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    probe = "\n\n1  7 Which of 12,345 is it? (A) é"
    ids = again(probe)["input_ids"]
    bare = again(probe, add_special_tokens=False)["input_ids"]
    starts = [tokenizer.bos_token_id] if facts["add_bos_token"] else []
    if ids != [*starts, *bare] or ids != tokenizer(probe)["input_ids"]:
        raise ModelError(
            "the converted tokenizer reads back differently from what was written.",
            where=folder,
            fix="use transformers 5.19, with which the conversion is tested.",
        )
