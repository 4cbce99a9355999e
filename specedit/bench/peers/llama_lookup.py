"""llama.cpp with `LlamaPromptLookupDecoding`: a context of its own, for it keeps every row."""

from __future__ import annotations

from specedit.bench.peers.base import PeerOptions
from specedit.bench.peers.llama import LlamaCpp, open_llama


def open_peer(options: PeerOptions) -> LlamaCpp:
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    return open_llama(options, LlamaPromptLookupDecoding(num_pred_tokens=10))
