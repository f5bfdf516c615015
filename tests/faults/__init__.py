"""The fault campaign: strike, resume, and compare with a run that nothing disturbed."""
