"""Runs Plans: in this process, in a warm server, or at a server that the user named.

`connect` chooses the backend. In this process: `loading` -> `loaded`. The client:
`client` finds or starts a server and asks it, `remote` asks other servers.
The server: `service` -> `app` -> `worker` -> `loaded`. `protocol` is common to both
sides. The client's modules import the standard library only.
"""
