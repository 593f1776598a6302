"""The catalog's tables. When they change, ``opening.FORMAT`` is raised."""

import sqlite3

TOKENIZE = "porter unicode61 remove_diacritics 2"
"""How FTS5 cuts texts into words."""

COLUMN_WEIGHTS = (2.0, 1.5, 1.5, 1.0)
"""How much a word counts in a chunk's title, headings, tags and text."""

WORDS, MINED_WORDS = ("words", "note_words"), ("mined_words", "mined_file_words")
"""The keywords of chunks and of whole files: of notes, and of mined files. They are apart, since
how rare a word is depends on all that stand with it: a project changes nothing for notes."""

_KEYWORDS = """
CREATE VIRTUAL TABLE {chunks} USING fts5 (
    title, heading, tags, body, tokenize = "{tokenize}"
);
CREATE VIRTUAL TABLE {files} USING fts5 (  -- rowid is the file's
    title, tags, body, tokenize = "{tokenize}"
);
CREATE VIRTUAL TABLE {chunks}_places USING fts5vocab({chunks}, instance);
CREATE VIRTUAL TABLE {files}_places USING fts5vocab({files}, instance);
"""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    title TEXT NOT NULL,
    said TEXT NOT NULL,              -- JSON: what the note itself says of type and priority
    type TEXT NOT NULL, priority TEXT,
    time REAL, time_source TEXT NOT NULL,
    tags TEXT NOT NULL,              -- JSON list
    aliases TEXT NOT NULL,           -- JSON list
    anchors TEXT NOT NULL,           -- JSON: [headings, block ids]
    room TEXT NOT NULL DEFAULT ''    -- of a mined file, which no folder of the palace tells
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    chunk_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    heading TEXT NOT NULL,           -- JSON list
    start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    text TEXT NOT NULL,
    embedded TEXT NOT NULL,
    key TEXT NOT NULL,               -- sha256(embedded); empty where there is nothing to embed
    units TEXT NOT NULL              -- JSON list of [start, end, offset in embedded]
);
CREATE INDEX chunks_by_file ON chunks (file_id);
CREATE INDEX chunks_by_key ON chunks (key);
CREATE TABLE vectors (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE);
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY REFERENCES vectors (id) ON DELETE CASCADE,
    starts BLOB NOT NULL,            -- uint32 a token: where it starts in the embedded text
    bits BLOB NOT NULL               -- the signs of each token's vector, a bit a dimension
);
CREATE TABLE links (
    file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    link TEXT NOT NULL,              -- JSON: [target, heading, block, alias, embed, line, key]
    path TEXT, status TEXT NOT NULL, why TEXT NOT NULL,
    key TEXT NOT NULL,               -- the metadata key it stands under; empty for the body
    PRIMARY KEY (file_id, ordinal)
) WITHOUT ROWID;
CREATE TABLE problems (
    path TEXT NOT NULL, line INTEGER, message TEXT NOT NULL, grade TEXT NOT NULL
);
CREATE INDEX problems_by_path ON problems (path);
"""


def make(db: sqlite3.Connection) -> None:
    """Make all tables in an empty database; a transaction that is open stays open."""
    keywords = "".join(
        _KEYWORDS.format(chunks=chunks, files=files, tokenize=TOKENIZE)
        for chunks, files in (WORDS, MINED_WORDS)
    )
    for statement in (_TABLES + keywords).split(";\n"):
        if statement.strip():
            db.execute(statement)
