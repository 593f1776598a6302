"""What the rules see in a session: which lines, what they cite, and what gives none."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.talked import agent, edit, entries, shell, user
from memory_palace.core.ledger import RELEVANCES, TYPES, Entry, Observation, record_id
from memory_palace.core.observer import MOST_CONTENT, observe

FAILED = (
    "E       assert -1850 == -1849\nFAILED tests/test_money.py::test_refund\n1 failed, 3 passed"
)


def seen(*rows: Entry) -> tuple[Observation, ...]:
    """What is observed of a session."""
    return observe(entries(*rows))


def only(*rows: Entry) -> Observation:
    """The one thing that is observed."""
    found = seen(*rows)
    assert len(found) == 1, [one.content for one in found]
    return found[0]


def places(one: Observation) -> list[int]:
    """The places of the entries that it cites."""
    return [int(source, 16) for source in one.sources]


def test_nothing_gives_nothing() -> None:
    """No entries, no lines."""
    assert observe(()) == ()


@pytest.mark.parametrize(
    "rows",
    [
        (user("thanks!"), user("ok, go on")),
        (agent("Let me look at the tests."), agent("I'll check the configuration now.")),
        (shell("ls -la", "src\ntests"), shell("cat src/a.py", "error: not mine\n1 failed")),
        (agent("Done looking?"), user("What is it?"), user("And why?")),
        (shell("pytest -q", "3 passed"), shell("git status --short", " M a.py")),
    ],
    ids=["social", "plans", "looking", "questions", "passing"],
)
def test_chatter_gives_nothing(rows: Sequence[Entry]) -> None:
    """Social turns, plans, what tools only show, questions and what passed are no lines."""
    assert seen(*rows) == ()


def test_an_error_its_fix_and_the_pass_are_one_bugfix() -> None:
    """The exact error, the edit and the command that passes stand in one line that cites all."""
    found = only(
        shell("pytest tests/test_money.py", FAILED, failed=True),
        edit("src/money.py", "return -whole if cents < 0 else whole", "return whole"),
        shell("pytest tests/test_money.py", "4 passed"),
    )
    assert (found.type, found.relevance, places(found)) == ("bugfix", "high", [0, 1, 2])
    assert "`assert -1850 == -1849`" in found.content
    assert "src/money.py" in found.content and "pytest tests/test_money.py" in found.content
    assert (found.files, found.room) == (("src/money.py",), "src")
    assert found.work == sum(
        one.tokens
        for one in entries(
            shell("pytest tests/test_money.py", FAILED, failed=True),
            edit("src/money.py", "return -whole if cents < 0 else whole", "return whole"),
            shell("pytest tests/test_money.py", "4 passed"),
        )
    )


def test_what_the_agent_said_of_the_cause_is_part_of_the_fix() -> None:
    """The explanation stands in the fix's line, and in no line of its own."""
    found = only(
        shell("cargo test", "panicked at src/clock.rs:88:9:\n  left: 32\n right: 1", failed=True),
        agent("The cause is that next_day() never carries over into January."),
        edit("src/clock.rs", "Self::from_days(self.days + 1)"),
        shell("cargo test", "test result: ok. 3 passed; 0 failed"),
    )
    assert "never carries over" in found.content and "left: 32 right: 1" in found.content
    assert places(found) == [0, 1, 2, 3]


def test_another_command_that_passes_fixes_nothing() -> None:
    """An error stays one until the same is tried again on the same files."""
    for passed in ("cargo build", "pytest tests/test_other.py"):
        found = only(
            shell("pytest tests/test_money.py", FAILED, failed=True), shell(passed, "fine")
        )
        assert (found.type, found.relevance) == ("discovery", "high")
        assert found.content.startswith("Failed: `assert -1850 == -1849`")


def test_a_failure_that_no_code_tells() -> None:
    """Tests behind a pipe fail by what they print; `0 failed` and a commit's words do not."""
    assert only(shell("pytest | tail -3", "2 failed, 1 passed")).content.startswith("Failed")
    assert seen(shell("pytest | tail -3", "0 failed, 1 passed")) == ()
    made = only(shell("git commit -m x", "[main 1a2b3c4] fix: 3 errors in the report"))
    assert made.type == "bugfix"


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        ("fix(clock): midnight is a time", "bugfix"),
        ("feat!: dark mode", "feature"),
        ("refactor(importer): three modules", "refactor"),
        ("perf: nearest by a tree", "refactor"),
        ("docs: the changelog", "change"),
        ("Add a switch to the header", "feature"),
        ("Split the importer", "refactor"),
        ("Weekly figures", "change"),
    ],
)
def test_the_type_of_a_commit(subject: str, kind: str) -> None:
    """By the conventional prefix, else by the verb; hash and branch are told."""
    found = only(shell(f'git commit -am "{subject}"', f"[main 31c8e05] {subject}\n 1 file changed"))
    assert found.type == kind
    assert found.content == f"Committed `31c8e05` on main: {subject}"


def test_a_commit_names_the_files_that_were_edited_before() -> None:
    """Files since the last commit."""
    found = seen(
        edit("src/a.py", "alpha = 1"),
        shell("git commit -am a", "[main aaaaaa1] Alpha"),
        edit("src/b.py", "beta = 2"),
        shell("git commit -am b", "[main bbbbbb2] Beta"),
    )
    assert [one.files for one in found if "Committed" in one.content] == [
        ("src/a.py",),
        ("src/b.py",),
    ]


def test_a_correction_has_what_it_corrects() -> None:
    """The proposal and the answer to it share a line of the highest relevance."""
    found = only(
        agent("I would switch the billing package to decimal.Decimal with ROUND_HALF_UP."),
        user("No, use integer cents instead, Decimal is too slow for the nightly export."),
    )
    assert (found.type, found.relevance, places(found)) == ("decision", "critical", [0, 1])
    assert "decimal.Decimal" in found.content and "integer cents" in found.content


@pytest.mark.parametrize(
    ("text", "kind", "relevance"),
    [
        ("From now on always branch as fix/<ticket>.", "decision", "critical"),
        ("I prefer pnpm over npm.", "decision", "critical"),
        ("let's go with rstar, kiddo needs a newer compiler", "decision", "high"),
        ("We rejected Node 22 because the customer's image has Node 20.", "decision", "high"),
        ("We're blocked until ops renew the token, see OPS-1177.", "discovery", "high"),
    ],
)
def test_what_people_want(text: str, kind: str, relevance: str) -> None:
    """Preferences, decisions and blockers, in the person's own words."""
    found = observe(entries(user("hi"), user(text)))
    assert [(one.type, one.relevance) for one in found] == [(kind, relevance)]
    assert found[0].content == f"User: {text}"


def test_a_yes_decides_what_was_proposed() -> None:
    """`yes`, or `no`, is a line only after a proposal."""
    found = only(
        agent("I propose to drop the column total after the migration."), user("yes, do it")
    )
    assert found.type == "decision" and found.content.endswith(" / User: yes, do it")
    assert seen(user("yes, do it")) == ()
    (found,) = seen(agent("I propose to drop the column total after the migration."), user("no"))
    assert found.type == "decision" and found.content.endswith(" / User: no")
    fact = agent("The nightly export of all invoices took 31 minutes in September.")
    assert [one.type for one in seen(fact, user("ok"))] == ["discovery"]


def test_the_first_request_counts() -> None:
    """What a session begins with is told though it states little."""
    found = only(user("Please mend the importer."), shell("ls"))
    assert (found.relevance, found.content) == ("high", "User: Please mend the importer.")


def test_edits_of_a_file_share_a_line() -> None:
    """What was added, of little relevance; only where no fix tells of it."""
    found = only(edit("a/b.py", "RATE = 2500", "RATE = 0.25"), edit("a/b.py", "LIMIT = 40"))
    assert (found.type, found.relevance, places(found)) == ("change", "low", [0, 1])
    assert found.content == "Changed a/b.py: `RATE = 2500; LIMIT = 40`"


def test_talk_between_people_keeps_who_said_it() -> None:
    """Of a conversation, facts stay with their speaker; kind words and questions go."""
    found = seen(
        user("Ana: Hey Bo! Good to see you! How have you been?"),
        agent("Bo: Great, thanks! I moved to Lisbon in March and started as a tram driver."),
        user("Ana: Wow, that's awesome!"),
        agent("Bo: Thanks! What about you?"),
        user("Ana: My sister Ines opened a bakery on Rua Augusta last week."),
    )
    assert len(found) == 1
    assert found[0].content == (
        "Bo: I moved to Lisbon in March and started as a tram driver."
        " / Ana: My sister Ines opened a bakery on Rua Augusta last week."
    )
    assert places(found[0]) == [1, 4]


@pytest.mark.parametrize(
    "text",
    [
        "Der nächtliche Export der Rechnungen dauert seit dem Umzug nach Malmö 31 Minuten.",
        "L'importateur des factures perd la dernière ligne du fichier depuis septembre.",
        "請求書の夜間エクスポートは九月から三十一分かかります。",
        "Ночной экспорт счетов с сентября занимает тридцать одну минуту.",
    ],
)
def test_other_languages(text: str) -> None:
    """A sentence with rare words is kept, whatever its language."""
    found = observe(entries(user("hi"), user(text)))
    assert [one.content for one in found] == [f"User: {text}"]


def test_code_and_signs_of_markdown_are_left_out() -> None:
    """Fences of code, list marks and bold signs of an answer are no part of a line."""
    code = "\n".join(f"value_{n} = compute({n})" for n in range(20))
    found = only(agent(f"## Result\n- **Cause**: the cache expired early\n```python\n{code}\n```"))
    assert found.content == "Assistant: Cause: the cache expired early"


HOSTILE = (
    *("a" * 200_000, "a." * 100_000, "`" * 200_000, "```a`" * 40_000, "[image: " * 25_000),
    *("A: " * 70_000, "No, " * 50_000, "\x00\x1b[31m" * 30_000, "\u202e\ud800" * 50_000),
    *("漢字。" * 60_000, "Error" * 40_000, "E   " * 50_000, "$ cd a && " * 20_000),
    *("$ git commit <<EOF\n" + "x\n" * 60_000, "- a\n+ b\n" * 30_000, "/a" * 100_000),
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_hostile_text(text: str) -> None:
    """Long, odd and hostile text gives short plain lines, and takes no time that grows faster."""
    rows = (user(text), agent(text), shell(text, failed=True), edit("a/b.py", text))
    for one in seen(*rows):
        assert len(one.content) <= MOST_CONTENT
        assert one.content.isprintable() or any(mark in one.content for mark in "\u200c\u200d")
        one.content.encode()


SAYINGS = st.sampled_from(
    (
        *("thanks", "No, use tabs instead.", "From now on always sign commits.", "Why?", "", " \n"),
        *("The nightly export takes 31 minutes since 2026-11-03.", "\x00`a` / b: c", "yes"),
        *("Ana: I moved to Lisbon in March.", "Bo: My sister Ines bakes bread on Rua Augusta."),
    )
)
ROWS = st.lists(
    st.one_of(
        st.builds(user, SAYINGS),
        st.builds(agent, SAYINGS),
        st.builds(user, st.text(max_size=80)),
        st.builds(
            shell,
            st.sampled_from(("pytest", "cargo test", "ls", "git commit -m x", "pnpm add d3")),
            st.sampled_from(("", FAILED, "4 passed", "[main 31c8e05] fix: the clock")),
            st.booleans(),
        ),
        st.builds(edit, st.sampled_from(("a/b.py", "c.md")), st.sampled_from(("x = 1", "yyyyy"))),
    ),
    max_size=24,
)


@given(ROWS, st.integers(0, 24))
def test_what_holds_for_every_session(rows: list[Entry], at: int) -> None:
    """Records are sound, the same each time, and each part of a session is covered by itself."""
    whole = entries(*rows)
    assert observe(whole) == observe(whole)
    for part in (whole, whole[:at], whole[at:]):
        found = observe(part)
        assert len({one.id for one in found}) == len(found)
        known = {one.id for one in part}
        for one in found:
            assert one.id == record_id(one.content)
            assert 0 < len(one.content) <= MOST_CONTENT and len(one.content.splitlines()) == 1
            assert one.content == " ".join(one.content.split())
            assert one.sources and set(one.sources) <= known
            assert len(set(one.sources)) == len(one.sources) <= 6
            assert one.covers_up_to == part[-1].id
            assert one.relevance in RELEVANCES and one.type in TYPES


@given(ROWS, st.integers(0, 24))
def test_where_a_session_is_cut_loses_no_wish(rows: list[Entry], at: int) -> None:
    """What a person wants from now on stands in a line, wherever the parts of a session end."""
    wish = "From now on always sign commits."
    whole = entries(*rows, user(wish), *rows)
    for parts in ((whole,), (whole[:at], whole[at:])):
        assert any(wish in one.content for part in parts for one in observe(part))


def test_a_line_is_of_what_weighs_most_in_it() -> None:
    """Of a request and what was decided on it, the decision; of a request and its end, that."""
    asked = user("The catalog page needs a cache for 4,000 products.")
    decided = only(asked, agent("I'd suggest Redis 7, because it expires keys."), user("yes"))
    assert (decided.type, decided.relevance) == ("decision", "high")
    ended = only(asked, agent("Done: the catalog page caches 4,000 products in Redis."))
    assert (ended.type, ended.relevance) == ("change", "high")


def test_what_was_proposed_is_not_told_as_the_cause() -> None:
    """It has a line of its own, with what the person answered."""
    found = seen(
        shell("pytest tests/test_sum.py", FAILED, failed=True),
        agent("The cause is float arithmetic in net(). I would switch billing to decimal.Decimal."),
        user("No, use integer cents instead."),
        edit("src/net.py", "return cents * 2"),
        shell("pytest tests/test_sum.py", "4 passed"),
    )
    fix = next(one for one in found if one.type == "bugfix")
    assert "float arithmetic" in fix.content and "Decimal" not in fix.content
    decision = next(one for one in found if one.type == "decision")
    assert decision.content.startswith("Assistant: I would switch billing to decimal.Decimal. / ")
    assert decision.content.endswith("User: No, use integer cents instead.")


@pytest.mark.parametrize(
    "rows",
    [
        [agent("I'll use moment.js."), user("No, use date-fns instead.")],
        [agent("Use Redis?"), user("Not Redis, keep the table in Postgres.")],
        [agent("I'll use moment.js."), edit("a.js", "import moment"), user("No, use date-fns.")],
        [agent("Use Redis?"), user("no")],
    ],
)
def test_a_correction_tells_what_it_refuses_however_short(rows: Sequence[Entry]) -> None:
    """Also where an edit came between the two."""
    line = next(one for one in seen(*rows) if one.type == "decision")
    first, last = rows[0], rows[-1]
    assert line.content == f"Assistant: {first.text} / User: {last.text}"
    assert places(line) == [0, len(rows) - 1]


def test_what_a_person_decides_next_is_another_matter() -> None:
    """Unless the answer before it proposed something, or is corrected."""
    answer = agent("The nightly export of all invoices took 31 minutes in September.")
    asked = user("From now on branch as fix/<ticket>, as the release script expects it.")
    assert [places(one) for one in seen(answer, asked)] == [[0], [1]]
    wrong = user("No, that was the export of August, September took 44 minutes.")
    assert [places(one) for one in seen(answer, wrong)] == [[0, 1]]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "From now on deploy with [PRIVATE] the blue script, never by hand.",
            "From now on deploy with the blue script, never by hand.",
        ),
        ("[PRIVATE] Never deploy on Fridays.", "Never deploy on Fridays."),
        (
            "Rotate [SECRET: aws key] every ninety days in the vault of operations.",
            "Rotate [SECRET: aws key] every ninety days in the vault of operations.",
        ),
    ],
)
def test_what_stands_around_a_private_span_is_told(said: str, told: str) -> None:
    """Without its mark; a secret's mark says what there is."""
    (found,) = seen(user("hi"), user(said))
    assert found.content == f"User: {told}"


@pytest.mark.parametrize("said", ["The key is [SECRET: token].", "[PRIVATE]", "Use [PRIVATE]"])
def test_a_turn_that_is_only_secret_gives_nothing(said: str) -> None:
    """Nor what leads to it."""
    assert seen(user("hi"), user(said)) == ()


def test_a_commit_that_printed_nothing() -> None:
    """Told by its message, unless the call failed."""
    (found,) = seen(shell('git commit -qm "fix: midnight is a time"'))
    assert (found.content, found.type) == ("Committed: fix: midnight is a time", "bugfix")
    failed = seen(shell('git commit -qm "fix: midnight"', "hook says no", failed=True))
    assert [one.content[:7] for one in failed] == ["Failed:"]


def test_a_pass_as_a_part_of_a_chain_mends() -> None:
    """Of `a && b` that passed, both did."""
    for passed in ("ruff check . && pytest -q", "pytest -q && git add src"):
        (found,) = seen(shell("pytest -q", FAILED, failed=True), shell(passed, "4 passed"))
        assert (found.type, places(found)) == ("bugfix", [0, 1])
        assert found.content.endswith(f"gone. Then passed: `{passed}`")
