"""Floor 2: per-item records, the journal they grow from and the manifests that vouch for them."""
