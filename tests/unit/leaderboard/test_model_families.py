from __future__ import annotations

from assay.leaderboard.model_families import family_codes, model_family


def test_released_models_fall_into_their_families() -> None:
    names = ["gemma4-31b", "gemma4-e4b", "llama3.1-8b", "llama3.2-3b", "mixtral-8x7b", "qwen3-4b"]
    families, codes = family_codes(names)
    assert families == ("gemma", "llama", "mixtral", "qwen")
    assert codes.tolist() == [0, 0, 1, 1, 2, 3]


def test_a_publisher_is_no_family_and_a_name_without_letters_is_its_own() -> None:
    assert model_family("org/SmolLM2-135M") == "smollm"
    assert model_family("01-ai/42") == "42"


def test_a_given_family_wins() -> None:
    names, codes = family_codes(["a-1", "b-1", "c-1"], {"b-1": "a"})
    assert names == ("a", "c")
    assert codes.tolist() == [0, 0, 1]
