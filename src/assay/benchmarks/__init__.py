"""Items, snapshots and the sources they come from."""
