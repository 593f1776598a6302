"""Questions as people type them, against the catalog's own keyword table in SQLite."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core.keywords import Asked, Term, indexable, parse
from memory_palace.index import catalog as catalogs


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """A catalog's database, with the table `words`."""
    with catalogs.create(tmp_path_factory.mktemp("catalog") / catalogs.MAIN) as made:
        made.db.execute("CREATE VIRTUAL TABLE temp.seen USING fts5vocab(main, words, instance)")
        yield made.db


def fill(words: sqlite3.Connection, *texts: str) -> None:
    """Make ``texts`` the only rows, numbered from 1, each in the column `body`."""
    words.execute("DELETE FROM words")
    words.executemany(
        "INSERT INTO words (rowid, title, heading, tags, body) VALUES (?, '', '', '', ?)",
        [(number, indexable(text)) for number, text in enumerate(texts, 1)],
    )


def matching(words: sqlite3.Connection, term: Term) -> set[int]:
    """The rows that one term finds."""
    found = words.execute(
        "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?", (term.expression,)
    )
    return {row[0] for row in found}


def hits(words: sqlite3.Connection, question: str) -> set[int]:
    """The rows that any term finds, without the excluded."""
    asked = parse(question)
    wanted = set().union(*(matching(words, term) for term in asked.terms))
    return wanted.difference(*(matching(words, term) for term in asked.excluded))


def finds(words: sqlite3.Connection, question: str, text: str) -> bool:
    """True if every term of the question finds the text, and there is one."""
    fill(words, text)
    asked = parse(question)
    return bool(asked.terms) and all(matching(words, term) for term in asked.terms)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        # words and phrases
        ("Where are servers deployed?", "we deploy a server"),
        ('"deploying a server"', "we deploy a server"),
        ("“a server”", "we deploy a server"),
        ("what is „a server“ for", "we deploy a server for this"),
        ("«a server»", "we deploy a server"),
        ("「東京タワー」", "昨日は東京タワーに行った"),
        ("「京タ」", "昨日は東京タワーに行った"),
        ('"用 FAISS 做"', "使用FAISS做索引"),
        ('a 5" disk', 'one 5" disk'),
        ("who are we", "who are we"),
        ("a", "a"),
        ("the who", "the who"),
        # prefixes
        ("index*", "indexes"),
        ("index*", "indexable"),
        ("universit*", "university"),
        ("generaliz*", "generalization"),
        ("happ*", "happiness"),
        ("get_us*", "get_user"),
        ("getUs*", "getUser"),
        ("索引*", "做索引"),
        ("**bold**", "bold"),
        ("*bold*", "bold"),
        # names
        ("v1.2.3", "since v1.2.3"),
        ("v1.2.3", "since 1.2.3"),
        ("1.2.3", "since v1.2.3, not before"),
        ("2.0.0-rc.1", "tag 2.0.0-rc.1"),
        ("C++", "written in C++."),
        ("c++", "C++17"),
        ("C++17", "C++17"),
        ("C#", "C#, F# and others"),
        ("F#", "C#/F#"),
        (".NET", "the .NET runtime"),
        (".net", ".NET"),
        ("asp.net", "ASP.NET"),
        ("R&D", "our R&D"),
        ("snake_case", "a snake_case name"),
        ("snake_case", "a snakeCase name"),
        ("snake_case", "snake case"),
        ("snake case", "snake_case"),
        ("snakeCase", "snake_case"),
        ("snakeCase", "SnakeCase"),
        ("snakecase", "snakeCase"),
        ("SNAKE_CASE", "snake_case"),
        ("__init__", "in __init__.py"),
        ("__init__.py", "in pkg/__init__.py"),
        ("HTTPServer", "class HTTPServer:"),
        ("http server", "class HTTPServer:"),
        ("httpserver", "class HTTPServer:"),
        ("getUserById", "get_user_by_id"),
        ("get_user_by_id", "getUserById()"),
        ("GitHub", "github.com"),
        ("github", "on GitHub"),
        ("kebab-case", "a kebab-case name"),
        ("kebab case", "a kebab-case name"),
        ("e-mail", "an email"),
        ("e-mail", "an e-mail"),
        ("GPT-4", "gpt4"),
        ("GPT4", "GPT-4"),
        ("python3", "Python 3"),
        ("src/api/users.py", "see `src/api/users.py:12`"),
        ("users.py", "see src/api/users.py"),
        ("src/api/users.py", "users.py has it"),
        (r"C:\Users\anna\notes.md", r"C:\Users\anna\notes.md"),
        ("~/.config/palace/config.yaml", "in ~/.config/palace/config.yaml"),
        ("anna.b@example.com", "to anna.b@example.com, please"),
        ("https://example.com/a/b?x=1#top", "(https://example.com/a/b?x=1#top)"),
        ("https://example.com/a.", "http://example.com/a"),
        ("example.com/a", "https://example.com/a"),
        ("std::vector", "a std::vector<int>"),
        ("foo->bar", "foo->bar"),
        # codes and numbers
        ("E1234", "error E1234:"),
        ("ERR_FOO-12", "ERR_FOO-12"),
        ("0x80070005", "0x80070005"),
        ("HTTP 500", "HTTP 500"),
        ("#123", "issue #123"),
        ("cdf5789", "cdf5789a0b1c2d3e4f5061728394a5b6c7d8e9f0"),
        ("1,000", "1000"),
        ("1000000", "1,000,000"),
        ("1.000.000", "1'000'000"),
        ("3.14", "3.14"),
        ("24/7", "24/7"),
        # apostrophes
        ("Caroline's", "Caroline"),
        ("Caroline’s", "Caroline's"),
        ("James' car", "James' car"),
        ("O'Brien", "O’Brien"),
        ("don't", "I don’t"),
        ("l'avion", "un avion"),
        ("avion", "l’avion"),
        ("м'ята", "мʼята"),
        # scripts and forms
        ("用FAISS做索引", "我用FAISS做索引"),
        ("索", "做索引"),
        ("引", "做索引"),
        ("東京都", "私は東京都に住む"),
        ("時々", "時々行く"),
        ("ジョン・スミス", "ジョン・スミスさん"),
        ("ﾃｽﾄ", "テスト"),
        ("한국", "한국어를"),
        ("한국의", "한국의 서울"),
        ("ครับ", "สวัสดีครับ"),
        ("สวัสดี", "สวัสดีครับ"),
        ("ភាសា", "ភាសាខ្មែរ"),
        ("हिन्दी", "यह हिन्दी है"),
        ("مكتبة", "فِي مَكْتَبَةٍ"),
        ("مـكـتـبة", "مكتبة"),
        ("שלום", "שָׁלוֹם"),
        ("cafe", "un café"),
        ("CAFÉ", "un cafe\u0301"),
        ("Straße", "STRASSE"),
        ("strasse", "Straße"),
        ("Müller", "Mueller"),
        ("coeur", "le cœur"),
        ("ﬁne", "fine"),
        ("ｆｕｌｌ", "full"),
        ("ΟΔΟΣ", "οδός"),
        ("İstanbul", "istanbul"),
        ("🚀", "ship it 🚀"),
        ("👍🏽", "👍"),
        ("🇩🇪", "in 🇩🇪"),
        ("❤️", "❤"),
        ("foobar", "foo\u00adbar"),
        ("foo\u200bbar", "foobar"),
        ("می‌خواهم", "میخواهم"),
        ("\u202bword\u202c", "word"),
        # what is syntax elsewhere
        ("NEAR(alpha beta)", "near alpha beta"),
        ("body:alpha", "body: alpha"),
        ("^alpha", "alpha"),
        ("{title body}:alpha", "title body alpha"),
        ('"alpha', "alpha"),
        ("alpha AND NOT beta", "alpha beta"),
        ("AND OR NOT", "and or not"),
        ("'; DROP TABLE words; --", "drop table words"),
        ("al\0pha", "al pha"),
        ("\ud800alpha", "alpha"),
        ("--flag", "with --flag"),
        ("-5", "at -5 degrees"),
        ("tar -v", "tar -v"),
        ("-verbose", "with -verbose"),
    ],
)
def test_every_term_finds_the_text(words: sqlite3.Connection, question: str, text: str) -> None:
    """Stems, phrases, names, codes, scripts: what is typed finds what is written."""
    assert finds(words, question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("8 May 2023", "on 2023-05-08"),
        ("May 8th, 2023", "on 8 May, 2023"),
        ("8 May", "2023-05-08"),
        ("2023-05-08", "May 8, 2023"),
        ("2023年5月8日", "2023-05-08"),
        ("2023-05-08", "2023年5月8日"),
        ("2023-05", "8 May 2023"),
        ("May 2023", "2023-05-08"),
        ("Sept. 3rd", "on 3 September"),
    ],
)
def test_a_date_is_found_in_another_form(
    words: sqlite3.Connection, question: str, text: str
) -> None:
    """The first term of a date is the date itself, however it is written."""
    fill(words, text, "8 June 2023, 2024-05-09, 3 May or 9 September")
    assert matching(words, parse(question).terms[0]) == {1}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ('"server deploy"', "we deploy a server"),
        ("「都東」", "東京都"),
        ("v1.2.3", "v1.2.4 of 3"),
        ("1.2.3", "1, 2 and 4"),
        ("C++", "C, and C#"),
        ("C#", "a c sharp"),
        (".NET", "a net"),
        ("snake_case", "a case of a snake"),
        ("src/api/users.py", "src and users"),
        ("a.b@example.com", "b@example.com"),
        ("host:/var/log", "a host has /var/log"),
        ("https://example.com/a", "https://example.com/b"),
        ("index*", "in dex"),
        ("planet*", "a plane"),
        ("1,000", "1 and 0"),
        ("京東", "東京"),
        ("猫", "犬"),
        ("🚀", "🚁"),
        ("Caroline's", "it's his"),
        ("deploy", "employ"),
        ("?!", "?!"),
    ],
)
def test_no_term_finds_another_text(words: sqlite3.Connection, question: str, text: str) -> None:
    """A phrase has an order, and a name is more than its letters."""
    fill(words, text)
    assert not hits(words, question)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("alpha -beta", {1}),
        ('alpha -"beta gamma"', {1, 2}),
        ("alpha -bet*", {1}),
        ("alpha -beta-gamma", {1, 2}),
        ("-beta alpha", {1}),
        ("alpha- beta", {1, 2, 3}),
        ("alpha - beta", {1, 2, 3}),
        ("alpha --beta", {1, 2, 3}),
        ("alpha-beta", {1, 2, 3}),
        ("alpha -beta- gamma", {1, 2, 3}),
        ("alpha -Beta, -gamma.", {1}),
        ("-beta", {2, 3}),
        ('-"beta gamma"', {3}),
        ("alpha -alpha", set()),
    ],
)
def test_what_is_excluded_is_not_found(
    words: sqlite3.Connection, question: str, found: set[int]
) -> None:
    """A minus after a blank and before a word takes away; elsewhere it is a character."""
    fill(words, "alpha", "alpha gamma beta", "alpha beta gamma")
    assert hits(words, question) == found


@pytest.mark.parametrize("spelled", ["snake_case", "snakeCase", "v1.2.3", "GPT-4", "e-mail"])
def test_a_name_counts_once(words: sqlite3.Connection, spelled: str) -> None:
    """A text that has a name in one spelling is matched by one of the term's phrases."""
    fill(words, spelled)
    (term,) = parse(spelled).terms
    phrases = [f'"{one}"' for one in term.expression.split('"')[1::2]]
    found = [matching(words, Term("", phrase, "phrase")) for phrase in phrases]
    assert len(phrases) > 1
    assert sum(map(bool, found)) == 1


def test_extra_words_are_few(words: sqlite3.Connection) -> None:
    """Plain text is indexed as it is; a name adds its parts once, however often it is there."""
    plain = "Plain text, with e-mail to a.b@c.org, v1.2.3 and snake_case; APIs and IDs."
    assert indexable(plain) == plain
    assert indexable("HTTPServer HTTPServer C++ C++") == (
        "HTTPServer HTTPServer C++ C++ server http cplusplus"
    )
    key = "aGVsbG8gd29ybGQhIQxYzAbCdEf"
    assert indexable(key) == key


NASTY = st.text(
    alphabet="\"'*()^:-+{}[]\\/~!@#$%&.,;_ \t\n\0ANDORTE"
    "é\u0301ßаع中文字の한ค\u0e31🚀\ufe0f\u200d\ud800«“”「」aB1"
)
OPERATORS = st.lists(
    st.sampled_from(
        ["AND", "OR", "NOT", "NEAR(", "a*", '"', "x:", "^b", "{c}", "-d", '-"e f"', "C++", "-g*"]
    )
).map(" ".join)
QUESTIONS = st.text() | NASTY | OPERATORS


@given(QUESTIONS)
@example("-" * 50)
@example('"' * 51)
@example("-\"\" -'' -* -.NET")
@MODEST
def test_every_expression_is_valid(words: sqlite3.Connection, question: str) -> None:
    """Whatever is typed, SQLite takes each expression and the joined one."""
    fill(words, "alpha beta")
    hits(words, question)


@given(NASTY | st.text(), NASTY)
@MODEST
def test_what_contains_an_excluded_term_is_no_hit(
    words: sqlite3.Connection, text: str, question: str
) -> None:
    """A text that holds what is excluded is taken away, whatever else it holds."""
    fill(words, f"{text} needle", f"{text} needle hay")
    asked = parse(f"needle -hay {question}")
    assert {1, 2} == matching(words, asked.terms[0])
    assert 2 in matching(words, asked.excluded[0])
    assert 2 not in hits(words, f"needle -hay {question}")


@given(NASTY | st.text(alphabet="abzAB09 _-.,/'éÅß中文字のカー한국ก\u0e31ह\u093f\u0301q#+"))
@example("C++17/C#")
@example("fooBarBaz_quxQuux")
@example("don't l'été")
@MODEST
def test_a_text_is_found_by_each_of_its_words(words: sqlite3.Connection, text: str) -> None:
    """A word is what stands between blanks: asked for alone, it finds its text.

    Words that FTS5 has no letter of are left out: it cannot index them.
    """
    for word in text.split():
        fill(words, word)
        if not words.execute("SELECT 1 FROM temp.seen").fetchone() or '"' in word:
            continue
        asked = parse(word)
        fill(words, text)
        assert all(matching(words, term) == {1} for term in asked.terms), (word, asked)


def test_long_questions_are_bounded(words: sqlite3.Connection) -> None:
    """A hundred thousand characters of any kind give a short, valid expression."""
    for piece in (
        *(
            "w ",
            "word{} ",
            "a.",
            "a_",
            "-x{} ",
            "-xy{} ",
            '"',
            '"a b" ',
            "中",
            "“",
            "「a",
            "aB",
            "ค",
        ),
        *(
            "-",
            "*",
            "C++",
            "#",
            "é",
            "1,000,",
            "http://",
            "May 2023 ",
            "the ",
            "'s",
            "\0",
            "(",
            "🚀",
        ),
        *('"a ', "1", "f1", "_", ".", "x'"),
    ):
        question = "".join(piece.format(n) for n in range(100_000 // len(piece)))[:100_000]
        asked = parse(question)
        assert len(asked.terms) <= 64
        assert len(asked.excluded) <= 64
        hits(words, question)
    assert asked == Asked(asked.terms, (), question)
