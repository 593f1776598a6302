"""Definitions by the grammars of tree-sitter-language-pack, where it is installed."""

import pytest

from memory_palace.core import code_tree
from memory_palace.core.code_tree import Definition, definitions

SOURCES = {
    "a.py": (
        "import os\n@cached\ndef f(a):\n    def g(): 1\n\n# of A\nclass A:\n    def m(self): 1\n",
        "f 2-4, A 6-8 (m 8-8)",
    ),
    "a.js": (
        "import x from 'y'\nexport const add = (a) => {\n}\n/** K */\nclass K {\n  m() {}\n}\n",
        "add 2-3, K 4-7 (m 6-6)",
    ),
    "a.ts": ("interface I {\n a: number }\nexport type T = string\n", "I 1-2, T 3-3"),
    "a.tsx": ("export function View() {\n  return <b>hi</b>\n}\n", "View 1-3"),
    "a.rs": (
        "/// S\nstruct S { a: i32 }\nimpl Show for S {\n  fn fmt(&self) {}\n}\n",
        "S 1-2, Show for S 3-5 (fmt 4-4)",
    ),
    "a.go": (
        "package p\n\n// F\nfunc F() {}\nfunc (s *T) M() {}\ntype T struct {\n a int\n}\n",
        "F 3-4, M 5-5, T 6-8",
    ),
    "a.c": (
        "struct stat st;\nstruct foo {\n int a;\n};\nstatic int *bar(int a)\n{\n}\n",
        "foo 2-4, bar 5-7",
    ),
    "a.hpp": (
        "namespace ns {\ntemplate <class T>\nclass V {\n  int f() { return 1; }\n};\n}\n",
        "ns 1-6 (V 2-5 (f 4-4))",
    ),
    "a.java": (
        "class C {\n  C() {}\n  @Override\n  int m() { return 1; }\n}\n",
        "C 1-5 (C 2-2, m 3-4)",
    ),
    "a.kt": (
        "class C(val a: Int) {\n  fun m(): Int = 1\n}\nfun top() {}\n",
        "C 1-3 (m 2-2), top 4-4",
    ),
    "a.rb": ("module M\n  def m\n  end\n  def self.s\n  end\nend\n", "M 1-6 (m 2-3, s 4-5)"),
    "a.cs": (
        "namespace N {\n class C {\n  int M() { return 1; }\n }\n}\n",
        "N 1-5 (C 2-4 (M 3-3))",
    ),
    "a.swift": ("class C {\n  init() {}\n  func m() {}\n}\n", "C 1-4 (init 2-2, m 3-3)"),
    "a.sql": ("CREATE TABLE t (\n a int);\nCREATE VIEW v AS SELECT 1;\n", "t 1-2, v 3-3"),
    "a.sh": ("set -e\nfoo() {\n echo\n}\n", "foo 2-4"),
    "a.proto": (
        'syntax = "proto3";\nmessage M { int32 a = 1; }\nservice S {\n rpc R (M) returns (M);\n}\n',
        "M 2-2, S 3-5 (R 4-4)",
    ),
}


def shown(found: tuple[Definition, ...]) -> str:
    """``name first-last (inside)``, lines from 1."""
    return ", ".join(
        f"{one.name} {one.start + 1}-{one.end}" + (f" ({shown(one.inside)})" if one.inside else "")
        for one in found
    )


@pytest.mark.parametrize("path", SOURCES)
def test_each_language_tells_its_definitions(path: str) -> None:
    """With decorators and the comments right above, and none within a function."""
    pytest.importorskip("tree_sitter_language_pack")
    source, wanted = SOURCES[path]
    assert shown(definitions(path, source)) == wanted


def test_only_comments_right_above_belong_to_a_definition() -> None:
    """Not one after a blank line, nor one that ends a line of code."""
    pytest.importorskip("tree_sitter_language_pack")
    source = "# of the file\n\n# of f\n# too\ndef f(): 1\n\nx = 1  # of x\ndef g(): 1\n"
    assert shown(definitions("a.py", source)) == "f 3-5, g 8-8"


@pytest.mark.parametrize(
    "source", ["(" * 50_000, "class A:\n" * 3_000, "\0def f(", "def é(): pass\n" * 2, "\ud800"]
)
def test_odd_sources_are_no_fault(source: str) -> None:
    """Broken, deep or strange ones give what can be told."""
    pytest.importorskip("tree_sitter_language_pack")
    assert all(one.start < one.end for one in definitions("a.py", source))


def test_a_huge_file_is_looked_at_only_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after MOST_NODES is plain text."""
    pytest.importorskip("tree_sitter_language_pack")
    monkeypatch.setattr(code_tree, "MOST_NODES", 20)
    found = definitions("a.py", "def f(): pass\n" * 50)
    assert 0 < len(found) < 20


def test_without_the_grammars_there_are_no_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor for a language that has none."""
    monkeypatch.setattr(code_tree, "_pack", lambda: None)
    assert definitions("a.py", "def f(): pass\n") == ()
    assert definitions("a.yaml", "a: 1\n") == ()


def test_a_grammar_that_fails_is_named_and_its_code_has_no_definitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that is missing, and one that breaks on a file."""

    class Broken:
        def parse(self, source: bytes) -> None:
            raise ValueError("incompatible version")

    monkeypatch.setattr(code_tree, "_pack", object)
    monkeypatch.setattr(code_tree, "_parser", {"python": Broken()}.get)
    assert definitions("a.py", "def f(): pass\n") == definitions("a.kt", "fun f() {}\n") == ()
    assert code_tree.lacking(["a.kt", "b.kt", "a.py", "a.rs", "a.md"]) == ["kotlin", "rust"]
    monkeypatch.setattr(code_tree, "_pack", lambda: None)
    assert code_tree.lacking(["a.kt"]) == []


def test_chunks_are_made_anew_only_where_they_get_better() -> None:
    """A Python without the grammars leaves those that another one made."""
    assert code_tree.is_better("1+", "1")
    assert code_tree.is_better("2", "1")
    assert code_tree.is_better("2", "1+")
    assert not code_tree.is_better("1", "1+")
    assert not code_tree.is_better("1+", "1+")
    assert not code_tree.is_better("1", "")
