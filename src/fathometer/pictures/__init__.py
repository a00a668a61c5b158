"""Volumes, gathers and surveys are drawn as PNG, PDF or SVG by matplotlib, which is imported only to draw."""

from fathometer.pictures.comparison import comparison_figure, comparison_picture
from fathometer.pictures.gather import gather_figure, gather_picture
from fathometer.pictures.plane import Blocks
from fathometer.pictures.volume import image_figure, image_picture, volume_figure, volume_picture

__all__ = [
    "Blocks",
    "comparison_figure",
    "comparison_picture",
    "gather_figure",
    "gather_picture",
    "image_figure",
    "image_picture",
    "volume_figure",
    "volume_picture",
]
