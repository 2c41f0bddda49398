"""The bugs of chapter 10: where each was reported, in which scenes it shows, and which wrong repairs are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from specdec_lab.checks.residual import P, Q, law
from specdec_lab.checks.zoo import bugs, repaired, scenes, wrong_drafts, wrong_rounds
from specdec_lab.checks.zoo.scene import Function, Scene
from specdec_lab.checks.zoo.scenes import Pair, positive_law, random_pair
from specdec_lab.checks.zoo.wrong_drafts import Wrong

Random = Callable[[torch.Generator], Scene]
STAND = "drafted tokens that stand are too few"


@dataclass(frozen=True)
class Specimen:
    """A bug: where it was reported, what to look at, in which scenes it shows, and what other wrong repairs do there."""

    report: str
    look_at: str
    scenes: Sequence[Scene]
    random: Random
    wrong: Sequence[Wrong]
    counts: str = STAND
    name: str = ""

    @property
    def bug(self) -> Function:
        return getattr(bugs, f"buggy_{self.name}")

    @property
    def repaired(self) -> Function:
        return getattr(repaired, self.name)


MEMORY = Pair(
    torch.stack([law(0.6, 0.4), law(0.2, 0.8), law(0.7, 0.3)]),
    torch.stack([law(0.3, 0.7), law(0.5, 0.5), law(0.4, 0.6)]),
)
ALIKE = law(0.3, 0.5, 0.2)


def _two(scene: Callable[..., Scene], *rest: Any) -> Random:
    """Scenes of two random laws."""
    return lambda generator: scene(positive_law(generator), positive_law(generator), *rest)


def _random_lengths(generator: torch.Generator) -> Scene:
    k, wanted = (int(torch.randint(1, most, (), generator=generator)) for most in (4, 7))
    return scenes.to_the_end(k, wanted, float(torch.rand((), generator=generator, dtype=torch.float64)))


ZOO: dict[str, Specimen] = {
    "propose_likeliest": Specimen(
        "transformers#32867",
        "Which law was the token drawn from? From none: it was chosen.",
        [scenes.likeliest(P, Q), scenes.likeliest(law(0.6, 0.4), law(0.8, 0.2))],
        _two(scenes.likeliest),
        wrong_drafts.LIKELIEST,
    ),
    "propose_drawn": Specimen(
        "vllm#40149",
        "The law to state is the one that the token was drawn from.",
        [scenes.drawn(P, Q), scenes.drawn(P, ALIKE)],
        _two(scenes.drawn),
        wrong_drafts.DRAWN,
    ),
    "propose_top_k": Specimen(
        "transformers#47932",
        "It is drawn from one law, and another is stated.",
        [scenes.top_k(P, ALIKE, 2), scenes.top_k(P, Q, 2), scenes.top_k(P, law(0.1, 0.3, 0.6), 1)],
        _two(scenes.top_k, 2),
        wrong_drafts.TOP_K,
    ),
    "both_laws": Specimen(
        "vllm#9834",
        "The user asked for one temperature. Which of the two laws decides what the text is like?",
        [scenes.temperature(P, law(0.4, 0.4, 0.2), 0.5), scenes.temperature(P, Q, 2.0)],
        _two(scenes.temperature, 0.7),
        wrong_drafts.TEMPERATURE,
    ),
    "draft_law": Specimen(
        "vllm#10913",
        "Does what it returns sum to 1, and has it `vocab` entries?",
        [scenes.padded(P, law(0.16, 0.4, 0.24, 0.2)), scenes.padded(law(0.6, 0.4, 0), law(0.3, 0.7)), scenes.padded(P, Q)],
        lambda generator: scenes.padded(
            positive_law(generator), positive_law(generator, int(torch.randint(2, 6, (), generator=generator)))
        ),
        wrong_drafts.PADDED,
    ),
    "verify_run": Specimen(
        "vllm#9565",
        "What was the second guess made after, if the first was rejected?",
        [scenes.run_of_two(MEMORY), scenes.run_of_two(MEMORY, 1), scenes.run_of_two(MEMORY, 3)],
        lambda generator: scenes.run_of_two(random_pair(generator)),
        wrong_rounds.RUN,
    ),
    "presence_penalised": Specimen(
        "sglang#33643",
        "Which tokens stand in the text before the place that row i speaks about?",
        [
            scenes.presence(law(0.6, 0.4), law(0.5, 0.5), (0,), 1.5, 1),
            scenes.presence(law(0.6, 0.4), law(0.5, 0.5), (), 1.5, 2),
            scenes.presence(P, Q, (2, 2), 1.0, 2),
        ],
        _two(scenes.presence, (1,), 1.5, 2),
        wrong_rounds.PENALISED,
    ),
    "verify_children": Specimen(
        "EAGLE#183",
        "With which probability was each child proposed?",
        [
            scenes.children(P, Q, 2),
            scenes.children(P, Q, 1),
            scenes.children(law(0.1, 0.2, 0.3, 0.4), law(0.4, 0.3, 0.2, 0.1), 3),
        ],
        _two(scenes.children, 2),
        wrong_rounds.CHILDREN,
    ),
    "keep_until_end": Specimen(
        "transformers#47912",
        "An end may stand anywhere in the run, and the text is over there.",
        [scenes.ending(law(0.7, 0.3), law(0.5, 0.5), 1), scenes.ending(law(0.7, 0.3), law(0.9, 0.1), 2)],
        lambda generator: scenes.ending(positive_law(generator, 2), positive_law(generator, 2), 2),
        wrong_rounds.ENDING,
        "tokens that are kept of a run are too few",
    ),
    "draw_by_hand": Specimen(
        "vllm#21876",
        "When is u below nothing?",
        [
            scenes.hand_draw(law(0.3, 0.0, 0.1)),
            scenes.hand_draw(law(float("nan"), float("nan"), float("nan"))),
            scenes.hand_draw(law(0.2, float("nan"), 0.7)),
            scenes.hand_draw(law(0.0, 2.0, 1.0)),
        ],
        lambda generator: scenes.hand_draw(torch.rand(3, generator=generator, dtype=torch.float64)),
        wrong_rounds.BY_HAND,
    ),
    "tokens_to_draft": Specimen(
        "transformers#46993",
        "How many tokens can a round bring that drafts n?",
        [scenes.to_the_end(3, 5, 0.7), scenes.to_the_end(2, 1, 0.7)],
        _random_lengths,
        wrong_rounds.TO_DRAFT,
        "passes are too many",
    ),
    "propose_if_sure": Specimen(
        "no report",
        "Of the tokens that are kept, does each come as often as q says?",
        [scenes.if_sure(P, Q, 0.4), scenes.if_sure(P, Q, 0.6), scenes.if_sure(P, law(0.45, 0.45, 0.1), 0.4)],
        _two(scenes.if_sure, 0.5),
        wrong_drafts.IF_SURE,
    ),
}
ZOO = {name: replace(bug, name=name) for name, bug in ZOO.items()}
