"""Floor 0: contracts, identities and errors that everything else shares."""
