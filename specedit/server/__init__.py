"""The warm server: one engine thread behind Starlette, on a private socket and on loopback.

`work` (the engine thread and its queue) <- `app` (routes) <- `chat` (OpenAI's JSON), `gate` (who
may ask), `channel` (a client that may leave), `streams` (what items become), `metrics`;
`lifetime` starts and ends it.
"""
