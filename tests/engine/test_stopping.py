"""A text ends in the same place whether its tokens come one by one or inside an accepted run: ids, reason and text."""

import itertools

import pytest

from specdec_lab.engine import Stopping, generate
from specdec_lab.errors import UserError
from specdec_lab.models.toy import scripted_lm
from tests.support import FunctionDrafter, PieceTokenizer, ids

PIECES = ["The", " cat", " sat", " on", " the", " mat", ".", "\n", "User", ":", " né", "<end>"]
SCRIPT = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2]  # The cat sat on the mat.\nUser: né cat sat
END = len(PIECES) - 1
TOKENIZER = PieceTokenizer(PIECES)
PROMPT = ids(9, 9, 9)


def drafter_right_up_to(right: int) -> FunctionDrafter:
    """Drafts the target's own text, but for the token behind `right` right ones."""

    def propose(context: list[int], k: int) -> list[int]:
        at = len(context) - len(PROMPT)
        coming = [SCRIPT[(at + i) % len(SCRIPT)] for i in range(k)]
        return [t if i != right else (t + 1) % END for i, t in enumerate(coming)]

    return FunctionDrafter(propose)


def ended(stopping: Stopping, drafter=None, k: int = 1, script=SCRIPT) -> tuple[list[int], str, str]:
    """What a run ends with."""
    run = generate(scripted_lm(script, len(PIECES), start=len(PROMPT)), PROMPT, drafter, k, stopping=stopping)
    assert sum((r.emitted for r in run.rounds), ()) == run.tokens
    assert [o for r in run.rounds for o in r.origins].count("accepted") == sum(min(r.accepted, len(r.emitted)) for r in run.rounds)
    assert run.metrics.tokens == len(run.tokens)
    return list(run.tokens), run.reason, run.text


EVERY_DRAFT = list(itertools.product(range(1, 7), range(7)))  # k, and how many of its tokens are right


@pytest.mark.parametrize("end", range(1, 12))
def test_max_new_tokens_at_every_offset(end):
    for k, right in EVERY_DRAFT:
        tokens, reason, _ = ended(Stopping(end, decoder=TOKENIZER), drafter_right_up_to(right), k)
        assert (tokens, reason) == (SCRIPT[:end], "length")


@pytest.mark.parametrize("end", range(11))
def test_an_end_token_at_every_offset(end):
    for k, right in EVERY_DRAFT:
        tokens, reason, text = ended(Stopping(30, frozenset({SCRIPT[end], 99}), decoder=TOKENIZER), drafter_right_up_to(right), k)
        assert (tokens, reason) == (SCRIPT[: end + 1], "eos")
        assert text == "".join(PIECES[i] for i in tokens)


STOPS = {
    "a token of its own": (("\n",), 8, "The cat sat on the mat."),
    "the first token": (("The",), 1, ""),
    "inside one token": (("a",), 2, "The c"),
    "over two tokens": (("t s",), 3, "The ca"),
    "over three tokens": ((".\nUser",), 9, "The cat sat on the mat"),
    "the earliest of several": (("mat", "on", "zzz"), 4, "The cat sat "),
    "two ended by one token: cut in front of both": (("sat", "cat s"), 3, "The "),
    "the second time only as a whole": ((" cat sat on",), 4, "The"),
    "not written": (("dog",), 13, "The cat sat on the mat.\nUser: né cat sat"),
    "not ASCII": (("é c",), 12, "The cat sat on the mat.\nUser: n"),
}


@pytest.mark.parametrize("strings, length, text", STOPS.values(), ids=STOPS)
def test_stop_strings_for_ids_and_text_alike(strings, length, text):
    wanted = (SCRIPT[:length], "length" if length == 13 else "stop", text)
    assert ended(Stopping(13, strings=strings, decoder=TOKENIZER)) == wanted
    for k, right in EVERY_DRAFT:
        assert ended(Stopping(13, strings=strings, decoder=TOKENIZER), drafter_right_up_to(right), k) == wanted


class ByteTokenizer:
    """Tokens are bytes: half a character decodes to a replacement mark, as in byte-level vocabularies."""

    def decode(self, token_ids, skip_special_tokens=False) -> str:
        return bytes(token_ids).decode(errors="replace")


@pytest.mark.parametrize("stop, kept", [("é", "caf"), ("é!", "café, caf"), ("€", "café, café! 3 ")])
def test_a_stop_string_is_found_when_its_last_byte_is_written(stop, kept):
    script = list("café, café! 3 €.".encode())
    ends = "café, café! 3 €.".find(stop) + len(stop)
    for right in range(6):
        drafter = FunctionDrafter(
            lambda context, k, right=right: [script[(len(context) - 1 + i) % len(script)] for i in range(min(k, right))]
        )
        stopping = Stopping(len(script), strings=(stop,), decoder=ByteTokenizer())
        run = generate(scripted_lm(script, 256, start=1), ids(0), drafter, 5, stopping=stopping)
        assert (run.text, run.reason) == (kept, "stop")
        assert bytes(run.tokens).decode() == "café, café! 3 €."[:ends]


def test_the_end_token_is_kept_as_an_id_and_not_written():
    tokens, reason, text = ended(Stopping(9, frozenset({END}), decoder=TOKENIZER), script=[0, 1, END, 2])
    assert (tokens, reason, text) == ([0, 1, END], "eos", "The cat")


def test_the_end_token_comes_before_the_stop_string_and_both_before_the_length():
    assert ended(Stopping(2, frozenset({1}), (" cat",), TOKENIZER)) == ([0, 1], "eos", "The")
    assert ended(Stopping(2, frozenset(), (" cat",), TOKENIZER)) == ([0, 1], "stop", "The")


def test_take_says_what_was_still_wanted():
    stopping = Stopping(5, frozenset({3}))
    assert stopping.take([1, 2]) == (1, 2) and stopping.reason is None
    assert stopping.take([4, 3, 1, 1]) == (4, 3) and stopping.reason == "eos"
    assert stopping.take([1]) == () and stopping.tokens == [1, 2, 4, 3]


def test_without_a_decoder_there_is_no_text():
    assert ended(Stopping(2))[2] is None


def test_an_empty_stop_string_is_refused():
    with pytest.raises(UserError, match="stop string is empty and would end every text at once; leave it out"):
        ended(Stopping(5, strings=("\n", ""), decoder=TOKENIZER))


def test_a_bare_stop_string_is_refused():
    with pytest.raises(UserError, match="given as a tuple"):
        ended(Stopping(5, strings="END", decoder=TOKENIZER))


def test_stop_strings_without_a_tokenizer_are_refused():
    with pytest.raises(UserError, match="need a tokenizer"):
        ended(Stopping(5, strings=("END",)))
