"""The check of chapter 10's bug zoo: one for all its bugs, which knows the one it is about by the function's name."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from dis import get_instructions
from math import isclose
from types import CodeType
from typing import Any

import torch

from specdec_lab.checks.stages import Finding, Stage, check, say, shown
from specdec_lab.checks.zoo.scene import Function, Joint, Law, Scene, outcomes, stood
from specdec_lab.checks.zoo.specimens import ZOO, Specimen
from specdec_lab.errors import UserError
from specdec_lab.theory.enumeration import UnknownNumber, total_variation

TOLERANCE = 1e-6  # a law in 32 bits is a right answer
RANDOM_SCENES = 12
ELSEWHERE = ("FOR_ITER", "MAKE_FUNCTION")  # what they say is a place, or a name, in this very code


@dataclass(frozen=True)
class Picture:
    """The laws of a specimen's first scene under the names of its outcomes, and what each costs."""

    report: str
    target: dict[str, float]
    shipped: dict[str, float]
    now: dict[str, float]
    distance: tuple[float, float]
    stand: tuple[float, float]


def specimen(function: Function) -> Specimen:
    """The bug that a function of this name is about. Raises UserError where there is none."""
    name = getattr(function, "__name__", "").removeprefix("buggy_")
    if name not in ZOO:
        raise UserError(f"{name or function!r} is none of the zoo's bugs; keep the name of the exercise: {', '.join(ZOO)}.")
    return ZOO[name]


def picture(function: Function) -> Picture:
    """What a function of the zoo does in its first scene, beside the bug and the target."""
    bug = specimen(function)
    scene = bug.scenes[0]
    shipped, now = scene.joint(bug.bug), scene.joint(function)
    laws = (outcomes(shipped), outcomes(now))
    seen = {name for law in (scene.target, *laws) for name, chance in scene.named(law).items() if chance > 1e-12}
    target, before, after = ({name: x for name, x in scene.named(law).items() if name in seen} for law in (scene.target, *laws))
    distances = (total_variation(laws[0], scene.target), total_variation(laws[1], scene.target))
    return Picture(bug.report, target, before, after, distances, (stood(shipped), stood(now)))


def check_repair(function: Function) -> Function:
    """Check the learner's repair of one of the zoo's bugs, such as `propose_likeliest(q)`."""
    bug = specimen(function)
    if _is_the_bug(function, bug.bug):
        say(f"○ {bug.name}: not attempted yet, this is the bug as it was found. The chapter goes on with the package's own.")
        return bug.repaired
    careful = _Careful(function)
    stages = [
        Stage("law", "what comes out has the target's law, in every scene", lambda _: _laws(bug, careful)),
        Stage("draft", "as many drafted tokens stand as can", lambda _: _stand(bug, careful)),
        Stage("reference", f"the same in {RANDOM_SCENES} random scenes", lambda _: _random(bug, careful)),
    ]
    return check(function, bug.repaired, stages)


class _Careful:
    """The learner's function on copies of its arguments. What it raises becomes a Finding, and so does an input that it changes."""

    def __init__(self, function: Function) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        given = tuple(deepcopy(a) if isinstance(a, (torch.Tensor, list)) else a for a in arguments)
        try:
            answer = self._function(*given)
        except (UnknownNumber, Finding):
            raise
        except Exception as error:
            if "_Uniform" in str(error):
                raise
            raise Finding(f"It stopped with {type(error).__name__}: {error}, on {shown(arguments)}.") from error
        if shown(given) != shown(arguments):
            raise Finding(f"It changes its input: {shown(arguments)} became {shown(given)}. The caller still needs it; work on a copy.")
        return answer


def _is_the_bug(function: Function, bug: Function) -> bool:
    """Whether it is the untouched stub: the same code, up to its docstring."""
    return hasattr(function, "__code__") and _bones(function.__code__) == _bones(bug.__code__)


def _bones(code: CodeType) -> list[Any]:
    """What its instructions name, load, compare and compute, in order. How they do it differs where torch is not imported beside it."""
    steps = [i.argval for i in get_instructions(code) if i.argval is not None and "JUMP" not in i.opname and i.opname not in ELSEWHERE]
    return [_bones(step) if isinstance(step, CodeType) else step for step in steps]


def _joint(scene: Scene, function: Function, hint: str) -> Joint:
    try:
        return scene.joint(function)
    except UnknownNumber as error:
        raise Finding(f"{error}") from error
    except Finding as finding:
        raise Finding(f"{scene.given.rstrip(',')}: {finding} {hint}") from finding


def _laws(bug: Specimen, function: Function) -> None:
    for scene in bug.scenes:
        law = outcomes(_joint(scene, function, bug.look_at))
        if (distance := total_variation(law, scene.target)) > TOLERANCE:
            found, wanted = _written(scene, law), _written(scene, scene.target)
            why = _why(bug, function) or bug.look_at
            raise Finding(f"{scene.given} {found} comes out, and {wanted} is right: TV {distance:.3f}. {why}")


def _stand(bug: Specimen, function: Function) -> None:
    for scene in bug.scenes:
        ours, could = (stood(_joint(scene, f, bug.look_at)) for f in (function, bug.repaired))
        if ours < could - TOLERANCE:
            why = _why(bug, function) or "Lossless, and slower than it has to be."
            raise Finding(f"{scene.given} the law is right, but the {bug.counts}: {abs(ours):.3f}, and {abs(could):.3f} can be had. {why}")


def _random(bug: Specimen, function: Function) -> None:
    generator = torch.Generator().manual_seed(0)
    scenes = [bug.random(generator) for _ in range(RANDOM_SCENES)]
    _laws(replace(bug, scenes=scenes), function)
    _stand(replace(bug, scenes=scenes), function)


def _why(bug: Specimen, function: Function) -> str:
    """The reason of the wrong repair that does the same in every scene; a word on the bug where it is still there."""
    ours = [_or_nothing(scene, function) for scene in bug.scenes]
    for wrong, why in (*bug.wrong, (bug.bug, f"That is what the bug did. {bug.look_at}")):
        if all(_same(joint, _or_nothing(scene, wrong)) for joint, scene in zip(ours, bug.scenes, strict=True)):
            return why
    return ""


def _or_nothing(scene: Scene, function: Function) -> Joint:
    try:
        return scene.joint(function)
    except Exception:  # a wrong repair may fail on a scene that is not about it
        return {}


def _same(a: Joint, b: Joint) -> bool:
    return all(isclose(a.get(x, 0.0), b.get(x, 0.0), abs_tol=TOLERANCE) for x in a.keys() | b.keys())


def _written(scene: Scene, law: Law) -> str:
    """A law with the names of its likelier outcomes."""
    named = {name: chance for name, chance in scene.named(law).items() if chance > 1e-9}
    return ", ".join(f"{name} {chance:.3f}" for name, chance in named.items()) or "nothing"
