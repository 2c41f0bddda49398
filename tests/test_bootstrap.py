"""The first cell. `make test-colab` runs it for real; here pip is real too, with an index of this test's own making."""

from __future__ import annotations

import re
import site
import subprocess
import sys
import zipfile
from importlib.metadata import version
from types import SimpleNamespace

import pytest
import tomllib
import torch
from packaging.requirements import Requirement

from specdec_lab import bootstrap as module
from specdec_lab import requirements
from specdec_lab.bootstrap import bootstrap, found, install, installed, place, reason
from specdec_lab.doctor import findings
from specdec_lab.errors import UserError
from specdec_lab.models import loading
from specdec_lab.requirements import Need, checkout, needs
from tests.gpu import L4, P100, T4, pretend


def wheel(folder, name: str, number: str, *depends: str) -> None:
    """A package of one module, which tells its version."""
    info, lines = f"{name}-{number}.dist-info", "".join(f"Requires-Dist: {need}\n" for need in depends)
    with zipfile.ZipFile(folder / f"{name}-{number}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", f"version = {number!r}\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n{lines}")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(monkeypatch, tmp_path):
    """A folder that pip takes packages from, and another that it installs into."""
    folders = SimpleNamespace(index=tmp_path / "index", site=tmp_path / "site")
    folders.index.mkdir()
    environment = {"CONFIG_FILE": "/dev/null", "NO_INDEX": "1", "FIND_LINKS": str(folders.index), "TARGET": str(folders.site)}
    for name, value in environment.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return folders


def pretend_needs(monkeypatch, *lines: str) -> None:
    """The package needs these instead; what is installed is looked up for real."""
    monkeypatch.setattr(requirements, "_lines", lambda extra: list(lines))


def test_importing_it_needs_packaging_and_the_standard_library_alone():
    code = (
        "import sys; before = set(sys.modules); import specdec_lab.bootstrap;"
        "top = {name.split('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(top - set(sys.stdlib_module_names) - {'specdec_lab', 'packaging'}))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_where_everything_is_there_it_only_looks(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(module, "install", lambda missing: pytest.fail(f"it installed {missing}"))
    said = []
    for _ in range(2):  # safe to run twice
        bootstrap()
        said.append(capsys.readouterr())
    for out, err in said:
        assert err == ""
        first, device, pair = out.splitlines()
        assert first == "specdec-lab 0.1.0 in a checkout: nothing to install"
        assert "(cpu): " in device and f"torch {torch.__version__}" in device
        assert pair == "load_pair() takes cpu-default here: SmolLM2-135M-Instruct with draft-smollm2-135m, float32 on cpu"


@pytest.mark.parametrize(
    ("gpu", "says"),
    [
        (T4, "takes qwen2.5-3b here: .*, float16 on cuda"),
        (L4, "takes qwen2.5-7b here: .*, bfloat16 on cuda"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_what_it_says_of_a_gpu(monkeypatch, capsys, gpu, says):
    pretend(monkeypatch, gpu)
    bootstrap()
    out = capsys.readouterr().out
    assert f"{gpu.name} (cuda): {gpu.free:.1f} of {gpu.total:.1f} GiB free" in out
    assert re.search(says, out)


def test_a_gpu_that_torch_no_longer_runs_on(monkeypatch):
    pretend(monkeypatch, P100)
    device, pair, remark = found()
    assert "(cpu): " in device and pair.endswith("float32 on cpu")
    assert remark.startswith(f"This torch no longer runs on the {P100.name}; choose another GPU")
    of_doctor = next(each.found for each in findings() if each.what == "device")
    assert of_doctor.endswith(f"cpu, {torch.get_num_threads()} threads; this torch no longer runs on the {P100.name}")


def test_run_again_it_names_the_pair_that_is_loaded(monkeypatch):
    """And not a smaller one, for which there is room beside it."""
    taken = []

    def load(pair, dtype, device):
        taken.append(pair.memory_gib)
        return loading.LoadedPair(pair, None, None, None, frozenset())

    monkeypatch.setattr(loading, "_load", load)
    pretend(monkeypatch, T4, taken=lambda: sum(taken))
    before, pair, after = found(), loading.load_pair(), found()
    assert pair.pair.name == "qwen2.5-3b" and taken
    assert before[1:] == after[1:]


@pytest.mark.parametrize(
    ("variable", "where"), [("COLAB_RELEASE_TAG", "on Colab"), ("KAGGLE_KERNEL_RUN_TYPE", "on Kaggle"), ("NOTHING", "in a checkout")]
)
def test_the_place(monkeypatch, variable, where):
    monkeypatch.setenv(variable, "x")
    assert place() == where


def test_a_checkout_needs_what_its_project_file_says():
    project = tomllib.loads((checkout() / "pyproject.toml").read_text())["project"]
    assert [str(need.requirement) for need in needs()] == project["dependencies"]
    extras = project["optional-dependencies"]
    assert [str(need.requirement) for need in needs(("lab", "instructor")) if need.extra] == extras["lab"] + extras["instructor"]
    assert not {"nbgrader", "jupyterlab", "pytest"} & {need.requirement.name for need in needs()}


def test_an_installed_package_needs_what_its_metadata_says(monkeypatch):
    lines = ["numpy>=1.26", 'tomli>=2; python_version < "3.0"', 'jupyterlab>=4.4; extra == "lab"', 'pytest>=8; extra == "dev"']
    monkeypatch.setattr(requirements, "checkout", lambda: None)
    monkeypatch.setattr(requirements, "requires", lambda name: lines)
    assert [(need.requirement.name, need.extra) for need in needs()] == [("numpy", None)]
    assert [(need.requirement.name, need.extra) for need in needs(("lab",))] == [("numpy", None), ("jupyterlab", "lab")]


@pytest.mark.parametrize(
    ("found", "met"), [("2.11.0+cu128", True), ("2.6", True), ("2.7.0.dev20250101", True), ("2.5.1", False), (None, False)]
)
def test_new_enough(found, met):
    assert Need(Requirement("torch>=2.6"), None, found).met is met


def test_a_package_is_added(monkeypatch, capsys, index):
    wheel(index.index, "leaf", "2.0")
    wheel(index.index, "probe", "1.5", "leaf>=1")
    pretend_needs(monkeypatch, "probe>=1", "torch")
    monkeypatch.syspath_prepend(index.site)
    bootstrap()
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "Installing probe>=1 ..."
    assert any(line.startswith("Successfully installed leaf-2.0 probe-1.5") for line in lines), "pip's words are hidden"
    assert lines[-3] == "specdec-lab 0.1.0 in a checkout: installed probe"
    assert err == ""
    assert (version("probe"), version("leaf")) == ("1.5", "2.0")
    bootstrap()
    assert capsys.readouterr().out.startswith("specdec-lab 0.1.0 in a checkout: nothing to install\n")


def test_a_package_in_a_folder_that_was_not_there_before(monkeypatch, index):
    """pip makes the user's own site-packages if this Python's are read-only; a running Python does not look there."""
    wheel(index.index, "early", "1.5")
    pretend_needs(monkeypatch, "early")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(site, "ENABLE_USER_SITE", True)
    monkeypatch.setattr(site, "getusersitepackages", lambda: str(index.site))
    bootstrap()
    assert version("early") == "1.5"


def test_a_package_where_this_python_does_not_look(monkeypatch, index):
    wheel(index.index, "astray", "1.5")
    pretend_needs(monkeypatch, "astray>=1", "torch")
    with pytest.raises(UserError, match=r"^astray: installed, but this session does not see it; restart .* PIP_TARGET"):
        bootstrap()


def test_what_stands_against_what(index, capsys):
    wheel(index.index, "numpy", "99.0")
    wheel(index.index, "probe", "1.5", "numpy>=99")
    with pytest.raises(UserError) as caught:
        install([Requirement("probe")])
    said = str(caught.value)
    assert f"(probe 1.5 depends on numpy>=99 against (constraint) numpy=={version('numpy')})" in said
    assert "Nothing was changed; upgrade the package" in said
    assert "ResolutionImpossible" in capsys.readouterr().out, "pip's own words are hidden"


@pytest.mark.parametrize(
    ("kaggle", "remedy"),
    [(True, "switch on Internet in the notebook's settings"), (False, "connect to the internet, or set PIP_INDEX_URL")],
)
def test_no_network(monkeypatch, capsys, index, kaggle, remedy):
    for name, value in {"NO_INDEX": "0", "FIND_LINKS": "", "INDEX_URL": "http://127.0.0.1:9/simple", "RETRIES": "1"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    if kaggle:
        monkeypatch.setenv("KAGGLE_KERNEL_RUN_TYPE", "Interactive")
    with pytest.raises(UserError, match=f"probe cannot be installed, because pip reaches no package index; {remedy}"):
        install([Requirement("probe")])
    assert "ERROR: No matching distribution found for probe" in capsys.readouterr().out


def test_an_index_without_the_package_is_no_missing_network(index):
    with pytest.raises(UserError, match=r"^probe cannot be installed \(pip: ERROR: No matching distribution found for probe\)"):
        install([Requirement("probe")])


def test_a_python_of_the_operating_system(monkeypatch, index, tmp_path):
    """PEP 668. pip looks for its marker where the standard library is."""
    wheel(index.index, "probe", "1.5")
    (tmp_path / "EXTERNALLY-MANAGED").write_text("[externally-managed]\nError=Use apt.\n")
    code = (
        "import runpy, sys, sysconfig; sys.prefix = sys.base_prefix; sys.argv[0] = 'pip'; real = sysconfig.get_path;"
        f"sysconfig.get_path = lambda name, *a, **k: {str(tmp_path)!r} if name == 'stdlib' else real(name, *a, **k);"
        "runpy.run_module('pip', run_name='__main__')"
    )
    monkeypatch.delenv("PIP_TARGET")
    monkeypatch.setattr(module, "PIP", (sys.executable, "-c", code))
    with pytest.raises(UserError, match=r"^probe cannot be installed, because this Python belongs to the operating system"):
        install([Requirement("probe")])


def test_other_failures_pass_on_what_pip_says():
    assert "pip: ERROR: the disk is full)" in reason(["probe"], "WARNING: x\nERROR: the disk is full\nhint: buy one\n")
    assert "pip: error: metadata-generation-failed)" in reason(["probe"], "  error: inner\nerror: metadata-generation-failed\n\nhint: x\n")
    assert "pip: Killed)" in reason(["probe"], "Collecting probe\nKilled\n")
    assert "no reason given" in reason(["probe"], "")
    assert "-m ensurepip" in reason(["probe"], "/usr/bin/python: No module named pip\n")


def test_what_is_too_old_is_named_and_left_alone(monkeypatch, capsys):
    monkeypatch.setattr(module, "install", lambda missing: pytest.fail(f"it installed {missing}"))
    pretend_needs(monkeypatch, "numpy>=99", "torch>=2.6")
    with pytest.raises(UserError) as caught:
        bootstrap()
    assert str(caught.value) == (
        f"Too old for the course: numpy {version('numpy')}, not >=99. Nothing was changed; "
        "run %pip install 'numpy>=99', restart the session, go on."
    )


def test_everything_installed_is_held_to_its_version():
    pins = dict(line.split("==") for line in installed())
    assert pins["torch"] == version("torch"), "the local part, as +cu128, belongs to it"
    assert {"numpy", "transformers", "huggingface-hub", "pip"} <= set(pins)


def test_a_package_without_its_draft(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "asset", lambda name: tmp_path / name)
    with pytest.raises(UserError, match=r"came without .*draft-smollm2-135m; install it again"):
        bootstrap()
