"""The proposal's file, and the pages drafted in it."""

import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import dates, drafts, mechanical, note, proposals
from memory_palace.core.drafts import Material
from memory_palace.core.promotion import DESTINATIONS
from memory_palace.core.proposals import Evidence, Proposal

AT = datetime(2026, 11, 29, 12, tzinfo=UTC)
EVIDENCE = (Evidence("[[topics/lessons#^aa]]", "2026-11-01"), Evidence("[[card]]"))


def made(text: str = "Filter early", **fields: object) -> Proposal:
    """A proposal of a principle."""
    one = Proposal(
        id="",
        destination="principle",
        category="lesson",
        title="Principle: Filter early",
        text=text,
        reason="seen 3 times",
        created=AT,
        draft="---\ntitle: Filter early\n---\n# Filter early\n",
        evidence=EVIDENCE,
        agent="pi@laptop",
        path="palace/reflection_wing/proposals/x.md",
    )
    one = replace(one, **fields)  # type: ignore[arg-type]
    return replace(one, id=proposals.proposal_id(one.destination, one.category, one.text))


_LINE = (
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60)
    .map(lambda s: " ".join(s.split()))
    .filter(bool)
)
_NAME = st.from_regex(r"[a-z/#^-]{1,20}", fullmatch=True)
_DRAFT = st.lists(
    st.one_of(_LINE, st.sampled_from(["```", "````md", "~~~", "## Draft", "---", "", "- [[a]]"])),
    max_size=8,
).map(lambda lines: "\n".join(lines) + "\n")


@given(
    text=_LINE,
    title=_LINE,
    reason=_LINE,
    draft=_DRAFT,
    names=st.lists(_NAME, unique=True, max_size=4),
    decision=st.one_of(st.none(), st.tuples(_LINE, _LINE)),
    crlf=st.booleans(),
)
def test_what_is_written_is_read_back(
    text: str,
    title: str,
    reason: str,
    draft: str,
    names: list[str],
    decision: tuple[str, str] | None,
    crlf: bool,
) -> None:
    """Every key, the quoted text and the draft, also after a decision and with CRLF."""
    days = ("2026-11-01", "")
    evidence = tuple(Evidence(f"[[{name}]]", days[n % 2]) for n, name in enumerate(names))
    one = made(text, title=title, reason=reason, draft=draft, evidence=evidence)
    written = proposals.render(one)
    if decision:
        written = proposals.decided(written, "applied", *decision[:1], AT, decision[1], "[[p]]")
        one = replace(
            one,
            status="applied",
            decided_by=decision[0],
            decided=dates.stamp(AT),
            decision_reason=decision[1],
            page="[[p]]",
        )
    got = proposals.parse(one.path, written.replace("\n", "\r\n") if crlf else written)
    assert got.problems == ()
    assert got.proposal == one


def test_the_id_is_that_of_the_reference() -> None:
    """sha256 of destination, category and text, joined by single bars."""
    expected = hashlib.sha256(b"skill|pattern|Write it whole").hexdigest()[:12]
    assert proposals.proposal_id("skill", "pattern", "Write it whole") == expected


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("status: proposed", "status: maybe", "`status` is 'maybe': known are applied"),
        ("destination: principle", "destination: principal", "did you mean `principle`"),
        ("category: lesson", "category: 7", "`category` is 7"),
        ("category: lesson\n", "", "`category` is None"),
        ("title: ", "title: [", "broken frontmatter"),
        ("created: 2026", "created: soon 2026", "`created` is"),
        ("evidence:\n", "evidence:\n  - plain\n", "no list of links"),
        ("> Filter early", "Filter early", "no quoted text"),
        ("> Filter early", "> Filter late", "not that of its destination"),
        ("## Draft", "## Drafted", "no draft in a fence"),
        ("```markdown", "markdown", "no draft in a fence"),
        ("id: ", "id: 0", "`id` is"),
        ("---\ntitle", "title", "no frontmatter"),
    ],
)
def test_what_was_broken_by_hand_is_named(old: str, new: str, said: str) -> None:
    """A problem with what to do; never an exception."""
    text = proposals.render(made())
    assert old in text
    got = proposals.parse("x.md", text.replace(old, new, 1))
    assert got.proposal is None
    assert any(said in problem.message for problem in got.problems), got.problems


@given(st.text(max_size=300))
def test_any_text_is_no_reason_to_raise(text: str) -> None:
    """Whatever stands in the file."""
    assert proposals.parse("x.md", text).proposal is None
    proposals.parse("x.md", f"---\n{text}\n---\n{text}")


def test_a_decision_changes_the_metadata_only() -> None:
    """Comments and an edited draft stay."""
    text = proposals.render(made()).replace("status: proposed", "status: proposed  # open")
    after = proposals.decided(text, "rejected", "Ann", AT, "no")
    assert "# open" in after
    assert after.split("\n---\n", 1)[1] == text.split("\n---\n", 1)[1]


@pytest.mark.parametrize("destination", DESTINATIONS)
def test_every_draft_is_a_sound_page(destination: str) -> None:
    """It parses without a problem, has its kind, and links to its evidence and proposal."""
    form = mechanical.read("Never run `make #1`") if destination == "enforcement" else None
    material = Material(
        destination, "Filter: early", "seen 3 times", EVIDENCE, "[[p]]", "2026-11-29", "pi@x", form
    )
    page = drafts.draft(material)
    if destination == "topic":
        assert page == "- [preference] Filter: early\n"
        return
    assert "[[topics/lessons#^aa]]" in page
    if destination == "project_rule":
        assert page == "- Filter: early ([[topics/lessons#^aa]])\n"
        return
    found = note.parse("x.md", page)
    assert found.problems == () and found.has_metadata
    assert "[[p]]" in page
    if destination == "skill":
        assert set(found.metadata) == {"name", "description"}
        return
    assert found.type == ("rule" if form else destination)
    assert found.metadata["evidence"] == [e.link for e in EVIDENCE]
    if form:
        assert found.metadata["trigger"] == "bash_contains make #1"
        assert mechanical.fault(found.metadata["trigger"], found.metadata["action"]) == ""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            "Apply filters before the list is cut, or small rooms return nothing",
            "Apply filters before the list is cut",
        ),
        ("never run `git push`; merge", "Never run git push"),
        ("Errors: always say what to do next", "Errors: always say what to do next"),
        ("Keep the log whole (see [[a|the note]]). Then go", "Keep the log whole"),
        ("word " * 40, ("Word " + "word " * 11).strip()),
        ("[[a]]", "Untitled"),
    ],
)
def test_titles(text: str, title: str) -> None:
    """The first clause, without marks and links."""
    assert drafts.title_of(text) == title


@given(st.text(max_size=200))
def test_titles_and_names_fit(text: str) -> None:
    """At most 60 characters on one line (a first `ß` becomes two); a skill's name is what loaders
    take."""
    title = drafts.title_of(text)
    assert 0 < len(title) <= drafts.LONGEST_TITLE + 2 and "\n" not in title
    name = drafts.skill_name(text)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and len(name) <= drafts.LONGEST_NAME
    assert drafts.skill_name(name) == name
