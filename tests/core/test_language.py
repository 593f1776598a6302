"""Are notes English?"""

import pytest

from memory_palace.core.language import MOST_TEXTS, not_english, share_not_english

ENGLISH = "We chose SQLite because it needs no server and runs on every machine of the team."
GERMAN = "Wir haben uns für SQLite entschieden, weil es keinen Server braucht."
CODE = "def main(): return os.path.join(a, b)\nfor x in range(10): print(x)"


@pytest.mark.parametrize(
    "text",
    [
        GERMAN,
        "WIR HABEN UNS NICHT FUER EINEN SERVER ENTSCHIEDEN",
        "Nous avons choisi SQLite parce qu'il n'y a pas de serveur à gérer.",
        "Elegimos SQLite porque no necesita servidor y funciona en todas partes.",
        "Escolhemos o SQLite porque não precisa de servidor e roda em qualquer lugar.",
        "Abbiamo scelto SQLite perché non serve un server e funziona con tutto il resto.",
        "We kozen SQLite omdat het geen server nodig heeft en overal werkt.",
        "Wybraliśmy SQLite, ponieważ nie wymaga serwera i działa wszędzie.",
        "Vi valde SQLite eftersom det inte behöver någon server.",
        "SQLite'ı seçtik çünkü sunucuya ihtiyaç duymaz ve her yerde çalışır.",
        "Chúng tôi chọn SQLite vì nó không cần máy chủ.",
        "Kami memilih SQLite karena tidak memerlukan server dan berjalan di mana saja.",
        "Мы выбрали SQLite, потому что ему не нужен сервер.",
        "Επιλέξαμε το SQLite επειδή δεν χρειάζεται διακομιστή.",
        "我们选择了SQLite，因为不需要服务器，到处都能运行。",
        "サーバーが不要でどこでも動くので、SQLiteを選びました。",
        "서버가 필요 없고 어디서나 실행되므로 SQLite를 선택했습니다.",
        "اخترنا SQLite لأنه لا يحتاج إلى خادم.",
        "हमने SQLite चुना क्योंकि इसे सर्वर की आवश्यकता नहीं है।",
        "เราเลือก SQLite เพราะไม่ต้องใช้เซิร์ฟเวอร์",
        "部署 database migration 的时候 server 没有重启，所以 queue 里的任务丢失了。",
    ],
)
def test_other_languages_are_told(text: str) -> None:
    """By script, by letters with marks, by the small words."""
    assert not_english(text) is True


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH,
        "The café's résumé was naïve, but it is what they have.",
        "Angles α, β and γ are what the sum of the weights is about.",
        "A note on 記憶の宮殿 (the memory palace), which is what all that follows is about.",
    ],
)
def test_english_is_told(text: str) -> None:
    """A few foreign words or letters do not make another language of it."""
    assert not_english(text) is False


@pytest.mark.parametrize("text", ["", "42", "\n---\n", CODE, "Ada, Berlin, SQLite", "the", "é"])
def test_some_texts_do_not_tell(text: str) -> None:
    """Names, numbers and code are in no language."""
    assert not_english(text) is None


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        ([], 0.0),
        ([CODE], 0.0),
        ([ENGLISH, GERMAN], 0.5),
        ([ENGLISH, GERMAN, GERMAN, CODE], 2 / 3),
        ([GERMAN], 1.0),
    ],
)
def test_the_share_is_of_texts_that_tell(texts: list[str], share: float) -> None:
    """Others do not count."""
    assert share_not_english(texts) == pytest.approx(share)


def test_many_texts_are_sampled_evenly() -> None:
    """However many there are, some hundred from the first to the last decide."""
    many = [GERMAN] * 3_000 + [ENGLISH] * 1_000
    assert share_not_english(many) == pytest.approx(0.75, abs=1 / MOST_TEXTS)


def test_the_beginning_of_a_text_decides() -> None:
    """A long note costs no more than a short one."""
    assert not_english(GERMAN + " " * 2_000 + ENGLISH * 100) is True
