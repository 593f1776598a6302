"""The situation report of a palace."""

from pathlib import Path

import pytest

from memory.writing import NOW, Writer
from memory_palace.core import proposals
from memory_palace.core.errors import PalaceError
from memory_palace.core.proposals import Evidence, Proposal
from memory_palace.memory.alike import Entries
from memory_palace.session import report
from support.fake import fake_choice


def proposal(title: str, status: str, links: int) -> Proposal:
    """A proposal with so many links as evidence."""
    identity = proposals.proposal_id("project_rule", "lesson", title)
    return Proposal(
        identity,
        "project_rule",
        "lesson",
        title,
        title,
        "often",
        NOW,
        "# Draft\n",
        tuple(Evidence(f"[[a{n}]]") for n in range(links)),
        status=status,
    )


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    """Memories with evidence of two."""
    made = Writer(tmp_path / "root")
    for text, category in (
        ("Run the migrations before the tests", "lesson"),
        ("No colours off a terminal", "preference"),
        ("After an edit of catalog.py raise FORMAT", "mistake"),
    ):
        made.remember(text, category)
        made.remember(text, category)
    return made


def test_the_memories_as_they_stand(writer: Writer) -> None:
    """Active ones, with their sections."""
    found = report.compose(writer.root, NOW)
    assert [memory.category for memory in found.memories] == ["preference", "lesson", "mistake"]
    assert all(memory.lifecycle == "active" for memory in found.memories)
    assert found.text.startswith("# Project Memory [")


def test_a_prompt(writer: Writer) -> None:
    """Decides the class, and brings what is near; a social one brings nothing."""
    found = report.compose(writer.root, NOW, "why do the migrations fail when the tests run?")
    assert found.kind.name == "debug" and found.words == "fail"
    [near] = [one for one in found.sections if one.name == "Near to the prompt"]
    assert [memory.category for memory in near.memories] == ["lesson"]
    state = report.states.load(writer.root, NOW)
    assert report.near_prompt(state, "thanks, run the migrations") != []
    assert report.near_prompt(state, "thanks!") == []
    assert report.near_prompt(state, "   ") == []


def test_files(writer: Writer) -> None:
    """Bring what names them."""
    found = report.compose(writer.root, NOW, files=["index/catalog.py"])
    [near] = [one for one in found.sections if one.name == "Near to the files"]
    assert [memory.category for memory in near.memories] == ["mistake"]


def test_by_vectors(writer: Writer) -> None:
    """With an embedder the cosine decides; what names a file is near without."""
    entries = Entries(writer.root, fake_choice())
    state = report.states.load(writer.root, NOW)
    [near] = report.near_prompt(state, "colours terminal", entries)
    assert near.memory.category == "preference" and near.similarity > 0.65
    assert report.near_prompt(state, "an unrelated question about money", entries) == []
    [named] = report.near_files(state, ["x/catalog.py"], entries)
    assert named.similarity == 1.0


def test_proposals_that_wait(writer: Writer) -> None:
    """The ones with most evidence first; what is decided or broken is not there."""
    folder = f"{report.PROPOSALS}/"
    for title, status, links in (("One", "proposed", 1), ("Two", "proposed", 2), ("No", "", 3)):
        made = proposal(title, "proposed", links)
        text = proposals.render(made)
        if not status:
            text = proposals.decided(text, "rejected", "Ann", NOW, "no")
        writer.palace.write(proposals.path_of(title, made.id), text)
    writer.palace.write(f"{folder}broken.md", "---\nx: [\n---\n")
    assert [one.text for one in report.candidates(writer.root)] == ["Two", "One"]
    assert "- Two (project rule, " in report.compose(writer.root, NOW).text


def test_a_link_instead_of_the_proposals(writer: Writer, tmp_path: Path) -> None:
    """It leads anywhere: none wait, and the report is there all the same."""
    folder = writer.root / report.PROPOSALS
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(tmp_path)
    assert report.candidates(writer.root) == []
    assert report.compose(writer.root, NOW).text


def test_an_empty_palace(tmp_path: Path) -> None:
    """Has no report; a log that cannot be read is said."""
    writer = Writer(tmp_path / "root")
    assert report.compose(writer.root, NOW).text == ""
    (writer.root / "manifests/memory_events.jsonl").mkdir(parents=True)
    with pytest.raises(PalaceError):
        report.compose(writer.root, NOW)
