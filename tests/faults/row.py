"""What a fault did, summed over its strikes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass
class Row:
    """One line of the table.

    Attributes
    ----------
    fault : str
    times : int
        Strikes, of which `met` met the program at work.
    lost : int
        Observations without an answer after the resumed run.
    repeated : int
        Most observations that one strike made the model answer twice.
    refused : int
        Strikes that ended in one error that names the file.
    differ : int
        Strikes after which a final file is not that of the undisturbed run.
    """

    fault: str
    times: int = 0
    met: int = 0
    lost: int = 0
    repeated: int = 0
    refused: int = 0
    differ: int = 0

    @property
    def harmless(self) -> bool:
        """Whether nothing was lost and every file is right."""
        return self.times > 0 and not self.lost and not self.differ


HEAD = "| fault | strikes | at work | lost | most repeated | refused by name | files that differ |"


def table(rows: Iterable[Row]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [HEAD, "|---|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        numbers = (row.times, row.met, row.lost, row.repeated, row.refused, row.differ)
        lines.append(f"| {row.fault} | " + " | ".join(f"{n:,}" for n in numbers) + " |")
    return lines
