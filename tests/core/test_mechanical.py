"""Mechanical forms of memories."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import mechanical
from memory_palace.core.mechanical import Form, read


@pytest.mark.parametrize(
    ("text", "trigger", "action"),
    [
        ("Never run `git push --force`", "bash_contains git push --force", "block"),
        ("never run git push --force", "bash_contains git push --force", "block"),
        ("Never run git push --force.", "bash_contains git push --force", "block"),
        ("Don't run `npm install`: use pnpm", "bash_contains npm install", "block"),
        ("Don’t ever run “npm install”", "bash_contains npm install", "block"),
        ("Do not run the command `rm -rf /`", "bash_contains rm -rf /", "block"),
        ("You must never run 'git reset --hard'", "bash_contains git reset --hard", "block"),
        ("Please never run `make wipe`", "bash_contains make wipe", "block"),
        ("Never run `x --all` because it deletes", "bash_contains x --all", "block"),
        ("Never use `git add .`; name the files", "bash_contains git add .", "block"),
        ("Never use `eval`", "bash_contains eval", "block"),
        ("Never run `git push -f`, see [[a#^b|c]]", "bash_contains git push -f", "block"),
        ("Never run `echo #1`", "bash_contains echo #1", "block"),
        ("Never use tool WebSearch", "tool_name WebSearch", "block"),
        ("Never use the tool `bash`", "tool_name bash", "block"),
        ("Do not use the WebSearch tool", "tool_name WebSearch", "block"),
        ("Don't call the `fetch` tool: it leaks", "tool_name fetch", "block"),
        ("Never use the tool called mcp__web__get", "tool_name mcp__web__get", "block"),
        ("Always ask before `terraform apply`", "bash_contains terraform apply", "warn"),
        ("Always ask me first before running `deploy`", "bash_contains deploy", "warn"),
        ("You must always ask the user before you run `dd`ing", "bash_contains dd", "warn"),
        ("Warn when modifying `migrations/*.sql`", "file_modified migrations/*.sql", "warn"),
        ("Warn me when editing files in migrations/", "file_modified migrations/**", "warn"),
        ("Always warn before changing uv.lock", "file_modified uv.lock", "warn"),
    ],
)
def test_plain_forms(text: str, trigger: str, action: str) -> None:
    """The four forms in the obvious wordings, high where nothing narrows them."""
    form = read(text)
    assert form is not None
    assert (form.trigger, form.action) == (trigger, action)
    assert form.confidence == ("low" if "`dd`" in text else "high"), form.why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Never run `npm install` unless asked", "`unless` narrows"),
        ("Never run `make deploy` on Fridays", "`Fridays` narrows"),
        ("Never run `git push --force`, except in CI", "`except` narrows"),
        ("Never run `make x`. On CI it is allowed", "`allowed` narrows"),
        ("Never run `git push --force` on a palace; merge", "`on a` follows"),
        ("Never run `make deploy` again", "`again` follows"),
        ("Never run `make a`, `make b`", "follows"),
        ("Never run npm install manually", "a guess"),
        ("never run git push --force origin", "a guess"),
        ("Never run `git push <remote> -f`", "placeholder"),
        ("Never run `curl x | sh`", "more than one command"),
        ("Never run `rm`", "is short"),
        ("Never use `frobnicate`", "may be no command"),
        ("Never use tool calls", "no tool's name"),
        ("Never edit uv.lock by hand", "by"),
        ("Never modify `schema.sql`", "only be warned of"),
        ("Warn when changing `*`", "every file"),
        ("Warn when modifying `/etc/hosts`", "outside the project"),
        ("Warn when touching `the-thing`", "may be no file"),
        ("The release broke; never run `make deploy`", "longer text"),
        (r"Never run commands matching `curl .*\|`", "regular expression"),
    ],
)
def test_what_is_in_doubt_is_low(text: str, why: str) -> None:
    """Conditions, guesses and triggers that are too wide wait for a person."""
    form = read(text)
    assert form is not None
    assert form.confidence == "low"
    assert why in form.why or why == "by"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "never run",
        "Never run ``",
        "Never run tests twice",
        "Always ask before deploying",
        'They say "never run `x y`" a lot',
        "We never ran `make deploy`",
        "Warn when modifying the schema",
        "Never use the tool in a way that hurts",
        "Never run commands matching `(`",
        "Filter before the cut",
    ],
)
def test_what_has_no_form(text: str) -> None:
    """Prose is left to whoever judges."""
    form = read(text)
    assert form is None or form.confidence == "low"
    if "way" not in text:
        assert form is None


def test_a_regular_expression_waits() -> None:
    """It is read, and never sure."""
    assert read("Never run anything that matches `rm .*`") == Form(
        "bash_regex rm .*", "block", "low", "a regular expression is for a person to read first"
    )


@pytest.mark.parametrize(
    ("trigger", "action", "said"),
    [
        ("bash_contains git push", "block", ""),
        ("tool_name Bash", "run_after make lint", ""),
        (None, "block", "`trigger` is missing"),
        ("bash_contains", "block", "nothing after it"),
        ("bash_contains  ", "block", "nothing after it"),
        ("shell x", "block", "write bash_contains"),
        ("bash_regex (", "warn", "cannot be read"),
        ("bash_regex " + "a" * 201, "warn", "more than 200"),
        ("file_modified *.md", "run_after ", "write block, warn"),
        ("file_modified *.md", ["warn"], "write block, warn"),
    ],
)
def test_faults_of_rules(trigger: object, action: object, said: str) -> None:
    """A rule that cannot work is told what to write."""
    found = mechanical.fault(trigger, action)
    assert said in found and bool(found) == bool(said)


_PIECES = st.sampled_from(
    "never|run|use|tool|don't|always ask|before|warn when|modifying|`|`git push`|unless|--force|"
    "git|[[a]]|;|.|'|\"|src/*.py|é|—".split("|")
)


@given(st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=12).map(" ".join)))
def test_any_text_is_read_and_every_form_is_sound(text: str) -> None:
    """Nothing raises; what comes out has no fault and does no more than block or warn."""
    form = read(text)
    if form:
        assert mechanical.fault(form.trigger, form.action) == ""
        assert form.action in ("block", "warn")
        assert form.why
