"""What each colour means, in every chapter (Okabe-Ito: safe for colour-blind readers)."""

from specdec_lab.engine.rounds import Origin

COLOURS = {
    "accepted": "#009E73",
    "rejected": "#D55E00",
    "correction": "#E69F00",
    "bonus": "#0072B2",
    "target": "#56B4E9",
    "draft": "#CC79A7",
}
MEASURED, EXPECTED = "#000000", "#666666"  # points that were measured, and what theory or learner said beforehand
# Never colour alone: each origin has its underline too.
UNDERLINES = {"accepted": "none", "correction": "wavy", "bonus": "double", "target": "dotted", "rejected": "line-through"}
MEANINGS: dict[Origin, str] = {
    "accepted": "drafted, and accepted by the target",
    "correction": "the target's own token in place of a rejected one",
    "bonus": "the target's own token after a draft that was right throughout",
    "target": "the target's own token, nothing was drafted",
}


def tint(origin: str, strength: float = 0.35) -> str:
    """The colour of `origin`, see-through, so that text stays readable on light and dark pages."""
    red, green, blue = (int(COLOURS[origin][i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{strength})"
