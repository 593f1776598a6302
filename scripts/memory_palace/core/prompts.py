"""What a prompt asks of the memory: a person's own words, without what was pasted beside them."""

import re
from collections.abc import Iterator

from memory_palace.core import fence
from memory_palace.core.prompt_ends import bounded
from memory_palace.core.prompt_tags import MACHINE_SOURCES as MACHINE_SOURCES
from memory_palace.core.prompt_tags import is_machine_made as is_machine_made
from memory_palace.core.prompt_tags import outside, without_placeholders

MOST_CHARACTERS = 1_000
"""The longest question that is made of a prompt."""

MOST_PASTED = 240
"""Characters of logs, code and traces that stay in the question: lines that name an error first."""

SHORT_FENCE = 200
"""A code fence of so many characters, in three lines at most, stays."""

SOCIAL_WORDS = 8
"""A prompt of more words is never a social one."""

_LONGEST_SOCIAL = 80
_LONG_LINE = 500
_LONG_PASTED_LINE = 120
_HEAD_SHARE = 0.6

_OTHER_TAG = re.compile(r"</?(?:command-args|[a-z]{2,20}(?:[-_][a-z]{2,20}){1,3})>")

_PASTED = re.compile(
    r"""\s{0,40}(?:
      at\s[\w$.<>/\\:@-]{1,300}\s?\( | File\s"[^"]{1,300}",\sline\s\d | Traceback\s\(
    | goroutine\s\d
    | \^[~^]*\s*$ | \d{1,6}\s?[|│] | >>>\s | \$\s\S | (?:>|\#)?\s?\d+:\s0x
    | \W{0,3}\d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \W{0,2}\d\d:\d\d:\d\d\b
    | [A-Z][a-z]{2}\s{1,2}\d{1,2}\s\d\d:\d\d
    | \W{0,2}(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE|CRITICAL)\b[\]:\s]
    | diff\s--git\s | index\s[0-9a-f]{7,40}\.\. | @@\s-\d | (?:\+\+\+|---)\s[ab/]
    | from\s[\w.]{1,100}\simport\s | import\s[\w.]{1,100};?$ | (?:async\s)?def\s\w{1,100}\(
    | class\s\w{1,100}[(:{] | (?:const|let|var)\s\w{1,100}\s?= | function\s?\w{0,100}\(
    | \#include\b | (?:public|private|static)\s\w | return\b[^.?!]{0,200};$
    | ["'][\w-]{1,100}["']\s?: | </?[a-zA-Z][\w-]{0,60}(?:\s[^<>]{0,200})?/?>.{0,300}</?[a-zA-Z]
    )""",
    re.VERBOSE,
)
_CODE_END = re.compile(r"[{};]\s*$|\)\s?(?:->[^:]{1,60})?:\s*$")
_DIFF_START = re.compile(r"diff --git |@@ -\d")
_TRACE = "Traceback (most recent call last)"
_ERROR = re.compile(
    r"(?i)\b\w{0,60}(?:error|exception|panic|fatal|failed|failure|denied|refused)\b"
)
_STAMP = re.compile(r"\W{0,3}\d{4}-\d\d-\d\d[T ][\d:.,+Z]{5,20}\W{0,3}")
_BLOB = re.compile(r"[\x21-\x7e]{80,}")
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_QUOTED = re.compile(r"([\"'])(?:(?!\1).)*\1|“[^“”]*”", re.DOTALL)
_SIGN = re.compile(r"(?<!\S)-+(?=[^\s-])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_WHOLE_FENCE = re.compile(
    r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
# An apostrophe is part of a word, and so are the marks of spaced scripts.
_BETWEEN = re.compile(r"[\s!-&(-/:-@\[-`{-~…。、！？，；：·¿¡“”„—–«»]+")

_SOCIAL = frozenset(
    """
    hi hello hey hiya yo howdy morning good afternoon evening night there all everyone everybody
    bye goodbye see you later cya ciao
    thanks thank thx ty cheers appreciated much so very many lot a of
    ok okay okey k kk alright fine sure yes yep yeah yup yess y no nope nah n maybe
    great nice cool perfect awesome excellent amazing wonderful lovely brilliant super neat sweet
    wow well done job work works looks look lgtm sgtm love it this that good better
    go on ahead continue proceed carry keep going next please pls now again try retry
    do just let lets us i me my am be is are was the to for with and then too
    got agreed agree correct right exactly true indeed understood noted sounds makes sense
    stop wait hold cancel pause hmm hm uh um oh ah haha lol welcome sorry np no problem worries
    how doing what's whats up today im i'm it's that's let's you're don't won't
    danke dank schön schoen vielen herzlichen hallo moin guten tag morgen abend servus tschüss
    ja nein doch gut super prima toll passt klar weiter mach bitte genau richtig stimmt alles
    merci beaucoup bonjour salut bonsoir oui non d'accord daccord parfait super bien continue vas-y
    vas y allez très s'il te vous plaît plait
    gracias muchas hola buenos buenas días dias tardes noches sí si vale bueno perfecto genial
    claro sigue continúa continua adelante por favor de nada listo
    obrigado obrigada olá ola bom dia boa tarde noite sim não nao beleza certo pode continuar
    grazie mille buongiorno buonasera sì va bene perfetto ottimo certo avanti prego
    dank je wel hoi hallo goed prima ga door nee graag bedankt
    tack hej ja nej bra fortsätt takk hei tak nej godt kiitos
    спасибо большое привет здравствуйте добрый день да нет хорошо ок окей отлично продолжай
    продолжайте дальше давай пожалуйста понятно супер
    dziękuję dzieki dzięki cześć czesc tak nie dobrze świetnie dalej proszę
    teşekkürler tesekkurler merhaba selam evet hayır hayir tamam devam et
    شكرا مرحبا نعم لا حسنا استمر धन्यवाद नमस्ते हाँ हां नहीं ठीक है
    감사합니다 고마워 고마워요 고맙습니다 안녕하세요 안녕 네 예 아니요 좋아요 좋습니다
    계속 계속해 계속해줘 해줘
    """.split()
)
_SOCIAL_RUNS = re.compile(
    "(?:"
    + "|".join(
        sorted(
            """谢谢你 谢谢 多谢 謝謝 感谢 你好 您好 早上好 晚上好 好的 好 可以 是的 是 对的 对
            不 不是 不用 继续 繼續 请继续 没问题 完美 很好 不错 再见 嗯 行 吧 了 啊 哈
            ありがとうございます ありがとう どうも こんにちは こんばんは おはようございます おはよう
            はい いいえ うん いいね 了解です 了解 わかりました 続けて ください お願いします
            おねがいします です ね よ""".split(),
            key=len,
            reverse=True,
        )
    )
    + ")++"
)


def is_social(text: str) -> bool:
    """True for a short prompt that asks nothing of the memory: ``thanks!``, ``ok, go on``, ``2``.

    Every word has to be one of those that people say so, in the more common languages;
    signs and emoji alone are social too.
    """
    said = text.strip()
    if len(said) > _LONGEST_SOCIAL:
        return False
    parts = _BETWEEN.split(said.casefold().replace("’", "'"))
    words = [part for part in parts if any(map(str.isalnum, part))]
    if not words:
        # An emoji, a question mark; but a command or a path is none.
        return not any(sign in said for sign in "/\\$_")
    return len(words) <= SOCIAL_WORDS and all(map(_is_social_word, words))


def _is_social_word(word: str) -> bool:
    if word.isdigit():
        return len(word) == 1
    if word.isascii():
        return word.strip("'") in _SOCIAL
    bare = "".join(c for c in word if ord(c) < 0x2190 or 0x2BFF < ord(c) < 0x1F000)  # no emoji
    return bare in _SOCIAL or bool(_SOCIAL_RUNS.fullmatch(bare))


def question(text: str) -> str:
    """The question that a prompt asks of the memory, on one line; empty if nothing is left.

    Left out are what memory injected, what clients add, code fences, diffs, logs, stack traces
    and long strings without blanks, but for :data:`MOST_PASTED` characters of them. Of what a
    person wrote, start and end are kept, :data:`MOST_CHARACTERS` in all.
    """
    written: dict[str, None] = {}
    pasted: dict[str, None] = {}
    for line, is_pasted in _lines(_plain(text)):
        line = " ".join(_BLOB.sub(" ", line).split())
        if line:
            (pasted if is_pasted else written)[line] = None
    # A sign before a word would leave the word out of the search.
    beside = _telling(list(pasted), alone=not written)
    room = MOST_CHARACTERS - len(beside) - 1
    asked = _SIGN.sub("", f"{_ends(' '.join(written), room)} {beside}").strip()
    # Some clients put the whole prompt into quotes, which would make it one phrase.
    return asked[1:-1].strip() if _QUOTED.fullmatch(asked) else asked


def own_lines(text: str) -> list[str]:
    """The lines of a prompt that a person wrote, each on its own, without indentation.

    What :func:`question` takes for pasted, all code fences and lines marked as quoted (``>``) are
    left out; an empty line stands where something was, and for a blank line.
    """
    kept = []
    for line, is_pasted in _lines(_WHOLE_FENCE.sub("\n", _plain(text))):
        line = " ".join(_BLOB.sub(" ", line).split())
        kept.append("" if is_pasted or line.startswith(">") else line)
    return kept


def _plain(text: str) -> str:
    """``text`` without what memory injected, what clients add, and control characters."""
    text = without_placeholders(outside(fence.stripped(bounded(text))))
    return _UNFIT.sub(" ", _OTHER_TAG.sub(" ", text).replace("\r", "\n"))


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Each line that is not blank, and whether it was pasted."""
    fence_sign = ""
    inside: list[str] = []
    in_diff = in_trace = False
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence_sign:
            if found and found[1].startswith(fence_sign) and not line.strip("`~ \t"):
                yield from _fenced(inside)
                fence_sign, inside = "", []
            else:
                inside.append(line)
        elif found and "`" not in line[found.end() :]:
            fence_sign = found[1]
        elif line.strip():
            in_diff = bool(_DIFF_START.match(line)) or (in_diff and line[0] in "+- @\\")
            starts = line.lstrip().startswith(_TRACE)
            yield line, in_diff or in_trace or starts or _is_pasted(line)
            # What is not indented any more is the error, and ends it.
            in_trace = starts or (in_trace and line[0] in " \t")
        else:
            in_diff = in_trace = False
            yield "", False
    yield from _fenced(inside)


def _fenced(lines: list[str]) -> Iterator[tuple[str, bool]]:
    short = len(lines) <= 3 and sum(map(len, lines)) <= SHORT_FENCE
    for line in lines:
        yield line, not short


def _is_pasted(line: str) -> bool:
    if _PASTED.match(line) or _CODE_END.search(line[-80:]):
        return True
    if len(line) < 60:
        return False
    letters = sum(c.isalpha() or c == " " for c in line) / len(line)
    if len(line) > _LONG_LINE:
        return letters < 0.8
    return letters < 0.6


def _telling(pasted: list[str], alone: bool) -> str:
    """The few of the pasted lines that say most: the last that name an error; if a person wrote
    nothing, the first one too."""
    errors = [line for line in pasted if _ERROR.search(line[:_LONG_LINE])]
    kept: list[str] = []
    length = 0
    for line in [*reversed(errors[-3:]), *pasted[: int(alone)]]:
        line = _STAMP.sub("", line)[:_LONG_PASTED_LINE]
        if line not in kept and length + len(line) < MOST_PASTED:
            kept.append(line)
            length += len(line) + 1
    return " ".join(kept)


def _ends(text: str, most: int) -> str:
    """Start and end of ``text``, cut at blanks where there are some."""
    if len(text) <= most:
        return text
    first = int(most * _HEAD_SHARE)
    head, tail = text[:first], text[len(text) - (most - first - 1) :]
    head = head.rsplit(" ", 1)[0] if " " in head[first // 2 :] else head
    tail = tail.split(" ", 1)[1] if " " in tail[: len(tail) // 2] else tail
    return f"{head} {tail}"
