"""Colours reach their contrast in both sets, and never stand alone."""

from __future__ import annotations

import tomllib
from itertools import combinations
from pathlib import Path

import pytest

from ui.charts.theme import ROLE_STYLE, RUN_STYLE

CONFIG = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"
THEME = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"]
STYLES = {**ROLE_STYLE, **RUN_STYLE}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", STYLES)
@pytest.mark.parametrize(("place", "kind"), [(0, "light"), (1, "dark")])
@pytest.mark.parametrize("ground", ["backgroundColor", "secondaryBackgroundColor"])
def test_contrast(name: str, place: int, kind: str, ground: str) -> None:
    assert contrast(str(STYLES[name][place]), THEME[kind][ground]) >= 4.5


@pytest.mark.parametrize("styles", [ROLE_STYLE, RUN_STYLE])
def test_signs_and_colours_differ(styles: dict[str, tuple[str, str, str, str]]) -> None:
    for one, other in combinations(styles.values(), 2):
        assert all(a != b for a, b in zip(one, other, strict=True))
