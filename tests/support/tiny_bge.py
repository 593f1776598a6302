"""A model of BGE-M3's shape, small enough for a test: the real code loads it in a second.

Its attention is even and its layers pass everything on, so a text's vector is the mean of its
words' random ones: texts with words in common are close, as with the real model.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

WIDTH = 64
LONGEST = 8194
_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
_WORDS = """
a memory palace keeps what an agent has learned in plain files that people can read and edit
the index is derived from the notes and can be deleted at any time without losing anything
why did we choose FAISS and not a server because there is nothing to run and nothing to lose
decisions lessons patterns mistakes preferences completions rooms halls wings chambers topics
deploy database migration rollback cache latency timeout retry queue worker branch commit merge
Grüße aus dem Gedächtnispalast 記憶の宮殿 дворец памяти palais de la mémoire
0 1 2 3 4 5 6 7 8 9 . , : ; ! ? ( ) [ ] # * - _ / ' " ` > < = + % & @
"""


def make(folder: Path, seed: int = 0) -> Path:
    """Write the model to ``folder``; the seed decides the weights."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    words = tokenizer()
    words.save_pretrained(folder)
    _model(len(words)).save_pretrained(folder)
    torch.save(torch.nn.Linear(WIDTH, WIDTH).state_dict(), folder / "colbert_linear.pt")
    sparse = torch.nn.Linear(WIDTH, 1)
    torch.nn.init.constant_(sparse.bias, 3.0)  # negative weights count nothing: words are to count
    torch.save(sparse.state_dict(), folder / "sparse_linear.pt")
    return folder


def tokenizer() -> Any:
    """A tokenizer of its kind, for some hundred pieces of words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import XLMRobertaTokenizerFast

    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=400, special_tokens=_SPECIAL, unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator(_WORDS.splitlines() * 20, trainer)
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return XLMRobertaTokenizerFast(tokenizer_object=made, model_max_length=LONGEST - 2)


def _model(vocabulary: int) -> Any:
    from transformers import XLMRobertaModel

    model = XLMRobertaModel(config(vocabulary))
    make_even(model)
    return model


def config(vocabulary: int, **more: Any) -> Any:
    """The configuration of a model of this shape."""
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(
        vocab_size=vocabulary,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=LONGEST,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        layer_norm_eps=1e-5,
        **more,
    )


def make_even(model: Any) -> None:
    """Give each word a random vector, and the text the mean of its words'."""
    import torch

    with torch.no_grad():
        model.embeddings.word_embeddings.weight.normal_()
        for layer in model.encoder.layer:
            attention = layer.attention
            for even in (attention.self.query, attention.self.key):
                even.weight.zero_()
            # Many times the mean, so that what is the first token's own does not count.
            attention.self.value.weight.copy_(20 * torch.eye(WIDTH))
            attention.output.dense.weight.copy_(torch.eye(WIDTH))
            layer.output.dense.weight.zero_()


@pytest.fixture(scope="session")
def tiny_bge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the model, made once; not to be changed by a test."""
    with pytest.MonkeyPatch.context() as patch:
        # The hub's client looks at these once, when it is imported for the first time.
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_HOME", os.devnull)
        folder = make(tmp_path_factory.mktemp("tiny-bge"))
    yield folder
