"""What a prompt asks of the memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import fence, prompts
from memory_palace.core.prompt_ends import LOOKED_AT, bounded
from memory_palace.core.prompts import is_machine_made, is_social, question

TRACE = """\
Traceback (most recent call last):
  File "/srv/app/store.py", line 31, in save
    handle.write(data)
OSError: [Errno 28] No space left on device
"""
TEXTS = st.text(alphabet=st.characters(), max_size=400)
PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "<system-reminder>",
                "</system-reminder>",
                "```\n",
                "~~~\n",
                "\n",
                "- ",
                "at a.b(",
                "\0",
            ),
            *(
                "<palace-memory ",
                "</palace-memory>",
                "\ud800",
                "[Image",
                "word ",
                "@@ -1",
                '"',
                "é",
            ),
        ]
    ),
    max_size=60,
).map("".join)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "hi",
            "thanks!",
            "ok go on",
            "yes",
            "LGTM",
            "👍",
            "???",
            "2",
            "1.",
            "how are you?",
            "",
            " \n",
        ),
        *("sounds good, please continue", "it's fine", "d’accord", "vas-y", "Danke schön!", "ok👍"),
        "谢谢",
        "好的，继续",
        "はい、お願いします",
        "ありがとう",
        "네, 좋아요",
        "नमस्ते",
        "спасибо!",
        "dzięki",
    ],
)
def test_a_short_social_prompt_is_one(text: str) -> None:
    """In the more common languages, with signs and emoji."""
    assert is_social(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "fix the bug",
            "yes, use postgres",
            "thanks, now the parser",
            "/compact",
            "¿qué base?",
            "src/",
        ),
        *("what is FAISS?", "42", "继续修复解析器", "ok " * 9, "hi " * 40),
    ],
)
def test_a_prompt_that_says_something_is_not_social(text: str) -> None:
    """One word of substance is enough, and so is length."""
    assert not is_social(text)


@given(st.lists(st.text("abcdefghijklmnop", min_size=1, max_size=7), min_size=9, max_size=30))
def test_a_question_of_many_words_is_never_social(words: list[str]) -> None:
    """Whatever the words are."""
    assert not is_social(" ".join(words) + "?")


@given(TEXTS | PIECES)
def test_any_text_makes_a_question_that_is_bounded_and_can_be_stored(text: str) -> None:
    """On one line, without NUL or half characters, and nothing raises."""
    made = question(text)
    assert len(made) <= prompts.MOST_CHARACTERS
    assert not set(made) & set("\0\n\r")
    made.encode("utf-8")
    assert is_social(text) in (True, False)
    assert is_machine_made(text) in (True, False)


@given(PIECES, st.integers(1, 4000))
def test_a_long_prompt_is_asked_like_its_start_and_end(text: str, times: int) -> None:
    """So that only these have to be sent to a server."""
    long = (text + " ") * times
    assert question(bounded(long)) == question(long)
    assert len(bounded(long)) <= 2 * LOOKED_AT + 1


@pytest.mark.parametrize(
    "part",
    [
        *(
            "<system-reminder>",
            "x",
            "```\n",
            "\n",
            "at a.b(",
            "[Image",
            "\ud800\0",
            "- ",
            "<a b",
            "好的",
        ),
        *(
            '"',
            "<palace-memory ",
            "a-b_c/",
            "ERROR x\n",
            "<command-name>",
            "2026-11-29 10:00:00 x\n",
        ),
    ],
)
def test_a_megabyte_is_looked_at_at_both_ends_only(part: str) -> None:
    """What a person wrote before and after it is the question."""
    pasted = part * (1_000_000 // len(part))
    made = question(f"Why is the ledger slow?\n\n{pasted}\n\nLook at the fjord first.")
    assert "ledger" in made
    assert "fjord" in made
    assert len(made) <= prompts.MOST_CHARACTERS


def test_start_and_end_of_what_a_person_wrote_are_kept() -> None:
    """The middle of a long prompt is left out, at blanks."""
    made = question("Begin with amber. " + "and so on and on " * 200 + "End with cedar.")
    assert made.startswith("Begin with amber.")
    assert made.endswith("End with cedar.")
    assert len(made) <= prompts.MOST_CHARACTERS


def test_pasted_text_is_left_out_but_for_the_error() -> None:
    """A stack trace in a fence: its last line says what happened."""
    made = question(f"The save fails.\n\n```\n{TRACE}more\n```\nWhy?")
    assert made == "The save fails. Why? OSError: [Errno 28] No space left on device"


@pytest.mark.parametrize(
    "pasted",
    [
        TRACE.replace("OSError: [Errno 28] No space left on device\n", ""),
        "2026-11-29 10:00:00 INFO started\n2026-11-29T10:00:01Z done with it",
        "10:00:00 worker up\n[INFO] ready",
        "diff --git a/x.py b/x.py\nindex 1234567..89abcde 100644\n--- a/x.py\n+++ b/x.py\n"
        "@@ -1 +1 @@\n-old line\n+new line\n context of it",
        "    at com.example.Store.save(Store.java:31)\n    at main (/srv/index.js:2:1)",
        "def save(handle):\n    return handle;",
        'import os\n{"a": 1, "b": [2, 3], "c": {"d": null, "e": "f"}, "g": true, "h": [[], []]}',
        "A" * 5_000,
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNk" * 4,
        "~~~ python\nbirch = 1\nbirch = 2\nbirch = 3\nbirch = 4\n~~~",
    ],
)
def test_logs_code_traces_and_blobs_are_no_part_of_the_question(pasted: str) -> None:
    """Whether they stand in a fence or not."""
    assert question(f"Where is the ledger?\n\n{pasted}\n\nTell me.") == (
        "Where is the ledger? Tell me."
    )


def test_a_short_fence_stays() -> None:
    """A command or a name in it is what the question is about."""
    assert question("What does this do?\n```sh\npalace query amber\n```") == (
        "What does this do? palace query amber"
    )


def test_a_prompt_of_pasted_text_alone_asks_for_some_of_it() -> None:
    """The error and the first line, without the time."""
    made = question("2026-11-29 10:00:00 INFO up\n" * 9 + "2026-11-29 10:00:01 ERROR disk is full")
    assert made == "ERROR disk is full INFO up"


def test_what_memory_injected_and_clients_added_is_not_asked_for() -> None:
    """Between its marks; the arguments of a command are a person's words."""
    injected = fence.fenced("the secret of amber", "prompt")
    boilerplate = "<system-reminder>\nBe brief.\n</system-reminder>"
    command = "<command-name>/review</command-name><command-args>the parser</command-args>"
    made = question(f"{injected}\n{boilerplate}\n{command} [Image #1] now")
    assert made == "the parser now"


def test_an_open_tag_takes_nothing_with_it() -> None:
    """Somebody may write about a tag."""
    assert question("what is <system-reminder> for?") == "what is for?"


def test_injected_text_that_is_cut_in_two_is_left_out_whole() -> None:
    """The marks may lie in the part of a long prompt that nobody looks at."""
    filler = "amber " * 20_000
    inside = "z" * (LOOKED_AT - 10)
    opened = "start " + " " * 9_000 + f'{fence.OPEN} kind="prompt">' + "hidden " * 9_000
    assert "hidden" not in question(f"{opened}{fence.CLOSE}{filler} the end")
    closed = f"{filler}{fence.OPEN}>{inside} hidden {fence.CLOSE} the end"
    assert question(closed).endswith("the end")
    assert "hidden" not in question(closed)


def test_a_sign_before_a_word_excludes_nothing() -> None:
    """In a question `-word` would leave a word out."""
    assert question("run it with -verbose and --force") == "run it with verbose and force"


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("amber", "system"),
        ("amber", "task_notification"),
        ("amber", "auto-continuation"),
        ("<task-notification>\n<task-id>a</task-id>\n</task-notification>", ""),
        ("\n<local-command-stdout>amber</local-command-stdout>", ""),
    ],
)
def test_prompts_that_no_person_wrote_are_known(text: str, source: str) -> None:
    """By what the client says of them, or by how they begin."""
    assert is_machine_made(text, source)


@pytest.mark.parametrize("source", ["", "user", "human", "something-new"])
def test_any_other_prompt_is_a_persons(source: str) -> None:
    """An unknown source too: better one hint too many."""
    assert not is_machine_made("where is the ledger? <task-notification>", source)


@pytest.mark.parametrize("typed", ['"How are branches called?"', "“How are branches called?”"])
def test_quotes_around_a_whole_prompt_are_no_phrase(typed: str) -> None:
    """A prompt that a client put into quotes asks what is inside them; a quotation in it stays."""
    assert prompts.question(typed) == "How are branches called?"
    assert prompts.question('"a" or "b"') == '"a" or "b"'
