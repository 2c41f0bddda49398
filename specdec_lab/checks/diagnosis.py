"""The check of chapter 7's diagnoses: what somebody reads off the numbers of a run, against what is to be read there."""

from __future__ import annotations

from specdec_lab.checks.stages import say
from specdec_lab.theory.diagnosis import Signature, diagnose

CAUSES = ("mismatch", "temperature", "k too large", "price")
PRICES = ("drafting", "pass", "overhead", "unseen")  # all of them are a price, where the question is which of the four


def check_diagnosis(name: str, answer: str, run: Signature) -> bool:
    """Say whether `answer`, one of CAUSES, is what the numbers of a run say, and why; whether it is right."""
    found = diagnose(run)
    right = "price" if found.cause in PRICES else found.cause
    said = answer.strip().lower() if isinstance(answer, str) else answer
    if said in ("", "?", None):
        say(f"○ {name}: not diagnosed yet. Write one of {', '.join(CAUSES)}.")
    elif said not in CAUSES:
        say(f"✗ {name}: {answer!r} is none of the causes; they are {', '.join(CAUSES)}.")
    elif said != right:
        say(f"✗ {name}: {_against(said, right, run)}")
    else:
        say(f"★ {name}: yes. {found.reason} What to do: {found.repair}")
    return said == right


def _against(said: str, right: str, run: Signature) -> str:
    """The number that speaks against what was said."""
    if said == "k too large":
        return (
            f"with k too large, alpha is as good as ever, and here it is {run.alpha:.2f} against the usual {run.usual or 0:.2f}. "
            "The rate is low because the guesses are bad, not because there are too many of them."
        )
    if said == "price":
        return (
            f"that is said last, when acceptance is in order. Here {run.length:.2f} tokens come out of a pass; alpha is {run.alpha:.2f} "
            f"against the usual {run.usual or 0:.2f}, and a round drafts {run.k}."
        )
    if right == "k too large":
        return (
            f"alpha is {run.alpha:.2f}, as usual ({run.usual or 0:.2f}), so draft and target read the same text"
            + (" and the dice are no trouble." if said == "temperature" else ".")
            + f" Look at what {run.k} guesses a round bring and cost."
        )
    if said == "mismatch":
        return (
            f"a draft that reads another text is bad at every temperature. At 0 this one has alpha {run.cool or 0:.2f}, and is usually at "
            f"{run.usual or 0:.2f}."
        )
    return f"cooling does not bring it back: at temperature 0 alpha is {run.cool or 0:.2f}, and should be {run.usual or 0:.2f}."
