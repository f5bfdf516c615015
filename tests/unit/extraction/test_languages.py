from __future__ import annotations

import pytest

from assay.extraction import extract
from extraction.table import reads

DECLARED = """
Antwort: B|Die richtige Antwort ist B.|Die Antwort lautet B|Ich wähle B|Lösung: B|Richtig ist B
Antwort B|A ist falsch, B ist richtig|Die Antwort ist nicht A, sondern B.
Respuesta: B|La respuesta correcta es la B|La respuesta es B porque sí
Opción B|La opción correcta es B
Réponse : B|La bonne réponse est (B)|La réponse est l'option B.|C'est B|Je choisis B
La réponse n'est pas A mais B|Risposta: B|La risposta corretta è B|La risposta è la B
Resposta: B|A resposta correta é B|A resposta é a letra B|Letra B
Antwoord: B|Het juiste antwoord is B|Svar: B|Rätt svar är B|Det rigtige svar er B
Vastaus: B|Vastaus on B|Odpowiedź: B|Prawidłowa odpowiedź to B|Poprawna odpowiedź to B.
Odpověď: B|Správná odpověď je B|Válasz: B|A helyes válasz: B|Răspuns: B|Răspunsul corect este B
Ответ: B|Правильный ответ — B|Правильный ответ: B.|Ответ: не A, а B|Я выбираю B|Ответ — вариант B
Это B|Верный ответ под буквой B|Відповідь: B|Cevap: B|Doğru cevap B|Απάντηση: B
Jawaban: B|Jawaban yang benar adalah B|Đáp án: B|Đáp án đúng là B
答案：B|答案是B。|答案是 B|正确答案是B|正确选项为 B|选B|我选择B
答案不是A而是B|B选项正确|所以选B
故选：B|答案 B|我认为答案是B，因为它是铜。|选项B是正确的|B是正确答案|A不正确，B正确
正确答案是：**B**|應該選B|B。因为铜
回答：B|答えはBです。|正解はBです|Bが正解です|Aではなく、Bです|答えは、Bです。|Bです
Bが正しい|Aは間違いで、Bが正解
답: B|정답은 B입니다.|정답: B|B가 정답입니다|답은 B|B입니다|A가 아니라 B입니다
คำตอบคือ B|คำตอบ: B|الإجابة: B|الإجابة الصحيحة هي B|الجواب هو (B)|الجواب الصحيح هو: B|ليس A بل B
תשובה: B|התשובה היא B|उत्तर: B|सही उत्तर B है|پاسخ: B
"""
UNDECIDED = """
A oder B|A o B|A ou B|A e B|A или B|A或B|A和B|AまたはB|A 또는 B|A veya B|A lub B|A och B
"""


def phrases(block: str) -> list[str]:
    return [phrase for line in block.strip().splitlines() for phrase in line.split("|")]


@pytest.mark.parametrize("text", phrases(DECLARED))
def test_an_answer_is_read_in_its_language(text: str) -> None:
    assert reads(text) == "B"


@pytest.mark.parametrize("text", phrases(UNDECIDED))
def test_two_labels_joined_are_ambiguous(text: str) -> None:
    assert reads(text) == "ambiguous"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Antwort:\n\nAntwort: C", "C"),
        ("A resposta é D", "D"),
        ("E depois, a resposta é C", "C"),
        ("Weder A noch B", "none"),
        ("Ответ: не A", "none"),
        ("Ответ: Б", "none"),
        ("ب", "none"),
        ("二", "none"),
        ("B o C", "ambiguous"),
        ("이것은 금입니다", "none"),
        ("这是一种金属", "none"),
    ],
)
def test_words_of_other_languages_are_not_labels(text: str, expected: str) -> None:
    assert reads(text) == expected


@pytest.mark.parametrize("text", ["В", "Ответ: С", "А", "Β", "Ответ: В."])
def test_look_alike_letters_are_flagged_and_never_converted(text: str) -> None:
    found = extract(text, "ABCD")
    assert (found.status, found.label, found.rule) == ("none", None, "lookalike")
    assert found.span is not None
    assert text[slice(*found.span)] in "АВСΒ"


@pytest.mark.parametrize(
    ("text", "label"), [("정답은 3번입니다", "3"), ("3番", "3"), ("答案是3", "3"), ("第3个", None)]
)
def test_digits_in_scripts_without_spaces(text: str, label: str | None) -> None:
    assert reads(text, ["1", "2", "3", "4"]) == (label or "none")
