"""Pieces of which the fuzz test builds outputs, and the label sets it reads them against."""

from __future__ import annotations

import random
from collections.abc import Iterator
from string import ascii_lowercase, ascii_uppercase

LABEL_SETS = [
    list("ABCD"),
    list("AB"),
    list("abcde"),
    list(ascii_uppercase),
    list(ascii_lowercase[:9]),
    ["1", "2", "3", "4"],
    [str(number) for number in range(1, 27)],
]
WORDS = """the answer is Answer: ANSWER: option Option choice correct right wrong not n't isn't but
neither nor both either or and so therefore because I a A an it's it that this final Final best
Antwort: Antwort ist nicht sondern oder Respuesta: es o y Réponse : est ou Risposta: è Resposta: e
Ответ: ответ не а или Odpowiedź: to Cevap: Đáp án: là 答案 答案是 不是 而是
选 选项 或 和 正确 错 回答： 
正解は です が ではなく 정답은 입니다 또는 คำตอบคือ الإجابة: هي ليس تשובה היא उत्तर: है
Question: question: Q: User: Explanation: Step step kg km % vitamin type plan statement I'm sorry,
can't cannot help answer As an AI language model none None of above all Iron Copper Gold Tin iron
gold Sorry unlike rather than instead of choose pick select go with would be must seems
to""".split()
MARKUP = r"""** * ` ``` $ $$ \boxed{ \boxed \text{ \textbf{ \( \) \[ { } } ( ) [ ] " ' “ ” ‘ ’ « »
< > </ <b> </b> <answer> </answer> # ## - • > | ~~ _ __ \n
\\ ... . , ; : ! ? = -> => → / & + ^ ° € @
– — <think> </think> <thinking> [THINK] [/THINK] ◁think▷ ◁/think▷ <|im_end|> <|im_start|> </s> <eos>
<|channel|>analysis<|message|> <|channel|>final<|message|> {"answer": {"answer":" "}""".split()
ODD = [
    *(
        "Ｂ",
        "В",
        "А",
        "Β",
        "С",
        "①",
        "Ⓑ",
        "⒝",
        "𝐁",
        "🅱",
        "🇧",
        "ب",
        "二",
        "٣",
        "½",
        "²",
        "ﬁ",
        "ß",
        "İ",
    ),
    *("\u200b", "\u200d", "\ufeff", "\u00ad", "\u202e", "\u0301", "\u20dd", "\ufe0f", "\u20e3"),
    *(
        "\ud800",
        "\x00",
        "\x08oxed{",
        "\u2028",
        "\x85",
        "\r\n",
        "\r",
        "\t",
        "\u3000",
        "\u1100\u1161",
    ),
    *("1.5", "1,000", ".5", "3rd", "10^3", "A1", "B-cell", "e.g.", "U.S.", "A.B.", "x_A", "C++"),
]
GLUE = ["", "", " ", " ", " ", "\n", "\n\n"]


def outputs(seed: int, count: int, real: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (text, labels), built from real outputs and fragments by a seeded generator."""
    source = random.Random(seed)
    for _ in range(count):
        labels = source.choice(LABEL_SETS)
        parts = []
        for _ in range(source.randint(1, 9)):
            pool = source.choices([labels, WORDS, MARKUP, ODD, real], [6, 6, 4, 2, 1])[0]
            parts.append(source.choice(pool))
            parts.append(source.choice(GLUE))
        yield "".join(parts), labels
