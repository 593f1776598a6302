"""A model of the reranker's shape, small enough for a test: the real code loads it in a second.

It reads question and passage as the real one does, and likes what speaks of :data:`LIKED`.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import tiny_bge

LIKED = "memory"


def make(folder: Path, seed: int = 0, labels: int = 1) -> Path:
    """Write the model to ``folder``; the seed decides the weights, ``labels`` is one for a
    reranker."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    tokenizer = tiny_bge.tokenizer()
    tokenizer.save_pretrained(folder)
    _model(tokenizer, labels).save_pretrained(folder)
    return folder


def _model(tokenizer: Any, labels: int) -> Any:
    import torch
    from transformers import XLMRobertaForSequenceClassification

    model = XLMRobertaForSequenceClassification(tiny_bge.config(len(tokenizer), num_labels=labels))
    tiny_bge.make_even(model.roberta)
    liked = tokenizer(LIKED, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        words = model.roberta.embeddings.word_embeddings.weight
        model.classifier.dense.weight.copy_(torch.eye(tiny_bge.WIDTH))
        model.classifier.dense.bias.zero_()
        model.classifier.out_proj.weight.copy_(words[liked].mean(dim=0).expand(labels, -1) / 4)
        model.classifier.out_proj.bias.zero_()
    return model


@pytest.fixture(scope="session")
def tiny_reranker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the model, made once; not to be changed by a test."""
    with pytest.MonkeyPatch.context() as patch:
        # The hub's client looks at these once, when it is imported for the first time.
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_HOME", os.devnull)
        folder = make(tmp_path_factory.mktemp("tiny-reranker"))
    yield folder
