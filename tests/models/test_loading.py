import copy
import weakref
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from specdec_lab.assets import asset
from specdec_lab.errors import UserError
from specdec_lab.models import loading, placement
from specdec_lab.models.hub import HubError
from specdec_lab.models.loading import LoadedPair, load_model, load_pair
from specdec_lab.models.placement import auto_pairs, choose
from specdec_lab.models.registry import COURSE_DRAFT, EMBEDDED, PAIRS, Pair
from tests.gpu import L4, T4, pretend
from tests.support import tiny_llama

WORDS = {word: i for i, word in enumerate(["the", "cat", "sat", "on", "a", "mat", ".", "<end>"])}


def save_model(folder, words=WORDS, special=("<end>",), **generation) -> str:
    """A tiny Llama and a tokenizer of whole words in a folder, which then goes by its path."""
    model = copy.deepcopy(tiny_llama(0).model).float()
    for name, value in generation.items():
        setattr(model.generation_config, name, value)
    model.save_pretrained(folder)
    words_alone = Tokenizer(models.WordLevel(words, unk_token="."))
    words_alone.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words_alone, eos_token="<end>")
    tokenizer.add_special_tokens({"additional_special_tokens": list(special)})
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_the_default_pair(cpu_pair_fp32):
    pair = cpu_pair_fp32
    assert (pair.pair.name, pair.target.name, pair.draft.name) == ("cpu-default", EMBEDDED, COURSE_DRAFT)
    assert pair.target.model.dtype == pair.draft.model.dtype == torch.float32
    assert pair.target.vocab_size == pair.draft.vocab_size == 49152
    assert pair.eos == {2}
    ids = pair.encode("Say hi.")
    logits = pair.draft(ids[None], pair.draft.new_cache(), logits_to_keep=1)[0, 0]
    assert 1000 < int(torch.isfinite(logits).sum()) < 49152


def test_encode_wraps_a_message_in_the_chat_template(cpu_pair_fp32):
    ids = cpu_pair_fp32.encode("Say hi.")
    assert (ids.dim(), ids.dtype) == (1, torch.long)
    text = cpu_pair_fp32.tokenizer.decode(ids)
    assert text.endswith("<|im_start|>user\nSay hi.<|im_end|>\n<|im_start|>assistant\n")
    assert text.count("<|im_start|>") == 3
    assert ids[0] == 1


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_prompt(cpu_pair_fp32, text):
    with pytest.raises(UserError, match="The prompt is empty"):
        cpu_pair_fp32.encode(text)


def test_a_pair_of_ones_own(tmp_path):
    target, draft = save_model(tmp_path / "t", eos_token_id=[7, 40]), save_model(tmp_path / "d", special=("<end>", "<other>"))
    pair = load_pair(Pair("mine", target, draft, billions=0.001), "fp64", "cpu")
    assert pair.target.model.dtype == pair.draft.model.dtype == torch.float64
    assert (pair.target.name, pair.draft.name) == (target, draft)
    assert pair.eos == {7, 40}
    assert pair.encode("the cat").tolist() == [0, 1]  # no chat template


def test_a_chat_template_that_begins_the_text_begins_it_once(tmp_path):
    folder = save_model(tmp_path)
    pair = load_pair(Pair("mine", folder, folder, billions=0.001))
    pair.tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing("<end> $A", special_tokens=[("<end>", WORDS["<end>"])])
    assert pair.encode("the cat").tolist() == [7, 0, 1]
    pair.tokenizer.chat_template = "<end> on {{ messages[0]['content'] }}{% if add_generation_prompt %} a{% endif %}"
    assert pair.encode("the cat").tolist() == [7, 3, 0, 1, 4]


def test_two_tokenizers_are_no_pair(tmp_path):
    target, draft = save_model(tmp_path / "t"), save_model(tmp_path / "d", {**WORDS, "the": 1, "cat": 0})
    with pytest.raises(UserError, match=rf"{draft} cannot draft for {target}: their tokenizers differ"):
        load_pair(Pair("mine", target, draft, billions=0.001))


def test_unknown_names():
    with pytest.raises(UserError, match=r"no pair 'cpu-defualt'; did you mean cpu-default\?"):
        load_pair("cpu-defualt")
    with pytest.raises(UserError, match="no dtype 'int4'; choose auto, fp32, bf16, fp16, fp64"):
        load_model(EMBEDDED, "int4")


as_if_loaded = partial(LoadedPair, target=None, draft=None, tokenizer=None, eos=frozenset())


@pytest.fixture
def loaded(monkeypatch):
    """The names of the pairs that were loaded; those in `faults` meet the fault of that name. `taken()`: GiB of those that are held."""
    names, faults, held = [], {}, weakref.WeakSet()

    def load(pair, dtype, device):
        names.append(pair.name)
        if fault := faults.get(pair.name):
            raise fault
        whole = as_if_loaded(pair)
        held.add(whole)
        return whole

    auto_pairs.clear()
    monkeypatch.setattr(loading, "_load", load)
    return SimpleNamespace(names=names, faults=faults, taken=lambda: sum(each.pair.memory_gib for each in held))


GONE, FULL = HubError("The hub is gone."), torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def test_auto_without_a_gpu(loaded):
    assert load_pair(device="cpu").pair.name == "cpu-default"
    assert loaded.names == ["cpu-default"]


def test_auto_on_a_gpu(loaded, monkeypatch):
    pretend(monkeypatch, T4)
    assert load_pair().pair.name == "qwen2.5-3b"


def test_auto_again_is_the_pair_that_is_there(loaded, monkeypatch):
    """It fills the GPU: what is free now speaks for a smaller one."""
    pretend(monkeypatch, L4, taken=loaded.taken)
    pair = load_pair()
    assert choose()[0].name == pair.pair.name == "qwen2.5-7b"
    assert load_pair() is load_pair(dtype="bf16") is pair
    assert loaded.names == ["qwen2.5-7b"]
    assert choose("fp32")[0].name == "cpu-default", "another precision is another pair"
    assert choose(below=pair.pair)[0].name == "cpu-default", "one below it would stand beside it"
    del pair
    assert load_pair().pair.name == "qwen2.5-7b"
    assert loaded.names == ["qwen2.5-7b"] * 2, "nobody held it, and yet it was kept"


def test_a_smaller_pair_that_fitted_is_kept_too(loaded, monkeypatch):
    pretend(monkeypatch, L4, taken=loaded.taken)
    loaded.faults["qwen2.5-7b"] = FULL
    with pytest.warns(UserWarning):
        pair = load_pair()
    assert load_pair() is pair and pair.pair.name == "qwen2.5-3b"


def test_a_hub_that_came_back_is_asked_again(loaded, monkeypatch):
    pretend(monkeypatch, L4, taken=loaded.taken)
    loaded.faults["qwen2.5-7b"] = GONE
    with pytest.warns(UserWarning):
        pair = load_pair()
    loaded.faults.clear()
    assert (pair.pair.name, load_pair().pair.name) == ("cpu-default", "qwen2.5-7b")


def test_auto_on_a_gpu_without_a_hub_says_so_and_goes_on(loaded, monkeypatch):
    pretend(monkeypatch, T4)
    loaded.faults["qwen2.5-3b"] = GONE
    with pytest.warns(UserWarning, match="The hub is gone. Loading cpu-default instead of qwen2.5-3b") as warned:
        assert load_pair().pair.name == "cpu-default"
    assert loaded.names == ["qwen2.5-3b", "cpu-default"]
    assert warned[0].filename == __file__, "the warning points at the cell that asked"


def test_auto_takes_the_next_smaller_pair_when_memory_runs_out(loaded, monkeypatch):
    pretend(monkeypatch, L4)
    loaded.faults.update({"qwen2.5-7b": FULL, "qwen2.5-3b": FULL})
    with pytest.warns(UserWarning) as warned:
        assert load_pair().pair.name == "smollm2-1.7b"
    assert loaded.names == ["qwen2.5-7b", "qwen2.5-3b", "smollm2-1.7b"]
    assert [str(w.message) for w in warned] == [
        "Memory ran out while qwen2.5-7b was loaded. Loading qwen2.5-3b instead of qwen2.5-7b.",
        "Memory ran out while qwen2.5-3b was loaded. Loading smollm2-1.7b instead of qwen2.5-3b.",
    ]


def test_auto_looks_at_what_is_free_after_memory_ran_out(loaded, monkeypatch):
    """Another process has taken it meanwhile."""
    pretend(monkeypatch, L4)
    loaded.faults["qwen2.5-7b"] = FULL
    free = iter([22.0, 6.0])
    monkeypatch.setattr(placement, "free_gib", lambda device: next(free))
    with pytest.warns(UserWarning, match="Loading smollm2-1.7b instead of qwen2.5-7b"):
        load_pair()


def test_what_was_half_loaded_is_given_back_before_the_next(monkeypatch):
    pretend(monkeypatch, L4)
    held = []

    def load(pair, dtype, device):
        if held:
            assert held[0]() is None, "the half-loaded draft is still there"
            return as_if_loaded(pair)
        draft = torch.nn.Linear(1, 1)
        draft.itself = draft  # as modules do: only the collector finds it
        held.append(weakref.ref(draft))
        raise torch.OutOfMemoryError

    monkeypatch.setattr(loading, "_load", load)
    with pytest.warns(UserWarning):
        load_pair()


def test_no_room_for_anything(loaded, monkeypatch):
    pretend(monkeypatch, T4)
    loaded.faults.update(dict.fromkeys(PAIRS, FULL))
    with pytest.warns(UserWarning), pytest.raises(UserError, match=r"ran out even while cpu-default .* load_pair\(device='cpu'\)"):
        load_pair()
    assert loaded.names == ["qwen2.5-3b", "smollm2-1.7b", "cpu-default"]


@pytest.mark.parametrize(("name", "instead"), [("qwen2.5-7b", "qwen2.5-3b"), ("llama-3.1-8b", "qwen2.5-7b")])
def test_a_named_pair_that_memory_has_no_room_for(loaded, name, instead):
    loaded.faults[name] = FULL
    with pytest.raises(UserError, match=rf"while {name} was loaded; the next smaller pair is load_pair\('{instead}'\)") as caught:
        load_pair(name)
    assert loaded.names == [name]
    assert caught.value.__context__ is None, "what was loaded is held by its error"


def test_a_pair_asked_for_by_name_is_not_replaced(loaded):
    loaded.faults["qwen2.5-3b"] = GONE
    with pytest.raises(HubError):
        load_pair("qwen2.5-3b")
    assert loaded.names == ["qwen2.5-3b"]


def test_only_pairs_of_several_gpus_are_spread(monkeypatch):
    spread = {}

    def note(name, dtype, device, spread_=False, **options):
        spread[name] = options.get("spread", spread_)
        return tiny_llama(0)

    monkeypatch.setattr(loading, "load_model", note)
    monkeypatch.setattr(
        loading, "load_tokenizer", lambda name: PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel(WORDS)))
    )
    monkeypatch.setattr(loading, "_check_memory", lambda *pair: None)
    load_pair(PAIRS["llama-3.1-70b"])
    assert spread == {"meta-llama/Llama-3.2-1B-Instruct": False, "meta-llama/Llama-3.1-70B-Instruct": True}
    load_pair("llama-3.1-8b")
    assert spread["meta-llama/Llama-3.1-8B-Instruct"] is False


def test_the_draft_that_comes_with_the_course_is_there():
    assert (asset(COURSE_DRAFT) / "draft.safetensors").stat().st_size < 16 * 2**20


def test_a_pair_that_cannot_fit_is_refused_before_it_is_downloaded(monkeypatch):
    monkeypatch.setattr(loading, "load_tokenizer", lambda name: pytest.fail("it went on"))
    with pytest.raises(
        UserError, match=r"llama-3.1-70b needs about \d+ GiB in float32, and \d+ GiB are free on cpu; restart .* or choose a smaller"
    ):
        load_pair("llama-3.1-70b", "fp32", "cpu")
