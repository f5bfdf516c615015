"""Models: identity, files, rendering, the batch plan, and the runtimes that answer."""
