import pytest

from specdec_lab.errors import UserError
from specdec_lab.models.registry import DEFAULT, PAIRS, Pair, find_pair, pick, pick_below


@pytest.mark.parametrize(
    ("free_gib", "name"),
    [
        (0.0, "cpu-default"),  # no GPU
        (4.0, "cpu-default"),
        (14.7, "qwen2.5-3b"),  # a T4
        (22.0, "qwen2.5-7b"),  # an L4
        (139.0, "qwen2.5-32b"),  # an H200: larger pairs need a licence that nobody may have accepted
    ],
)
def test_auto_picks_the_largest_that_fits(free_gib, name):
    assert pick(free_gib).name == name


@pytest.mark.parametrize("name", ["smollm2-1.7b", "qwen2.5-3b", "qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b"])
def test_auto_never_picks_what_does_not_fit(name):
    need = PAIRS[name].memory_gib
    assert pick(need).name == name
    assert pick(need - 0.01).name != name


@pytest.mark.parametrize(
    ("name", "below"),
    [
        ("cpu-default", "cpu-default"),
        ("smollm2-1.7b", "cpu-default"),
        ("qwen2.5-7b", "qwen2.5-3b"),
        ("llama-3.1-8b", "qwen2.5-7b"),  # no licence is asked for on the way down
        ("llama-3.1-70b-8b", "qwen2.5-32b"),
    ],
)
def test_the_next_smaller_pair(name, below):
    assert pick(1000.0, below=PAIRS[name]).name == below


def test_a_smaller_pair_has_to_fit_too():
    assert pick(6.0, below=PAIRS["qwen2.5-7b"]).name == "smollm2-1.7b"


@pytest.mark.parametrize(
    ("model", "below"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-3b"),
        ("Qwen/Qwen2.5-0.5B-Instruct", "smollm2-1.7b"),  # the draft of several pairs: below the smallest of them
        ("one/of-ones-own", "cpu-default"),
    ],
)
def test_the_pair_below_a_model(model, below):
    assert pick_below(model).name == below


def test_memory_is_two_bytes_a_parameter_and_headroom():
    pair = Pair("x", "t", "d", billions=1.073741824)  # 2^30 parameters: 2 GiB
    assert pair.memory_gib == pytest.approx(2 * 1.1 + 1.5)


def test_every_hub_pair_of_llama_names_its_licence_gate():
    assert {pair.name for pair in PAIRS.values() if pair.licence_gate} == {name for name in PAIRS if name.startswith("llama")}


def test_70b_takes_several_gpus_and_nothing_else_does():
    assert {name for name, pair in PAIRS.items() if pair.multi_gpu} == {"llama-3.1-70b", "llama-3.1-70b-8b"}


def test_the_default_needs_no_hub():
    assert "/" not in DEFAULT.target + DEFAULT.draft
    assert all("/" in pair.target and "/" in pair.draft for pair in PAIRS.values() if pair is not DEFAULT)


def test_unknown_pair_names_the_closest_and_all():
    with pytest.raises(UserError, match=r"'qwen2.5-8b'; did you mean qwen2.5-7b\?") as caught:
        find_pair("qwen2.5-8b")
    assert all(name in str(caught.value) for name in PAIRS)
    with pytest.raises(UserError) as caught:
        find_pair("zzz")
    assert "did you mean" not in str(caught.value)
