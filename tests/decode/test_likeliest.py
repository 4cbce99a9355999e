"""The likeliest of some texts: found in few passes, with their shares of the probability."""

import pytest
from exact_models import kernels_here, save

from specedit.decode.likeliest import likeliest


@pytest.mark.skipif(not kernels_here(), reason="no kernels were built here")
def test_the_exact_engine_tells_the_probabilities_that_its_logits_mean(tmp_path):
    import numpy as np

    from specedit.engines.exact.engine import open_exact

    engine = open_exact(save("qwen2, grouped, tied", tmp_path / "model")[1], store=tmp_path)
    prompt, texts = list(range(40, 60)), [(1, 2, 3), (1, 2, 9), (1, 7), (300, 5, 6, 8)]
    expected = {}
    for text in texts:
        engine.crop(0)
        list(engine.begin(prompt, audit=True))
        rows = engine.forward([prompt[-1], *text[:-1]]).rows or []
        logits = [np.frombuffer(row, np.float32).astype(float) for row in rows]
        pairs = zip(logits, text, strict=True)
        expected[text] = sum(row[id] - np.logaddexp.reduce(row) for row, id in pairs)
    engine.crop(0)
    list(engine.begin(prompt))
    found, _ = likeliest(engine, prompt[-1], texts, 4)
    assert [text for text, _ in found] == sorted(texts, key=lambda text: -expected[text])
    shares = np.exp([expected[text] for text, _ in found])
    assert np.allclose([share for _, share in found], shares / shares.sum(), atol=1e-6)
    assert engine.length == len(prompt) - 1
