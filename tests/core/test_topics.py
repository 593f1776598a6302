"""The lines of topic files: read, written, changed, told apart."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory_palace.core import topics
from memory_palace.core.topics import CATEGORIES, Entry

PATH = "palace/topics/lessons.md"
BASEMENT = "palace/archive_basement/topics/lessons.md"
A, B = "3f9ac2d41b7e", "0123456789ab"
LINES = ["", "text", "- [lesson] a", "  * [done] b ^B", "- [lesson] c *(pinned)*"]

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(topics.one_line)
entries = st.builds(
    Entry,
    path=st.just(PATH),
    line=st.just(1),
    category=st.sampled_from(list(CATEGORIES)),
    text=words.filter(bool),
    pinned=st.booleans(),
    enforced=st.booleans(),
    block=st.sampled_from(["", A, "a-b", "X9"]),
    indent=st.sampled_from(["", "  ", "\t"]),
)


def one(line: str) -> Entry:
    """The only entry of a file with this line."""
    [entry] = topics.parse(PATH, line + "\n").entries
    return entry


def texts(text: str) -> list[str]:
    """What the entries of a file say."""
    return [entry.text for entry in topics.parse(PATH, text).entries]


@given(entries)
def test_a_line_is_read_as_it_was_written(entry: Entry) -> None:
    """Whatever it says, unless its text ends like a mark, which `reads_back` tells."""
    assume(topics.reads_back(entry))
    parsed = topics.parse(PATH, topics.render(entry) + "\n")
    assert parsed.entries == (entry,)
    assert not parsed.problems


@given(entries, st.sampled_from(["", "\r"]), st.sampled_from(["", " ", "\t "]))
def test_line_ends_and_spaces_after_it_are_no_part_of_a_line(
    entry: Entry, end: str, space: str
) -> None:
    """CRLF, or spaces that an editor left, change nothing."""
    assume(topics.reads_back(entry))
    assert one(topics.render(entry) + space + end) == entry


@given(st.text(max_size=300), st.sampled_from(["\n", "\r\n"]))
def test_any_text_can_be_read(text: str, newline: str) -> None:
    """No file is a fault; every entry's line is where it says, and reads as it."""
    whole = f"- [lesson] first{newline}{text}{newline}- [lesson] x ^{A}{newline}"
    parsed = topics.parse(PATH, whole)
    lines = whole.split("\n")
    for entry in parsed.entries:
        assert one(lines[entry.line - 1]) == replace(entry, line=1)
    for problem in parsed.problems:
        assert problem.line and "unknown category" in problem.message


def test_all_parts_of_a_line() -> None:
    """Category, text, marks and id, in any order of the marks."""
    expected = Entry(PATH, 1, "lesson", "x y", True, True, A)
    assert one(f"- [lesson] x y *(pinned)* *(enforced)* ^{A}") == expected
    assert one(f"- [lesson] x y *(enforced)*  *(pinned)* ^{A}") == expected
    assert one(f"* [lesson]   x y *(pinned)* *(pinned)* ^{A}") == replace(expected, enforced=False)
    assert one(f"\t+ [lesson] x y ^{A}") == Entry(PATH, 1, "lesson", "x y", block=A, indent="\t")
    assert topics.render(expected) == f"- [lesson] x y *(pinned)* *(enforced)* ^{A}"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("- [lesson] ^abc", "^abc"),
        ("- [lesson] *(pinned)*", "*(pinned)*"),
        ("- [lesson] x *(pinned)* more", "x *(pinned)* more"),
        ("- [lesson] x^abc", "x^abc"),
        ("- [lesson] x ^a_b", "x ^a_b"),
        ("- [lesson] x ^a b", "x ^a b"),
        ("- [lesson] [pattern] x", "[pattern] x"),
        ("- [lesson] x *(Pinned)*", "x *(Pinned)*"),
        ("- [lesson] x **(pinned)**", "x **(pinned)**"),
        ("- [lesson] 宮殿 \N{CASTLE}", "宮殿 \N{CASTLE}"),
    ],
)
def test_what_only_looks_like_a_mark_is_text(line: str, text: str) -> None:
    """A mark stands at the end, after a space, and something before it."""
    entry = one(line)
    assert (entry.text, entry.pinned, entry.block) == (text, False, "")
    assert topics.reads_back(entry)


@pytest.mark.parametrize("text", ["x ^abc", "x *(pinned)*", "x *(enforced)* ^a", "x *(pinned)*  "])
def test_a_text_that_ends_like_a_mark_does_not_read_back(text: str) -> None:
    """It would become an id or a pin that nobody gave."""
    assert not topics.reads_back(Entry(PATH, 1, "lesson", text))


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] to do", "- [x] done", "- [X] done", "- [-] off", "- [/] half", "-[lesson] x",
        "- [lesson]x", "- [lesson](link)", "- [[lesson]] x", "- [lesson]", "- [lesson] ",
        "[lesson] x", "1. [lesson] x", "> - [lesson] x", "- [12] x", "- [] x", "text",
        "# [lesson] x", "-- [lesson] x",
    ],
)  # fmt: skip
def test_what_is_no_entry(line: str) -> None:
    """Checkboxes, links, footnotes and other lists are left alone, without a word."""
    assert topics.parse(PATH, f"{line}\n") == topics.Parsed((), ())


@pytest.mark.parametrize(
    ("category", "near"),
    [("lessons", "lesson"), ("Lesson", "lesson"), ("decison", "decision"), ("prefs", "preference")],
)
def test_an_unknown_category_is_named_with_the_nearest(category: str, near: str) -> None:
    """Path, line, what would be right; the entry does not count."""
    parsed = topics.parse(PATH, f"# Lessons\n\n- [{category}] x\n- [lesson] y\n")
    assert [entry.line for entry in parsed.entries] == [4]
    [problem] = parsed.problems
    assert (problem.path, problem.line, problem.grade) == (PATH, 3, "error")
    assert f"unknown category `{category}`" in problem.message
    assert f"`{near}`" in problem.message


def test_code_fences_hold_no_entries() -> None:
    """Of both kinds, longer ones around shorter ones; what is not closed runs to the end."""
    text = (
        "- [lesson] a\n```text\n- [lesson] no\n~~~\n```\n- [lesson] b\n"
        "~~~~\n- [lesson] no\n~~~\n```\n~~~~ not closed\n~~~~~\n- [lesson] c\n"
        "  ```\n- [nonsense] no\n```\t\n- [lesson] d\n```\n- [lesson] no\n"
    )
    parsed = topics.parse(PATH, text)
    assert [entry.text for entry in parsed.entries] == ["a", "b", "c", "d"]
    assert not parsed.problems


@pytest.mark.parametrize(
    "line", ["```code``` in a line", "``` a ` b", "``two``", "    ```", "a ```"]
)
def test_code_in_a_line_opens_no_fence(line: str) -> None:
    """Backticks after the opening ones make it a code span: what follows still counts."""
    assert texts(f"{line}\n- [lesson] a\n") == ["a"]


def test_frontmatter_is_no_text_and_lines_count_from_the_top() -> None:
    """With CRLF, a byte order mark, broken YAML."""
    assert topics.parse(PATH, "---\ntype: topic\n---\n# T\n\n- [lesson] a\n").entries[0].line == 6
    assert topics.parse(PATH, "---\r\na: 1\r\n---\r\n- [lesson] a\r\n").entries[0].line == 4
    assert topics.parse(PATH, "\ufeff- [lesson] a\n").entries[0].line == 1
    assert topics.parse(PATH, "---\na: [\n---\n- [lesson] a\n").entries[0].line == 4
    assert texts("---\n- [lesson] a\n") == ["a"]
    assert texts("- [lesson] no line feed") == ["no line feed"]


def test_an_id_is_what_the_entry_says() -> None:
    """The same on every machine, whatever case, spaces, full stop or composed letters."""
    key = topics.entry_id("lesson", "Café  first.")
    assert len(key) == 12 and set(key) <= set("0123456789abcdef")
    assert topics.entry_id("lesson", "cafe\u0301 FIRST") == key
    assert topics.entry_id("lesson", "Café first!") != key
    assert topics.entry_id("pattern", "Café first") != key
    assert topics.entry_id("lesson", "Café first", 1) not in (
        key,
        topics.entry_id("lesson", "Café first", 2),
    )
    assert one("- [lesson] Café first").key == key
    assert one(f"- [lesson] Café first ^{A}").key == A
    assert topics.entry_id("lesson", "Run the tests") == "5241ab1e42a8"


def parsed(**files: str) -> list[Entry]:
    """The entries of some files; `cold` is archived."""
    found: list[Entry] = []
    for name, text in files.items():
        path = BASEMENT if name == "cold" else f"palace/topics/{name}.md"
        found += topics.parse(path, text).entries
    return found


def test_an_id_of_two_lines_with_other_texts_is_an_error() -> None:
    """The first line counts; the other is named with its place and that of the first."""
    pairs, [problem] = topics.keyed(parsed(b=f"- [lesson] y ^{A}\n", a=f"\n- [lesson] x ^{A}\n"))
    assert [(key, entry.text) for key, entry in pairs] == [(A, "x")]
    assert (problem.path, problem.line, problem.grade) == ("palace/topics/b.md", 1, "error")
    assert problem.message.startswith(f"^{A} has another text in palace/topics/a.md:2")


def test_an_id_of_two_lines_with_one_text_is_a_warning() -> None:
    """As a merge leaves it; also if one was archived on a branch, the live one counts."""
    for second in ("b", "cold"):
        files = {second: f"- [lesson] X. ^{A}\n", "z": f"- [lesson] x ^{A}\n"}
        pairs, [problem] = topics.keyed(parsed(**files))
        assert len(pairs) == 1 and not pairs[0][1].archived
        assert problem.grade == "warning"
        assert "remove one of the lines" in problem.message


def test_a_text_twice_is_a_warning() -> None:
    """With ids or without; what is archived may be said again."""
    pairs, [problem] = topics.keyed(parsed(a="- [lesson] x\n- [lesson] X.\n"))
    assert (len(pairs), problem.line, problem.grade) == (1, 2, "warning")
    pairs, [problem] = topics.keyed(parsed(a=f"- [lesson] x ^{A}\n- [lesson] x ^{B}\n"))
    assert (len(pairs), problem.line, problem.grade) == (2, 2, "warning")
    assert topics.keyed(parsed(a="- [lesson] x\n- [pattern] x\n"))[1] == []
    assert topics.keyed(parsed(a=f"- [lesson] x ^{A}\n", cold=f"- [lesson] x ^{B}\n"))[1] == []


def test_an_id_that_an_edited_line_took_along_is_not_given_again() -> None:
    """The old text, written anew by hand, is another memory."""
    key = topics.entry_id("lesson", "x")
    pairs, problems = topics.keyed(parsed(a=f"- [lesson] x\n- [lesson] quite new ^{key}\n"))
    assert {key: entry.text for key, entry in pairs} == {
        key: "quite new",
        topics.entry_id("lesson", "x", 1): "x",
    }
    assert not problems


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(["", A, B])), max_size=6),
    st.randoms(),
)
def test_ids_do_not_depend_on_the_order_in_which_files_are_read(
    lines: list[tuple[str, str]], random: object
) -> None:
    """Each id once; every line counts or is a problem."""
    found = [
        Entry(PATH, n, "lesson", text, block=block) for n, (text, block) in enumerate(lines, 1)
    ]
    pairs, problems = topics.keyed(found)
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert topics.keyed(shuffled) == (pairs, problems)
    assert len({key for key, _ in pairs}) == len(pairs)
    told = {problem.line for problem in problems}
    assert {entry.line for _, entry in pairs} | told == {entry.line for entry in found}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_new_line_goes_to_the_end(newline: str) -> None:
    """In the file's own line endings, on a line of its own."""
    before = f"# T{newline}{newline}- [lesson] a"
    expected = f"{before}{newline}- [lesson] b{newline}"
    assert topics.with_line(before, "- [lesson] b") == expected
    assert topics.with_line(before + newline, "- [lesson] b") == expected
    assert topics.with_line("", "- [lesson] b") == "- [lesson] b\n"


@given(st.lists(st.sampled_from(LINES)), st.sampled_from(["\n", "\r\n"]), st.data())
def test_only_the_lines_that_change_change(
    lines: list[str], newline: str, data: st.DataObject
) -> None:
    """All others stay byte for byte, in their line endings."""
    text = "".join(line + newline for line in lines)
    found = topics.parse(PATH, text).entries
    some = data.draw(st.lists(st.sampled_from(found), unique=True)) if found else []
    gone = data.draw(st.lists(st.sampled_from(some), unique=True)) if some else []
    changes = [(e, None if e in gone else replace(e, text="new")) for e in some]
    expected = list(lines)
    for old, new in sorted(changes, key=lambda pair: -pair[0].line):
        expected[old.line - 1 : old.line] = [topics.render(new)] if new else []
    changed = topics.with_changed(text, changes)
    assert changed.replace("\r\n", "\n").split("\n") == [*expected, ""]
    if newline == "\r\n":
        assert changed.count("\n") == changed.count("\r\n")


def test_a_new_file_has_a_title_and_no_entries() -> None:
    """It can be read, and says what it is."""
    for category in CATEGORIES.values():
        text = topics.new_file(category)
        assert topics.parse(category.path, text) == topics.Parsed((), ())
        assert "type: topic" in text and f"# {category.heading}" in text
        assert texts(topics.with_line(text, f"- [{category.name}] x")) == ["x"]


def test_broken_frontmatter_is_reported_and_the_entries_count() -> None:
    """What the metadata says is lost; the lines below are not."""
    parsed = topics.parse("palace/topics/lessons.md", "---\ntitle: [x\n---\n- [lesson] one\n")
    assert [entry.text for entry in parsed.entries] == ["one"]
    assert [problem.line for problem in parsed.problems] == [3]
    assert parsed.problems[0].message.startswith("broken frontmatter (")
