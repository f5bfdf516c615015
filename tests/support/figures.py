"""Where the texts of a figure are, for tests that it is legible."""

from __future__ import annotations

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

Box = tuple[float, float, float, float]
Texts = list[tuple[Text, Box]]


def shown_texts(figure: Figure) -> Texts:
    """Return each visible text with its box in points from the lower left corner."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    scale = 72 / figure.dpi
    found: Texts = []
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent(renderer)
            x0, y0, x1, y1 = (float(scale * value) for value in box.extents)
            found.append((text, (x0, y0, x1, y1)))
    return found


def collisions(texts: Texts) -> list[tuple[str, str]]:
    """Return the pairs of texts that overlap by more than a third of a point."""
    pairs = []
    for (a, p), (b, q) in combinations(texts, 2):
        wide = min(p[2], q[2]) - max(p[0], q[0])
        high = min(p[3], q[3]) - max(p[1], q[1])
        if wide > 0.3 and high > 0.3:
            pairs.append((a.get_text(), b.get_text()))
    return pairs


def cut_off(figure: Figure, texts: Texts) -> list[str]:
    """Return the texts that reach over an edge of the figure."""
    width, height = figure.get_figwidth() * 72, figure.get_figheight() * 72
    return [
        text.get_text()
        for text, (x0, y0, x1, y1) in texts
        if x0 < -0.2 or y0 < -0.2 or x1 > width + 0.2 or y1 > height + 0.2
    ]
