"""The flags of `palace query` that change how it is asked and what is shown of the scores."""

import json
import re
from pathlib import Path

import pytest

from support.palaces import Palace


@pytest.fixture
def talks(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """Three notes, one superseded by another, one with a talk in turns; keywords only."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    keyword_palace.notes(
        topics__store='---\ntitle: Store\nsupersedes: "[[cellar]]"\n---\nThe amber lies in jars.\n',
        topics__cellar="---\ntitle: Cellar\n---\nThe amber lies in the cellar.\n",
        topics__talk="# Talk\n\n- Ana: where is the amber?\n- Bo: ask the keeper of the jars\n",
    )
    keyword_palace.command("index")
    return keyword_palace


def lines_of(out: str) -> list[dict[str, object]]:
    """The objects of JSON lines."""
    return [json.loads(line) for line in out.splitlines()]


def test_keywords_of_the_caller_replace_those_of_the_question(talks: Palace) -> None:
    """`--lex` is looked up, exclusions and all, whether there is a question or not."""
    for question in ([], ["nothing of the kind"]):
        ran = talks.command("query", "--format", "files", "--lex", "amber -jars", *question)
        assert ran.code == 0
        assert [line.split()[2].split(":")[0] for line in ran.out.splitlines()] == [
            "palace/topics/cellar.md"
        ]


@pytest.mark.parametrize("flag", ["--lex", "--vec", "--hyde"])
def test_a_question_may_be_left_out_beside_another_form_of_it(talks: Palace, flag: str) -> None:
    """With none of them it is an error, and a blank one is none."""
    assert talks.command("query", flag, "zxqv").code == 1
    blank = talks.command("query", flag, "  ")
    assert blank.code == 2
    assert "nothing is asked" in blank.err


def test_lines_answer_with_a_single_turn(talks: Palace) -> None:
    """Not the whole list: the turn, with its own line numbers."""
    ran = talks.command("query", "--lines", "--format", "jsonl", "keeper")
    (best, *_) = lines_of(ran.out)
    assert (best["start"], best["end"]) == (4, 4)
    assert best["text"] == "- Bo: ask the keeper of the jars"


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (["--raw", "--lines"], "--raw orders chunks by cosine alone"),
        (["--raw", "--diverse", "0.3"], "--raw orders chunks by cosine alone"),
        (["--raw", "--rerank"], "--raw orders chunks by cosine alone"),
        (["--lines", "--diverse", "0.3"], "leave one out"),
        (["--explain", "--format", "files"], "--explain needs --format text or jsonl"),
        (["--diverse", "1.5"], "not in the range"),
    ],
)
def test_flags_that_exclude_each_other_are_refused(
    talks: Palace, flags: list[str], why: str
) -> None:
    """Exit 2 and one line, before anything is opened."""
    ran = talks.command("query", *flags, "amber")
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_file_of_questions_has_no_other_form_of_one(talks: Palace, tmp_path: Path) -> None:
    """`--batch` takes --lines and --explain, and refuses what belongs to one question."""
    file = tmp_path / "questions.txt"
    file.write_text("keeper\namber\n")
    for flag in ("--lex", "--vec", "--hyde"):
        ran = talks.command("query", "--batch", str(file), flag, "amber")
        assert (ran.code, ran.out) == (2, "")
        assert flag in ran.err
    ran = talks.command("query", "--batch", str(file), "--lines", "--explain")
    first, second = lines_of(ran.out)
    assert first["hits"][0]["start"] == 4  # type: ignore[index]
    assert all("explain" in hit for hit in second["hits"])  # type: ignore[attr-defined]


def test_a_reranker_that_is_missing_is_said(talks: Palace) -> None:
    """Exit 3, with the command that mends it."""
    ran = talks.command("query", "--rerank", "amber")
    assert (ran.code, ran.out) == (3, "")
    assert "reranking needs" in ran.err
    assert "run `" in ran.err


@pytest.mark.parametrize("flags", [[], ["--lines"], ["--chunks"]])
@pytest.mark.parametrize("words", [["amber jars"], ["--tag", "x"], ["--room", "topics"]])
def test_the_explanation_adds_up_to_the_score(
    talks: Palace, flags: list[str], words: list[str]
) -> None:
    """Under each hit, with weights of the palace's own, a superseded note among them."""
    talks.write("palace.yaml", "scoring: {semantic: 0.7, recency: 0.2, importance: 0.1}\n")
    talks.notes(topics__tagged="---\ntags: [x]\n---\nNothing of it.\n")
    talks.command("index")
    ran = talks.command("query", "--explain", *flags, *words)
    assert ran.code == 0
    scores = re.findall(r"^\d+\. .*  (\d\.\d{3})$", ran.out, re.MULTILINE)
    tables = ran.out.split("\n   score")[:-1]
    assert len(tables) == len(scores) > 0
    for table, score in zip(tables, scores, strict=True):
        *_, last = re.split(r"^\d+\. ", table, flags=re.MULTILINE)
        points = re.findall(r"= +(-?\d\.\d{3})(?:  |$)", last, re.MULTILINE)
        assert sum(map(float, points)) == pytest.approx(float(score), abs=1e-9)


def test_the_explanation_names_the_terms(talks: Palace) -> None:
    """On stderr, so that JSON lines stay JSON lines; not where nothing was asked."""
    ran = talks.command("query", "--explain", "--format", "jsonl", "amber -cellar jars")
    assert "looked up: amber, jars; excluded: cellar" in ran.err
    for hit in lines_of(ran.out):
        points = [row["points"] for row in hit["explain"]]  # type: ignore[attr-defined]
        assert sum(points) == pytest.approx(hit["score"], abs=1e-9)
    assert "looked up" not in talks.command("query", "--explain", "--room", "topics").err


def test_without_it_a_hit_has_no_explanation(talks: Palace) -> None:
    """The keys of JSON lines are those that are promised."""
    (hit, *_) = lines_of(talks.command("query", "--format", "jsonl", "amber").out)
    assert "explain" not in hit
