"""OpenVINO GenAI with prompt lookup: a pipeline of its own."""

from __future__ import annotations

from specedit.bench.peers.base import Options
from specedit.bench.peers.openvino import OpenVino, open_pipeline


def open_peer(options: Options) -> OpenVino:
    return open_pipeline(options, prompt_lookup=True)
