"""What a bench is to measure: every combination once, in an order that is fair, and refused where it cannot be measured."""

import dataclasses

import pytest

from specdec_lab.errors import UserError
from specdec_lab.measure.bench import BatchTask, TextTask
from tests.measure.bench.toys import plan, workload


def test_every_combination_is_there_once():
    made = plan(temperatures=(None, 0.5), dtypes=("fp32", "bf16"), repeats=3, prompts=2)
    texts = [task for task in made.tasks if isinstance(task, TextTask)]
    batches = [task for task in made.tasks if isinstance(task, BatchTask)]
    assert len(texts) == 2 * 2 * 2 * 2 * 2 * 2 * 3  # workloads, prompts, temperatures, drafters, k, dtypes, repeats
    assert len(batches) == 2 * 2 * 2 * 2 * 3  # batches, drafters, k, dtypes, repeats
    assert len({task.key for task in made.tasks}) == len(made.tasks)


def test_a_machine_that_slows_down_slows_all_alike():
    """A dtype's models are loaded once; all repeats of a prompt are far apart, all ways of decoding it close together."""
    tasks = plan(dtypes=("fp32", "bf16"), repeats=2).tasks
    assert [task.dtype for task in tasks] == sorted((task.dtype for task in tasks), key=["fp32", "bf16"].index)
    first = [task for task in tasks if task.dtype == "fp32"]
    assert [task.repeat for task in first] == sorted(task.repeat for task in first)
    assert [task[1:5] for task in first[:4]] == [("letters", None, drafter, k) for drafter in ("model", "ngram") for k in (2, 3)]
    assert {task.prompt for task in first[:4]} == {0} and first[4].prompt == 1


def test_a_prompt_has_its_own_temperature_or_the_given_one_and_at_most_so_many_tokens():
    made = plan(temperatures=(None, 0.3), max_new_tokens=12, workloads=(workload("a", 0.8, tokens=9), workload("b", 0.1)))
    seen = {(t.workload, t.temperature): made.prompt(t) for t in made.tasks if isinstance(t, TextTask)}
    assert (seen["a", None].temperature, seen["a", 0.3].temperature, seen["b", None].temperature) == (0.8, 0.3, 0.1)
    assert (seen["a", None].max_new_tokens, seen["b", None].max_new_tokens) == (9, 12)


def test_a_workload_of_fewer_prompts_gives_what_it_has():
    made = plan(prompts=5, workloads=(workload("a", 0.0), workload("b", 0.0, 0.0)))
    assert [(t.workload, t.prompt) for t in made.tasks[::4] if isinstance(t, TextTask)] == [("a", 0), ("b", 0), ("b", 1)]


def test_a_batch_mixes_the_workloads_and_begins_again():
    words = [prompt.text.split()[0] + str(len(prompt.text)) for prompt in plan().batch_prompts(7)]
    assert [word[:-2] for word in words[:4]] == ["letters", "verses", "letters", "verses"]
    assert len(set(words[:4])) == 4 and words[4:] == words[:3]


WRONG = {
    "no drafter": ({"drafters": ()}, "no drafter to measure"),
    "an unknown drafter": ({"drafters": ("modle",)}, "did you mean model?"),
    "an unknown dtype": ({"dtypes": ("int3",)}, "There are auto, fp32"),
    "no guess": ({"k": (0,)}, "between 1 and 32"),
    "too large a batch": ({"batches": (1, 128)}, "between 1 and 64"),
    "k twice": ({"k": (3, 4, 3)}, "k 3 is there twice"),
    "a temperature twice": ({"temperatures": (None, None)}, "temperature own is there twice"),
    "zero twice": ({"temperatures": (0.0, 0.0)}, "temperature 0.0 is there twice"),
    "a cold temperature": ({"temperatures": (-1.0,)}, "temperature"),
    "no prompts": ({"prompts": 0}, "prompts is 0"),
    "no tokens": ({"max_new_tokens": 0}, "max_new_tokens is 0"),
    "no repeats": ({"repeats": 0}, "repeats is 0"),
    "no workload": ({"workloads": ()}, "no workload"),
    "two of a name": ({"workloads": (workload("a", 0.0), workload("a", 0.5))}, "workload a is there twice"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_measured_is_said(name):
    changes, says = WRONG[name]
    with pytest.raises(UserError, match=says.replace("?", r"\?")):
        plan(**changes)


def test_other_words_make_another_plan():
    one = plan()
    first, second = one.workloads
    other = dataclasses.replace(first, prompts=(dataclasses.replace(first.prompts[0], text="Something else."), *first.prompts[1:]))
    assert plan().as_dict() == one.as_dict() != plan(workloads=(other, second)).as_dict()
