"""Runs Plans: in this process, in a warm server, or at a server that the user named.

`connect` chooses the backend. In this process: `loading` -> `loaded`. The client:
`processes` finds or starts a server, `client` asks it, `remote` asks other servers (`endpoint`).
The server: `service` -> `listener`, `app` -> `worker` -> `loaded`. `protocol` is common to both
sides. The client's modules import the standard library only.
"""
