"""A port on loopback that nobody listens on."""

from __future__ import annotations

import socket


def free_port() -> int:
    """Return a free port; whoever asks takes it at once."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
