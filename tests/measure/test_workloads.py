"""The prompts of the bench: eight workloads of twenty, no two alike; and what is wrong with a file of one's own is said."""

from __future__ import annotations

import ast
import re
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from specdec_lab.errors import UserError
from specdec_lab.measure import workloads as room
from specdec_lab.measure.workloads import NAMES, SHORT, Prompt, Workload, load_workload, workload, workloads
from specdec_lab.training import own_text
from tests.real.prompts import PROMPTS

ALL = workloads()
EACH = [pytest.param(name, i, prompt, id=f"{name}-{i + 1}") for name in NAMES for i, prompt in enumerate(ALL[name].prompts)]
FOLDER = Path(room.__file__).parent
TEMPERATURES = {  # what suits the kind
    "code-completion": (0.0, 0.2), "code-edit": (0.0, 0.2), "json": (0.0, 0.2), "extraction": (0.0, 0.2),
    "summary": (0.2, 0.4), "question-answering": (0.0, 0.2), "chat": (0.5, 0.7), "story": (0.9, 1.1),
}  # fmt: skip
LENGTHS = {"summary": (80, 200), "question-answering": (60, 200), "extraction": (25, 120)}  # words of a given text
FENCE = re.compile(r"```(\w+)\n(.*?)\n```", re.DOTALL)
COURSE = ("speculative", "specdec", "drafter", "target model", "language model", "acceptance rate", "notebook", "rover", "decoding")


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def shared(one: str, other: str) -> float:
    """Of the words of both, the share that stands in both: 1 for the same words, 0 for none in common."""
    a, b = words(one), words(other)
    return 2 * len(a & b) / (len(a) + len(b))


def given(name: str, prompt: Prompt) -> str:
    """The text that the prompt is about: behind the first line, and before the question if there is one."""
    lines = prompt.text.split("\n")
    return "\n".join(lines[1:-1] if name == "question-answering" else lines[1:])


def test_eight_workloads_in_the_order_of_the_issue():
    assert list(ALL) == list(NAMES)
    assert NAMES == ("code-completion", "code-edit", "json", "extraction", "summary", "question-answering", "chat", "story")
    assert all(found.name == name and workload(name) == found for name, found in ALL.items())
    assert sorted(NAMES) == sorted(file.stem for file in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_twenty_prompts_and_one_sentence_about_them(name):
    found = ALL[name]
    assert len(found.prompts) == 20
    assert found.about.endswith(".") and ". " not in found.about and "\n" not in found.about and len(found.about.split()) > 15


@pytest.mark.parametrize(("name", "i", "prompt"), EACH)
def test_every_prompt_is_fit_to_be_asked(name, i, prompt):
    low, high = TEMPERATURES[name]
    assert low <= prompt.temperature <= high and 64 <= prompt.max_new_tokens <= 256
    assert prompt.text == prompt.text.strip() and 8 <= len(prompt.text.split()) <= 250 and prompt.text.count("```") in (0, 2)
    assert [word for word in COURSE if word in prompt.text.lower()] == []


def test_no_two_prompts_are_alike():
    texts = [prompt.text for found in ALL.values() for prompt in found.prompts]
    assert len(set(texts)) == len(texts) == 160
    assert [(a, b) for a, b in combinations(texts, 2) if shared(a, b) > 0.5] == []


def test_none_is_a_prompt_that_the_course_uses_elsewhere():
    """Chapter 9 learns from its questions, and the chapters show the others."""
    learnt, judged = own_text.turns()
    elsewhere = [*learnt, *judged, *PROMPTS, *(text for some in SHORT.values() for text in some)]
    texts = [prompt.text for found in ALL.values() for prompt in found.prompts]
    assert [(a, b) for a in texts for b in elsewhere if shared(a, b) > 0.5] == []


def test_what_counts_as_alike():
    assert shared("Write a tale about a fox.", "write a tale about a FOX") == 1
    assert shared("Write a tale about a fox.", "Write a tale about a wolf.") > 0.5 > shared("Tell a tale.", "Write a letter to me.")


@pytest.mark.parametrize("name", ["code-completion", "code-edit"])
def test_code_stands_between_fences_and_in_several_languages(name):
    codes = [FENCE.findall(prompt.text) for prompt in ALL[name].prompts]
    assert all(len(code) == 1 for code in codes)
    languages = [language for ((language, _),) in codes]
    assert languages.count("python") >= 12 and len(set(languages)) >= 5


@pytest.mark.parametrize(("name", "i", "prompt"), [p for p in EACH if p.values[0] == "code-edit"])
def test_code_to_be_edited_is_complete_and_most_of_the_answer(name, i, prompt):
    ((language, code),) = FENCE.findall(prompt.text)
    assert 6 <= len(code.splitlines()) <= 20
    assert len(code) > len(prompt.text) / 2
    if language == "python":
        ast.parse(code)


@pytest.mark.parametrize(("name", "i", "prompt"), [p for p in EACH if p.values[0] == "code-completion"])
def test_code_to_be_continued_can_be(name, i, prompt):
    ((language, code),) = FENCE.findall(prompt.text)
    if language == "python":
        last = code.splitlines()[-1]
        deeper = " " * (len(last) - len(last.lstrip()) + 4 * last.endswith(":"))
        ast.parse(f"{code}\n{deeper}pass\n")


@pytest.mark.parametrize(("name", "i", "prompt"), [p for p in EACH if p.values[0] in LENGTHS])
def test_a_given_text_is_as_long_as_it_should_be(name, i, prompt):
    low, high = LENGTHS[name]
    assert low <= len(given(name, prompt).split()) <= high
    assert len(prompt.text.split("\n")[0].split()) <= 25, "the task comes first, in a line"
    if name == "question-answering":
        assert re.match(r"(Question|Guest|Customer|Visitor|User|Statement): ", prompt.text.split("\n")[-1])


@pytest.mark.parametrize("name", NAMES)
def test_a_file_can_be_read_without_scrolling_sideways(name):
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert [line for line in text.split("\n") if len(line) > 120 or line != line.rstrip() or "\t" in line] == []


def test_no_sentence_is_broken_where_the_file_breaks_it():
    """It would be copied without the breaks, and a lookup would not find it."""
    for name in ("extraction", "summary", "question-answering", "chat", "story"):
        assert [prompt.text for prompt in ALL[name].prompts if re.search(r"[\w,;]\n[a-z]", prompt.text)] == []


@pytest.mark.parametrize(("name", "says"), [("chatt", "did you mean chat? "), ("JSON", "did you mean json? "), ("poetry", "")])
def test_an_unknown_workload_names_those_there_are(name, says):
    with pytest.raises(UserError) as error:
        workload(name)
    assert str(error.value) == (
        f"There is no workload {name!r}; {says}The workloads are {', '.join(NAMES)}; one of your own is given by its file."
    )


OWN = """\
name: letters
about: Greetings are fixed.
temperature: 0
max_new_tokens: 100
prompts:
  - Write a letter of thanks.
  - text: |
      Write a letter
      of complaint.
    temperature: 0.7
  - text: Write a love letter.
    max_new_tokens: 30
"""


def test_a_workload_of_ones_own(tmp_path):
    file = tmp_path / "letters.yaml"
    file.write_text(OWN)
    asked = (
        Prompt("Write a letter of thanks.", 0.0, 100),
        Prompt("Write a letter\nof complaint.", 0.7, 100),
        Prompt("Write a love letter.", 0.0, 30),
    )
    assert load_workload(file) == load_workload(str(file)) == Workload("letters", "Greetings are fixed.", asked)


def test_the_example_in_the_docstring_is_one(tmp_path):
    example = room.__doc__.split("of the same form:\n")[1]
    file = tmp_path / "letters.yaml"
    file.write_text("\n".join(line[4:] for line in example.splitlines()))
    found = load_workload(file)
    assert found.name == "letters" and [(p.temperature, p.max_new_tokens) for p in found.prompts] == [(0.3, 128), (0.7, 128)]


KEYS = "name, about, temperature, max_new_tokens, prompts"
NO_YAML = "mind the indentation, and quote a text with a colon in it."
GREEDY = "has to be 0 (greedy) or at least 0.00001."
WRONG = {  # what is changed in OWN, and what is said
    "no mapping": ({OWN: "- a\n- b\n"}, f"own.yaml does not describe a workload; it needs the keys {KEYS}."),
    "empty": ({OWN: ""}, f"own.yaml does not describe a workload; it needs the keys {KEYS}."),
    "not YAML": ({"name: letters": "name: [letters"}, f"own.yaml is not YAML (line 2: expected ',' or ']', but got ':'); {NO_YAML}"),
    "a colon": ({"Write a love letter.": "Write: a love letter."},
                f"own.yaml is not YAML (line 11: mapping values are not allowed here); {NO_YAML}"),
    "no date": ({"name: letters": "name: 2026-13-45"}, f"own.yaml is not YAML (month must be in 1..12); {NO_YAML}"),
    "a control character": ({"love": "lo\x07ve"}, "own.yaml is not YAML (unacceptable character #x0007"),
    "keys missing": ({"name: letters\n": "", "temperature: 0\n": ""},
                     f"own.yaml says nothing about name, temperature; a workload has the keys {KEYS}."),
    "a key too many": ({"temperature: 0\n": "temperature: 0\ntop_p: 0.9\n"},
                       f"own.yaml has an unknown key 'top_p', but the keys are {KEYS}."),
    "no name": ({"name: letters": "name:"}, "own.yaml has no name; write one."),
    "a number for a name": ({"name: letters": "name: 7"},
                            "own.yaml has 7 for its name, which YAML does not take for a text; put it in quotes."),
    "nothing about it": ({"Greetings are fixed.": "' '"}, "own.yaml has no about; write one."),
    "below zero": ({"temperature: 0\n": "temperature: -1\n"}, f"own.yaml: temperature is -1.0, but {GREEDY}"),
    "infinitely hot": ({"temperature: 0\n": "temperature: .inf\n"}, f"own.yaml: temperature is inf, but {GREEDY}"),
    "no number": ({"temperature: 0\n": "temperature: warm\n"}, "own.yaml: temperature is 'warm', but has to be a number, such as 0.7."),
    "yes is no number": ({"temperature: 0\n": "temperature: yes\n"}, "own.yaml: temperature is True, but has to be a number, such as 0.7."),
    "no tokens": ({"100": "0"}, "own.yaml: max_new_tokens is 0, but has to be a whole number, 1 or more."),
    "half a token": ({"100": "100.5"}, "own.yaml: max_new_tokens is 100.5, but has to be a whole number, 1 or more."),
    "no prompts": ({OWN[OWN.index("prompts"):]: "prompts: []\n"},
                   "own.yaml has no prompts; list at least one under `prompts:`, each behind a dash."),
    "one prompt without a dash": ({OWN[OWN.index("prompts"):]: "prompts: Say hello.\n"},
                                  "own.yaml has no prompts; list at least one under `prompts:`, each behind a dash."),
    "an empty text": ({"Write a letter of thanks.": "''"}, "Prompt 1 of own.yaml has no text; write one."),
    "an empty entry": ({"Write a letter of thanks.": ""}, "Prompt 1 of own.yaml has no text; write one."),
    "settings without a text": ({"text: Write a love letter.\n    ": ""}, "Prompt 3 of own.yaml has no text; write one."),
    "a number for a text": ({"Write a love letter.": "42"},
                            "Prompt 3 of own.yaml has 42 for its text, which YAML does not take for a text; put it in quotes."),
    "a colon in a text": ({"Write a letter of thanks.": "Write: a letter of thanks."},
                          "Prompt 1 of own.yaml has an unknown key 'Write', but the keys are text, temperature, max_new_tokens; "
                          "a text with a colon in it has to stand in quotes."),
    "a prompt below zero": ({"0.7": "-0.7"}, f"Prompt 2 of own.yaml: temperature is -0.7, but {GREEDY}"),
    "a prompt without tokens": ({"30": "-30"}, "Prompt 3 of own.yaml: max_new_tokens is -30, but has to be a whole number, 1 or more."),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "says"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_in_a_file_is_said_in_a_sentence(tmp_path, changes, says):
    text = OWN
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    file = tmp_path / "own.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        load_workload(file)
    assert str(error.value).startswith(says) and "\n" not in str(error.value) and str(error.value).endswith(".")


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(
        UserError, match=r"none\.yaml cannot be read \(No such file or directory\); give the path of a workload's YAML file\."
    ):
        load_workload(tmp_path / "none.yaml")
    with pytest.raises(UserError, match=r"cannot be read \(Is a directory\)"):
        load_workload(tmp_path)
    (tmp_path / "old.yaml").write_bytes("name: café".encode("latin-1"))
    with pytest.raises(UserError, match=r"^old\.yaml is not a text in UTF-8; save it as one in your editor\.$"):
        load_workload(tmp_path / "old.yaml")


def test_the_files_say_everything_once():
    """A prompt's own setting that repeats its workload's would hide behind it when that is changed."""
    for name in NAMES:
        fields = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
        for entry in fields["prompts"]:
            if isinstance(entry, dict):
                own = {key: value for key, value in entry.items() if key != "text"}
                assert own and all(fields[key] != value for key, value in own.items()), entry


def test_the_short_prompts_are_of_five_kinds_several_each():
    assert list(SHORT) == ["code", "JSON", "extraction", "chat", "story"]
    prompts = [prompt for some in SHORT.values() for prompt in some]
    assert len(set(prompts)) == len(prompts) and all(len(some) >= 3 for some in SHORT.values())
