"""`specdec-lab bench`: what is asked for is what is planned, and what cannot be is one sentence."""

import sys

import pytest

from specdec_lab import cli
from specdec_lab.cli import bench as cli_bench
from specdec_lab.measure.workloads import NAMES

MINE = """name: letters
about: Greetings are fixed, so a small draft knows them.
temperature: 0.3
max_new_tokens: 50
prompts:
  - Write a letter of thanks.
"""


@pytest.fixture
def planned(monkeypatch, capsys):
    """Call the command; the plan and the folder it would run, or the sentence and the exit code."""

    def call(*arguments: str):
        asked = []
        monkeypatch.setattr(cli_bench, "_run", lambda plan, out: asked.append((plan, out)))
        monkeypatch.setattr(sys, "argv", ["specdec-lab", "bench", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return asked[0] if asked else (stopped.value.code, capsys.readouterr().err)

    return call


def test_without_arguments_all_workloads_with_two_drafters(planned):
    plan, out = planned()
    assert [w.name for w in plan.workloads] == list(NAMES) and str(out) == "bench"
    assert (plan.drafters, plan.k, plan.temperatures, plan.dtypes) == (("model", "ngram"), (4,), (None,), ("auto",))
    assert (plan.prompts, plan.max_new_tokens, plan.repeats, plan.batches, plan.pair) == (2, 32, 1, (1, 4, 16), "auto")


def test_quick_is_less_of_whatever_is_not_given(planned):
    usual, quick, mixed = planned()[0], planned("--quick")[0], planned("--quick", "--prompts", "3", "--workloads", "chat")[0]
    assert sum(map(quick.weight, quick.tasks)) < sum(map(usual.weight, usual.tasks)) / 5
    assert mixed.prompts == 3 and [w.name for w in mixed.workloads] == ["chat"] and mixed.drafters == quick.drafters


def test_everything_can_be_given(planned, tmp_path):
    (tmp_path / "mine.yaml").write_text(MINE)
    plan, out = planned(
        "--workloads", "json, chat", "--workload-file", str(tmp_path / "mine.yaml"), "--drafters", "early-exit,suffix", "--k", "1,3,5",
        "--temperatures", "own,0,0.5", "--dtypes", "fp32,bf16", "--prompts", "4", "--max-new-tokens", "9", "--repeats", "2",
        "--batch", "1,2,4,...,64", "--pair", "cpu-default", "--out", str(tmp_path / "here"),
    )  # fmt: skip
    assert [w.name for w in plan.workloads] == ["json", "chat", "letters"] and plan.drafters == ("early exit", "suffix")
    assert (plan.k, plan.temperatures, plan.dtypes) == ((1, 3, 5), (None, 0.0, 0.5), ("fp32", "bf16"))
    assert plan.batches == (1, 2, 4, 8, 16, 32, 64) and out == tmp_path / "here"
    assert (plan.prompts, plan.max_new_tokens, plan.repeats, plan.pair) == (4, 9, 2, "cpu-default")


def test_a_file_alone_is_measured_alone(planned, tmp_path):
    (tmp_path / "mine.yaml").write_text(MINE)
    assert [w.name for w in planned("--workload-file", str(tmp_path / "mine.yaml"))[0].workloads] == ["letters"]
    assert len(planned("--workload-file", str(tmp_path / "mine.yaml"), "--workloads", "all")[0].workloads) == 9


@pytest.mark.parametrize(
    ("given", "batches"), [("none", ()), ("1,4", (1, 4)), ("2,...,20", (2, 4, 8, 16, 20)), ("1,2,...,2", (1, 2, 2)), ("8", (8,))]
)
def test_batches(given, batches):
    assert (() if given == "none" else cli_bench._batches(given)) == batches


WRONG = {
    "an unknown workload": (["--workloads", "chta"], "did you mean chat?"),
    "no workload": (["--workloads", "none"], "no workload"),
    "no such file": (["--workload-file", "/no/such.yaml"], "cannot be read"),
    "an unknown drafter": (["--drafters", "eagel"], "did you mean eagle?"),
    "k in words": (["--k", "three"], "--k is 'three'"),
    "no k": (["--k", ","], "no k to measure"),
    "a temperature in words": (["--temperatures", "hot"], "--temperatures is 'hot'"),
    "an endless temperature": (["--temperatures", "nan"], "temperature"),
    "an unknown dtype": (["--dtypes", "fp31"], "did you mean fp32?"),
    "dots without an end": (["--batch", "1,2,..."], "a number on each side"),
    "half a text": (["--batch", "1.5"], "--batch"),
    "too large a batch": (["--batch", "1,...,128"], "between 1 and 64"),
    "a number that is none": (["--prompts", "two"], "--prompts"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_one_sentence_and_exit_code_2(planned, name):
    arguments, says = WRONG[name]
    code, err = planned(*arguments)
    assert code == 2 and says in err and "Traceback" not in err


def test_help_needs_no_torch(monkeypatch):
    import subprocess

    code = (
        "import sys\nfrom specdec_lab import cli\nsys.argv = ['specdec-lab', 'bench', '--help']\n"
        "try: cli.main()\nfinally: assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "--workload-file" in done.stdout, done.stderr


@pytest.mark.parametrize(("seconds", "says"), [(0.2, "1 seconds"), (75, "75 seconds"), (240, "4 minutes"), (9000, "2.5 hours")])
def test_a_duration_in_words(seconds, says):
    assert cli_bench._duration(seconds) == says
