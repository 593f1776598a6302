"""Articles, and the candidates that become one."""

from pathlib import Path

import pytest

from memory.growing import Work, only
from memory_palace.core.errors import BadInput, Refused
from memory_palace.memory import constitution, pen
from memory_palace.memory.evidence import Shelf
from support.palaces import NOW


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    """An empty palace of a known writer."""
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    return Work(tmp_path / "root")


def principle(work: Work, more: str = "priority: high\n") -> str:
    """A principle that three cards and two rooms speak for."""
    for name, day in (("one", "2026-11-20"), ("two", "2026-11-21"), ("three", "2026-11-22")):
        room = "demo" if name == "one" else "other"
        work.card(name, day, "0" * 12, more=f"project: {room}\n")
    links = "".join(f'  - "[[{name}]]"\n' for name in ("one", "two", "three"))
    work.write(
        "palace/reflection_wing/principles/keep-it.md",
        f"---\ntitle: Keep it\ntype: principle\n{more}evidence:\n{links}---\n# Keep it\n\n"
        "Keep what works.\n",
    )
    return "palace/reflection_wing/principles/keep-it.md"


def test_a_weighty_principle_is_put_before_a_person(work: Work) -> None:
    """It becomes a candidate note under a name of its own, which links to the principle."""
    path = principle(work)
    one = only(work.scan())
    assert (one.destination, one.category) == ("constitution_candidate", "principle")
    done = work.approve(one)
    assert done.page == ("palace/reflection_wing/constitution_candidates/keep-it-candidate.md")
    page = work.text(done.page)
    assert "status: proposed" in page and "Keep what works." in page
    assert "promoted_to" in work.text(path)


@pytest.mark.parametrize("change", ["priority: medium\n", "", 'superseded_by: "[[x]]"\n'])
def test_a_light_principle_is_not(work: Work, change: str) -> None:
    """Of no high priority and not pinned, or superseded."""
    principle(work, change)
    assert work.scan() == ()


def test_a_local_trick_is_no_article(work: Work) -> None:
    """All evidence from one room."""
    principle(work)
    for name in ("one", "two", "three"):
        card = work.root / f"palace/dispatch_corridor/cards/{name}.md"
        card.write_text(card.read_text().replace("project: other", "project: demo"))
    assert work.scan() == ()


def article(work: Work, who: str = "Ann", reason: str = "it was measured") -> constitution.Article:
    """Approve the candidate `no-hit`."""
    with pen.begin(work.root, NOW, "palace promote approve", reason) as p:
        shelf = Shelf(work.root)
        found = constitution.find(work.root, "no-hit")
        assert found is not None
        return constitution.approve(p, shelf, found, who, reason)


CANDIDATE = (
    "---\ntitle: No hit without evidence\ntype: constitution_candidate\nstatus: proposed\n---\n"
    "# No hit\n\n## Proposed article\n\nAn empty answer\nis given as such.\n\n## Why\n\nTrust.\n"
)


def test_an_article_takes_a_person_and_a_reason(work: Work) -> None:
    """It is numbered after the last one and says who approved it, when and why."""
    work.write("palace/reflection_wing/constitution_candidates/no-hit.md", CANDIDATE)
    work.write("palace/reflection_wing/constitution.md", "# Constitution\n\n## 3. Old\n\nText.\n")
    for who, reason in (("", "why"), ("Ann", " "), ("<private>x</private>", "why")):
        with pytest.raises(BadInput):
            article(work, who, reason)
    assert article(work).number == 4
    assert work.text("palace/reflection_wing/constitution.md") == (
        "# Constitution\n\n## 3. Old\n\nText.\n\n## 4. No hit without evidence\n\n"
        "An empty answer\nis given as such.\n"
        "Approved by Ann on 2026-11-29: it was measured.\nFrom [[no-hit]].\n"
    )
    candidate = work.text("palace/reflection_wing/constitution_candidates/no-hit.md")
    assert "status: approved" in candidate
    assert "[[reflection_wing/constitution]]" in candidate
    assert work.events("applied")[0]["destination"] == "constitution"
    with pytest.raises(Refused, match=r"approved already, and stands in .*constitution\.md"):
        article(work)


def test_a_first_article_makes_the_constitution(work: Work) -> None:
    """In the shipped form, pinned."""
    work.write("palace/reflection_wing/constitution_candidates/no-hit.md", CANDIDATE)
    assert article(work).number == 1
    assert "pinned: true" in work.text("palace/reflection_wing/constitution.md")
