import copy

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from specdec_lab.assets import asset
from specdec_lab.errors import UserError
from specdec_lab.models import loading
from specdec_lab.models.hub import HubError
from specdec_lab.models.loading import load_model, load_pair
from specdec_lab.models.registry import COURSE_DRAFT, EMBEDDED, PAIRS, Pair
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


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "xpu"])
def test_a_device_that_is_not_there(device):
    with pytest.raises(UserError, match=f"no device '{device}' here .* choose auto or cpu"):
        load_model(EMBEDDED, "fp32", device)


@pytest.mark.parametrize(
    ("device", "bf16", "dtype"),
    [("cpu", True, torch.float32), ("cuda", True, torch.bfloat16), ("cuda", False, torch.float16), ("mps", False, torch.bfloat16)],
)
def test_auto_dtype(monkeypatch, device, bf16, dtype):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bf16)
    assert loading._dtype("auto", torch.device(device)) == dtype


@pytest.fixture
def loaded(monkeypatch):
    """The names of the pairs that were asked for; those that need a hub fail."""
    names = []

    def load(pair, dtype, device):
        names.append(pair.name)
        if pair.name != "cpu-default":
            raise HubError("The hub is gone.")
        return pair

    monkeypatch.setattr(loading, "_load", load)
    return names


def test_auto_without_a_gpu(loaded):
    assert load_pair(device="cpu").name == "cpu-default"
    assert loaded == ["cpu-default"]


def test_auto_on_a_gpu_without_a_hub_says_so_and_goes_on(loaded, monkeypatch):
    monkeypatch.setattr(loading, "_free_gib", lambda device: 2 * 14.7)  # a T4, were this CPU's fp32 its 16 bits
    with pytest.warns(UserWarning, match="The hub is gone. Loading cpu-default instead of qwen2.5-3b"):
        assert load_pair().name == "cpu-default"
    assert loaded == ["qwen2.5-3b", "cpu-default"]


def test_a_pair_asked_for_by_name_is_not_replaced(loaded):
    with pytest.raises(HubError):
        load_pair("qwen2.5-3b")
    assert loaded == ["qwen2.5-3b"]


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
    with pytest.raises(UserError, match=r"llama-3.1-70b needs about \d+ GiB in float32, and \d+ GiB are free on cpu; choose a smaller"):
        load_pair("llama-3.1-70b", "fp32", "cpu")


def test_auto_halves_the_room_for_twice_the_bytes(loaded, monkeypatch):
    monkeypatch.setattr(loading, "_free_gib", lambda device: 14.7)
    with pytest.warns(UserWarning):
        load_pair("auto", "fp32")
    assert loaded[0] == "smollm2-1.7b"
