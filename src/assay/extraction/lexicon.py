"""Words that frame an answer, in the languages models reply in; all case-folded.

Every list is closed and short on purpose: a word that is missing costs a `none`, a word too many
costs a wrong label.
"""

from __future__ import annotations


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


def _runs(*lines: str) -> tuple[str, ...]:
    return tuple(" ".join(lines).split())


ANSWER_NOUNS = _words(
    "answer ans solution conclusion antwort lösung loesung respuesta solución",
    "solucion réponse reponse risposta soluzione resposta solução antwoord oplossing svar svaret",
    "vastaus odpowiedź odpowiedz odpověď odpoveď válasz răspuns raspuns răspunsul raspunsul",
    "απάντηση ответ відповідь отговор одговор odgovor cevap yanıt jawaban đáp án jibu",
    "الإجابة الاجابة إجابة اجابة الجواب جواب پاسخ תשובה התשובה उत्तर जवाब উত্তর",
)
OPTION_NOUNS = _words(
    "option choice letter alternative label selection selected prediction",
    "candidate wahl auswahl buchstabe antwortmöglichkeit opción opcion letra",
    "alternativa inciso choix lettre opzione scelta lettera opção opcao escolha optie keuze",
    "alternativ valg val opcja wybór wybor litera možnost opțiunea opsi pilihan seçenek şık",
    "επιλογή вариант вариантом выбор буква варіант الخيار خيار گزینه אפשרות विकल्प phương",
)
NUMBER_NOUNS = _words("number nr num nummer número numero numéro номер")
CORRECT = _words(
    "correct right best accurate appropriate richtig richtige richtigen korrekt korrekte beste",
    "correcta correcto correctas cierta mejor correcte exact exacte juste bonne vraie meilleure",
    "corretta corretto giusta giusto esatta correta certa certo juist juiste rätt riktig korrekt",
    "poprawna poprawny poprawne prawidłowa právně správná správně helyes corect corectă",
    "правильный правильно правильная правильным верный верно верная правильна вірно doğru benar",
    "đúng الصحيحة الصحيح صحيحة صحيح נכונה נכון सही",
)
WRONG = _words(
    "wrong incorrect false inaccurate invalid unlikely distractor distractors excluded eliminated",
    "falsch inkorrekt incorrecta incorrecto falsa falso incorrecte fausse faux sbagliata errata",
    "sbagliato errada incorreta incorreto onjuist fout fel błędna niepoprawna неверно неверный",
    "неправильно неправильный неверная yanlış salah sai خاطئة خطأ गलत",
)
COPULAS = _words(
    "is are was were be seems seem appears looks remains becomes equals",
    "ist sind wäre lautet bleibt es son sería sea parece est serait semble è sono sarebbe é",
    "seria är er zijn jest este είναι есть является adalah ialah là هي هو היא הוא है हैं",
)
# Too common otherwise: a verb only right after these nouns.
ADJACENT_COPULAS = frozenset(
    [("odpowiedź", "to"), ("odpowiedz", "to"), ("vastaus", "on"), ("odpověď", "je")]
    + [("odpoveď", "je"), ("odgovor", "je")]
)
# Pronoun and verb in one: what they point at is a conclusion, not a declaration.
POINTERS = _words("it's that's c'est это це")
POINTING = _words("it this that es das dies esto eso ce cela questo isso dit")
PICKS = _words(
    "choose chose pick picked select vote wähle nehme elijo escojo selecciono choisis",
    "sélectionne scelgo escolho kies väljer wybieram vybírám válassz выбираю обираю seçiyorum",
)
PICK_PAIRS = frozenset([("go", "with"), ("going", "with"), ("opt", "for"), ("settle", "on")])
OPINIONS = _words("think believe guess say suspect")
CONCLUSIONS = _words(
    "so therefore thus hence consequently accordingly ergo finally leaving leaves",
    "daher deshalb folglich somit luego entonces donc ainsi quindi dunque portanto logo dus",
    "alltså więc zatem proto поэтому следовательно значит итак отже إذن لذلك इसलिए",
)
NEGATORS = _words(
    "not never neither nor none no cannot don't isn't aren't wasn't weren't doesn't can't",
    "couldn't shouldn't wouldn't won't nicht kein keine weder noch nunca tampoco ni pas non",
    "ne não nem niet geen inte ikke ei nie ani není nem не ни нет ні değil bukan không ليس ليست",
    "لا אינה לא नहीं unlike eliminate reject rejected exclude excluding",
)
COPULA_NEGATORS = _words("isn't aren't wasn't weren't can't ليس ليست bukan")
TURNS = _words(
    "but rather instead sondern sino mais mas ma maar utan men lecz ale hanem а но али بل लेकिन",
)
# Words that may stand between a declaration and its label.
FILLERS = _words(
    "the an most likely probably definitely clearly certainly surely indeed therefore thus simply",
    "just only actually to been would should could must will may might have has obviously",
    "i think believe guess say suspect my your our final single following given in fact one",
    "opinion correctly then as follows first second third fourth fifth here both either or and",
    "maybe perhaps possibly",
    "der die das den dem eindeutig wahrscheinlich la le les el los las lo il una un l' de du",
    "definitivamente probablemente claramente probablement sans doute certainement",
    "o os as het een den det da em per of with mit con avec for",
    "скорее всего вероятно именно под буквой эта этот",
)
CONNECTORS = _words(
    "or and oder und ou et y o u e i of en och eller og lub albo czy oraz nebo vagy és și sau",
    "или и або та و أو या और veya ve atau dan hoặc và vs versus",
)
CHAIN_FILLERS = _words(
    "either both maybe perhaps possibly probably also option options choice choices answer then",
    "the even entweder vielleicht",
)
REASONS = _words(
    "because since as due for given denn weil da porque ya pues puesto parce puisque perché",
    "poiché pois omdat eftersom fordi ponieważ bo protože потому так поскольку çünkü karena vì",
)
# After a label these words show that the letter before was not an article, nor the number a
# count: no language puts them between "a" and its noun.
FUNCTION_WORDS = (
    REASONS
    | CONNECTORS
    | TURNS
    | COPULAS
    | COPULA_NEGATORS
    | _words(
        "if then so not nor neither while when where who that which with from in on at by to than",
        "would could should can may might must will has have had does do did isn't rather instead",
        "seems therefore thus hence only the this these those it its it's they there we you he she",
        "mit aber wenn que si avec dans nicht no non ne",
    )
)
# A letter or number after these names a thing of the question, not an option.
NAMERS = _words(
    "statement statements step steps figure fig table question problem exercise chapter section",
    "part point stage phase case example equation eq line lines reason item items grade level",
    "group type class plan vitamin vitamins hepatitis person player team angle side vertex set",
    "event matrix function variable gene allele strain company product region area country city",
    "process model sample trial day week month year page paragraph version appendix node station",
    "schritt frage abbildung teil punkt paso figura pregunta étape partie шаг вопрос",
)
UNITS = _words(
    "kg g mg km m cm mm nm µm l ml s ms hr hrs min mins sec secs hours hour minutes seconds days",
    "years weeks months kj kw ma hz khz mhz ghz pa kpa atm mol ev kev mev ppm mph",
    "percent times fold degrees meters metres grams liters litres miles feet inches dollars cents",
    "people cells atoms electrons protons million billion thousand hundred 個 人 年 月 日 つ",
)
# Letters that are also words somewhere (articles, pronouns, prepositions, conjunctions).
WORD_LETTERS = frozenset("aeiouyksvwz")
COUNTED_LETTERS = frozenset("ai")

# Scripts without spaces: pieces of a run of characters, or whole runs.
RUN_CUES = _runs(
    "答案 正确选项 正確選項 选项 選項 选择 選擇 应选 故选 我选 选 選",
    "正解 回答 解答 答え 答 정답 답 คำตอบ ตอบ ข้อ ចម្លើយ",
)
RUN_LINKS = _runs("是 为 為 选 選 应该 應該 は が 은 는 이 가 คือ")
RUN_NEGATIONS = _runs("不是 不选 不選 并非 不能是 既不 也不 ไม่ใช่")
RUN_TURNS = _runs("而是 而应 ではなく じゃなく 아니라 แต่")
RUN_CONCLUSIONS = _runs("所以 因此 故 따라서 그러므로 したがって よって ดังนั้น")
RUN_CONNECTORS = _runs("或 和 与 與 及 还是 と か または 과 와 나 또는 หรือ และ")
RUN_RIGHT = _runs("正确 正確 正解 正しい 对 정답 맞 옳 ถูก")
RUN_WRONG = _runs(
    "不对 不對 不正确 不正確 错 錯 ではな じゃな ではあり 間違 誤 아니 틀 ผิด",
)
# After a label these say nothing: number words and copulas.
RUN_ENDINGS = frozenset(_runs("番 번 です だ である 입니다 번입니다 이다 项 項 ครับ ค่ะ"))

# Letters of other scripts that look like a Latin one, upper case then lower case.
LOOKALIKES = dict(
    zip(
        "АВЕЅЈКМНОРСТУХІԌԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧавеѕјкмнорстухіοԁɡհοսⲟ",
        "ABESJKMHOPCTYXIGQWABEZHIKMNOPTYXabesjkmhopctyxiodghouo",
        strict=True,
    )
)
