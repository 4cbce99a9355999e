"""Fields of a chat request that a server of Predicted Outputs refuses, or takes because they ask
for nothing: our own server beside a prediction and without one, vLLM's beside one."""

from typing import Any


def predicted(text: Any) -> dict[str, Any]:
    return {"prediction": {"type": "content", "content": text}}


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {  # the fields, the parameter, the code
    "n": ({"n": 2}, "n", "invalid_value"),
    "logprobs": ({"logprobs": True}, "logprobs", "unsupported_parameter"),
    "top_logprobs": ({"top_logprobs": 3}, "top_logprobs", "unsupported_parameter"),
    "presence": ({"presence_penalty": 0.1}, "presence_penalty", "invalid_value"),
    "frequency": ({"frequency_penalty": 1}, "frequency_penalty", "invalid_value"),
    "tools": ({"tools": [{"type": "function"}]}, "tools", "unsupported_parameter"),
    "functions": ({"functions": [{"name": "f"}]}, "functions", "unsupported_parameter"),
    "audio": ({"audio": {"voice": "a"}}, "audio", "unsupported_parameter"),
    "logit_bias": ({"logit_bias": {"5": 1}}, "logit_bias", "unsupported_parameter"),
    "a number": (predicted(5), "prediction.content", "invalid_type"),
    "an image": (predicted([{"type": "image_url"}]), "prediction.content", "invalid_type"),
    "a part without text": (predicted([{"type": "text"}]), "prediction.content", "invalid_type"),
    "another type": ({"prediction": {"type": "x", "content": ""}}, "prediction.type", "invalid_*"),
    "no content": ({"prediction": {"type": "content"}}, "prediction.content", "missing_*"),
    "no object": ({"prediction": "text"}, "prediction", "invalid_type"),
    "no list": ({"predictions": {}}, "predictions", "invalid_type"),
    "an empty list": ({"predictions": []}, "predictions", "invalid_value"),
    "one of them": ({"predictions": [{"type": "content"}]}, "predictions[0].content", "missing_*"),
}
ALLOWED: dict[str, dict[str, Any]] = {
    "nulls": dict.fromkeys(("n", "stop", "logprobs", "tools", "seed", "user")),
    "says nothing": {"n": 1, "logprobs": False, "tools": []},
    "zero penalties": {"presence_penalty": 0, "frequency_penalty": 0.0},
}
