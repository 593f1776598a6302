"""The definitions of a source file, by the grammar of its language where that is installed."""

import importlib.util
import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node

LANGUAGES = {
    **{"bash": "bash", "c": "c", "cpp": "cpp", "cs": "csharp", "go": "go", "h": "cpp"},
    **{"hpp": "cpp", "java": "java", "js": "javascript", "jsx": "javascript", "kt": "kotlin"},
    **{"proto": "proto", "py": "python", "rb": "ruby", "rs": "rust", "sh": "bash"},
    **{"sql": "sql", "swift": "swift", "ts": "typescript", "tsx": "tsx"},
}
"""Extension to grammar, as tree-sitter-language-pack calls it."""

VERSION = "1"
"""Raise it when chunks of code change: they are made anew."""
LONGEST_NAME = 120
"""Characters of a symbol's name that are kept."""
MOST_NODES = 300_000
"""Nodes of a file's tree that are looked at: more than 512 KB of ordinary code have."""
DEEPEST = 20
"""Definitions within each other that are told apart."""

# Whatever of these a language has: a grammar says which.
_CONTAINERS = frozenset(
    {
        *("class", "class_declaration", "class_definition", "class_specifier", "enum"),
        *("abstract_class_declaration", "enum_declaration", "enum_item", "enum_specifier"),
        *(
            "extension_declaration",
            "impl_item",
            "interface_declaration",
            "internal_module",
            "message",
        ),
        *("mod_item", "module", "namespace_declaration", "namespace_definition"),
        *("object_declaration", "protocol_declaration", "record_declaration", "service"),
        *("struct_declaration", "struct_item", "struct_specifier", "trait_item", "union_item"),
    }
)
_LEAVES = frozenset(
    {
        *("annotation_type_declaration", "constructor_declaration", "create_function"),
        *("create_table", "create_view", "function_declaration", "function_definition"),
        *(
            "function_item",
            "generator_function_declaration",
            "init_declaration",
            "macro_definition",
        ),
        *("method", "method_declaration", "method_definition", "record_struct_declaration", "rpc"),
        *("singleton_method", "type_alias_declaration", "type_definition", "type_spec"),
    }
)
_WRAPPERS = frozenset(
    {"decorated_definition", "export_statement", "template_declaration", "type_declaration"}
    | {"lexical_declaration", "variable_declaration", "statement", "linkage_specification"}
)
"""What stands around one definition and belongs to it."""
_ABOVE = frozenset({"comment", "line_comment", "block_comment", "attribute_item", "attribute"})
_NAMED = ("name", "declarator", "type")
_IDENTIFIERS = frozenset(
    {"identifier", "type_identifier", "simple_identifier", "field_identifier", "constant"}
    | {"object_reference", "message_name", "enum_name", "service_name", "rpc_name", "word"}
)

_DECLARATORS = frozenset(
    {"function_declarator", "pointer_declarator", "reference_declarator", "array_declarator"}
    | {"parenthesized_declarator", "init_declarator", "attributed_declarator"}
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A class, function or the like: its name (empty if it has none), its lines from 0, ``end``
    exclusive, and the definitions ``inside``."""

    name: str
    start: int
    end: int
    inside: "tuple[Definition, ...]" = ()


def language_of(path: str) -> str | None:
    """The grammar for a file, by its extension."""
    return LANGUAGES.get(posixpath.splitext(path)[1][1:].lower())


SETUP = "python3 scripts/install.py code"
"""Brings the grammars."""


def installed() -> bool:
    """True if the optional grammars are here."""
    return importlib.util.find_spec("tree_sitter_language_pack") is not None


def way() -> str:
    """How code is cut now: a version, and ``+`` with the grammars."""
    return VERSION + ("+" if installed() else "")


def is_better(now: str, before: str) -> bool:
    """True if chunks that were cut the way ``before`` (empty: unknown) are to be made anew. Where
    the grammars are gone again they stay: two Pythons may share an index."""
    return bool(before) and now not in (before, before.rstrip("+"))


def definitions(path: str, text: str) -> tuple[Definition, ...]:
    """The definitions of a source file, in order, none within a function; none without its
    grammar, or where that fails."""
    language = language_of(path)
    if language is None or _pack() is None:
        return ()
    parser = _parser(language)
    if parser is None:
        return ()
    try:
        return _nested(_found(parser.parse(text.encode("utf-8", "replace")).root_node))
    except Exception:  # a grammar of another version than its package has faults of its own
        return ()


def lacking(paths: Iterable[str]) -> list[str]:
    """The languages of source files whose grammar cannot be used although the package is here."""
    languages = {language for path in paths if (language := language_of(path))}
    if not languages or _pack() is None:
        return []
    return sorted(language for language in languages if _parser(language) is None)


def _found(root: "Node") -> list[tuple["Node", bool]]:
    """(definition, whether others stand in it), in order; nothing within a function."""
    found: list[tuple[Node, bool]] = []
    cursor = root.walk()
    for _ in range(MOST_NODES):
        node = cursor.node
        if node is None:
            break
        leaf = node.is_named and _is_leaf(node)
        if node.is_named and (leaf or (node.type in _CONTAINERS and cursor.depth)):
            found.append((node, not leaf))
        if not leaf and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
    return found


def _is_leaf(node: "Node") -> bool:
    if node.type == "variable_declarator":  # const name = (…) => …
        value = node.child_by_field_name("value")
        return value is not None and value.type in ("arrow_function", "function_expression")
    return node.type in _LEAVES


def _nested(nodes: Sequence[tuple["Node", bool]], depth: int = 0) -> tuple[Definition, ...]:
    """Nodes, sorted by where they start, as a tree; what lies within a leaf is left out."""
    found: list[Definition] = []
    n = 0
    while n < len(nodes):
        node, container = nodes[n]
        after = n + 1
        while after < len(nodes) and nodes[after][0].start_byte < node.end_byte:
            after += 1
        start, end = _lines(node)
        if end > start and (not container or _has_body(node)):
            deeper = container and depth < DEEPEST
            inside = _nested(nodes[n + 1 : after], depth + 1) if deeper else ()
            found.append(Definition(_name(node), start, end, inside))
            n = after
        else:
            n += 1
    return tuple(found)


def _has_body(node: "Node") -> bool:
    """False for a use of a type (`struct stat info;`), and a keyword of the same name."""
    return node.is_named and node.named_child_count > 1


def _lines(node: "Node") -> tuple[int, int]:
    """The lines of a definition with what belongs to it: decorators, comments right above it."""
    whole = node
    while whole.parent is not None and whole.parent.type in _WRAPPERS:
        if whole.parent.start_point.row != whole.start_point.row and (
            whole.parent.type not in ("decorated_definition", "template_declaration")
        ):
            break  # one of several in it
        whole = whole.parent
    end = whole.end_point.row + (whole.end_point.column > 0)
    start = whole.start_point.row
    above = whole.prev_sibling
    while above is not None and above.type in _ABOVE:
        last = above.end_point.row - (above.end_point.column == 0)
        own_line = above.prev_sibling is None or above.prev_sibling.end_point.row < (
            above.start_point.row
        )
        if last < start - 1 or not own_line:
            break
        start = min(start, above.start_point.row)
        above = above.prev_sibling
    return start, end


def _name(node: "Node") -> str:
    """What a definition is called; empty if that cannot be told."""
    if node.type == "impl_item":
        trait, kind = node.child_by_field_name("trait"), node.child_by_field_name("type")
        return " for ".join(_text(part) for part in (trait, kind) if part is not None)
    for _ in range(8):  # C nests the name in its declarators
        inner = next(filter(None, map(node.child_by_field_name, _NAMED)), None)
        if inner is None:
            break
        if not inner.named_child_count or inner.type not in _DECLARATORS:
            return _text(inner)
        node = inner
    named = next((child for child in node.named_children if child.type in _IDENTIFIERS), None)
    return _text(named) if named is not None else ""


def _text(node: "Node") -> str:
    said = (node.text or b"").decode("utf-8", "replace")
    return " ".join(said.split())[:LONGEST_NAME]


@cache
def _pack() -> Any:
    """The package of grammars, or None."""
    try:
        import tree_sitter_language_pack
    except (ImportError, OSError):
        return None
    return tree_sitter_language_pack


@cache
def _parser(language: str) -> Any:
    """The parser of a language; None if it is not there."""
    try:
        return _pack().get_parser(language)
    except Exception:  # a package of another version has faults of its own
        return None
