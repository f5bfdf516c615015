"""Paper figures: functions of the analysis tables that return a matplotlib figure."""
