"""Floor 4: the fragility grid, from configurations to collected shards."""
