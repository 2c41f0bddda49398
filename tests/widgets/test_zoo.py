"""The pictures of the zoo show the laws that the checks compute, and say in their titles how far they are off."""

from __future__ import annotations

import pytest

from specdec_lab.checks.zoo.specimens import ZOO
from specdec_lab.widgets import lossy_figure, repair_figure
from specdec_lab.widgets.palette import COLOURS

every_bug = pytest.mark.parametrize("name", ZOO)


def bars(out) -> dict[str, list[float]]:
    return {trace.name: list(trace.y) for trace in out.data}


@every_bug
def test_three_laws(name: str):
    bug = ZOO[name]
    out = repair_figure(bug.repaired)
    target, shipped, now = out.data
    assert [t.name for t in out.data] == ["p, the target's law", "as shipped", "now"]
    assert list(now.y) == pytest.approx(list(target.y), abs=1e-9)
    assert now.marker.color == COLOURS["accepted"]
    harmless = shipped.y == pytest.approx(target.y, abs=1e-9)
    assert harmless == (name == "propose_drawn")
    assert shipped.marker.color == COLOURS["accepted" if harmless else "rejected"]
    assert bug.report in out.layout.title.text and "0.00 now" in out.layout.title.text


def test_the_bug_itself_and_what_it_loses():
    out = repair_figure(ZOO["propose_likeliest"].bug)
    assert bars(out)["now"] == pytest.approx([0.4, 0.6, 0.0]) and "TV 0.30 as shipped, 0.30 now" in out.layout.title.text
    assert "0.31 and 0.70" in repair_figure(ZOO["propose_drawn"].repaired).layout.title.text


def test_what_a_rule_costs():
    out = lossy_figure("a finding", 0.7, 1.0, {"lenience": ([0.7, 0.8], [0.0, 0.1]), "likely enough": ([0.7], [0.2])})
    line, lenience, _ = out.data
    assert list(line.x) == [0, 0.7, 1.0] and list(line.y) == pytest.approx([0, 0, 0.3])
    assert list(lenience.y) == [0.0, 0.1] and "TV" in out.layout.yaxis.title.text
