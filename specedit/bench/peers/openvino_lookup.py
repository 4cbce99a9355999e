"""OpenVINO GenAI with prompt lookup: a pipeline of its own."""

from __future__ import annotations

from specedit.bench.peers.base import PeerOptions
from specedit.bench.peers.openvino import OpenVino, open_pipeline


def open_peer(options: PeerOptions) -> OpenVino:
    return open_pipeline(options, prompt_lookup=True)
