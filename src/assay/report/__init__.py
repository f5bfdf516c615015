"""Floor 8: the HTML report, one page that opens offline."""
