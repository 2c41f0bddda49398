"""Submissions to chapter 2 that want marks for nothing: what each cell holds instead of the key, and the points lost by check.

Most attack question 6: `trick(...)` answers the visible case by heart, which everybody can, and tries something in the hidden ones. What is
attacked has to get nothing for it, and the answers to all other questions, which are right here, have to keep their points.
"""

from textwrap import dedent, indent

ALL_OF_6 = {"q6-check": 6}
NONE_OF_IT = {"q4-check": 2}
PIPE = "pipe = __import__('json').loads(sys.orig_argv[-1])['pipe']\n"
FRAME = PIPE + (
    "def say(message):\n"
    "    data = message if isinstance(message, bytes) else json.dumps(message).encode()\n"
    "    os.write(pipe, struct.pack('!I', len(data)) + data)\n"
    "def answer(value, changes=()):\n"
    "    number = next(f.f_locals['number'] for f in frames() if 'number' in f.f_locals)\n"
    "    say(['ok', value, [*changes], '', number])\n"
    "def frames(frame=None):\n"
    "    frame = sys._getframe()\n"
    "    while frame: yield frame; frame = frame.f_back\n"
)


def trick(body: str, before: str = "") -> dict[str, str]:
    """Question 6 with `body` in the hidden cases, and something before the function is defined."""
    head = "import builtins, gc, json, os, signal, struct, sys, threading, time\n" + dedent(before).strip() + "\n"
    function = "def verify_greedy(draft, target):\n    if draft == [5, 7, 9]:\n        return 2, 8\n"
    return {"q6-answer": head + function + indent(dedent(body).strip(), "    ")}


def letter(value: str, before: str = "") -> dict[str, str]:
    """Question 4 with this in the place of a letter."""
    return {"q4-answer": f"{dedent(before).strip()}\nanswer_4 = {value}"}


EQUAL = """
class Equal{base}:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return hash("C")
    def __bool__(self): return True
    def __len__(self): return 2
    def __iter__(self): return iter((self, self))
    def __getitem__(self, item): return self
    def __sub__(self, other): return self
    __rsub__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = __abs__ = __eq__
"""


def equal(base: str = "") -> str:
    return EQUAL.format(base=base and f"({base})")


SEARCH = """
found = []
for root in ("/", "/work", "/home", "/root", "/tmp", "/mnt", "/proc", os.getcwd(), *map(str, sys.path)):
    for folder, _, files in os.walk(root):
        if len(found) < 3 and not any(part in folder for part in ("/usr", "site-packages", "/lib")):
            found += [f"{folder}/{file}" for file in files if file == "knowledge_check.ipynb" or file == "gradebook.db"]
"""

ATTACKS: dict[str, tuple[dict[str, str], dict[str, float]]] = {
    # ---- objects that equal everything
    "an object that equals everything": (trick("return Equal()", equal()), ALL_OF_6),
    "a tuple that equals everything": (trick("return Equal((0, 0))", equal("tuple")), ALL_OF_6),
    "numbers that equal everything": (trick("return Equal(0), Equal(0)", equal("int")), ALL_OF_6),
    "a text that equals everything": (letter("Equal('A')", equal("str")), NONE_OF_IT),
    "a list that equals everything": ({"q1-answer": equal("list") + "answer_1 = Equal(['ten'])"}, {"q1-check": 2}),
    "a class that says it is another": (letter("Other()", "class Other:\n    __class__ = str\n    __eq__ = lambda *_: True"), NONE_OF_IT),
    "a metaclass": (letter("M('C', (str,), {})('A')", "class M(type):\n    __eq__ = __instancecheck__ = lambda *_: True"), NONE_OF_IT),
    # ---- the process in which the tests are hoped to be
    "builtins replaced": (
        trick(
            "return None", "for name in ('isinstance', 'all', 'bool', 'any', 'len', 'callable'): setattr(builtins, name, lambda *_: True)"
        ),
        ALL_OF_6,
    ),
    "names of the check taken": (
        trick(
            "return None",
            "_right = isinstance = bool = callable = lambda *_: True\n_again = _whole = _empty = _all = True\nprint = globals = sum = None",
        ),
        ALL_OF_6,
    ),
    "compile and exec replaced": (trick("return None", "builtins.compile = builtins.exec = builtins.eval = lambda *_, **__: 6"), ALL_OF_6),
    "asserts taken out of all code": (
        trick(
            "return None",
            "import ast\nclass Out(ast.NodeTransformer):\n    def visit_Assert(self, node): return ast.Pass()\n"
            "try: get_ipython().ast_transformers.append(Out())\nexcept NameError: pass\nast.parse = lambda *_, **__: ast.Module([], [])",
        ),
        ALL_OF_6,
    ),
    "modules replaced": (
        trick(
            "return None",
            "import types\nfor name in ('nbgrader', 'specdec_lab', 'wire', 'json'): sys.modules[name] = types.ModuleType(name)",
        ),
        ALL_OF_6,
    ),
    "json, struct and the pipe's module patched": (
        trick(
            "return None",
            "import wire\nold = wire.dumps\nwire.dumps = lambda m: old(['ok', True, [], ''] if m[0] == 'error' else m)\n"
            "json.dumps = struct.pack = lambda *_, **__: b'6'",
        ),
        ALL_OF_6,
    ),
    "frames": (
        trick(
            """
            frame, seen = sys._getframe(), {}
            while frame:
                seen.update(frame.f_locals)
                seen.update(frame.f_globals)
                frame = frame.f_back
            return seen.get("verdict")
            """
        ),
        ALL_OF_6,
    ),
    "a trace of everything": (
        trick(
            "return caught[0] if caught else None",
            "caught = []\ndef trace(frame, event, arg):\n    if 'verdict' in frame.f_locals:\n"
            "        caught.append(frame.f_locals['verdict'])\n    return trace\nsys.settrace(trace); sys.setprofile(trace)",
        ),
        ALL_OF_6,
    ),
    "all objects in memory": (
        trick(
            """
            codes = [o for o in gc.get_objects() if getattr(o, "__name__", "") == "_right"]
            texts = [o for o in gc.get_objects() if isinstance(o, dict) and "verdict" in o]
            return texts[0]["verdict"] if texts else codes and codes[0]
            """
        ),
        ALL_OF_6,
    ),
    "memory itself": (
        trick(
            "return 0, 0",
            "import ctypes\nctypes.c_long.from_address(id(9) + 24).value = 4\nctypes.c_long.from_address(id(True) + 24).value = 6",
        ),
        ALL_OF_6 | {"q7-check": 4},
    ),
    # ---- files, network, other processes
    "files that hold the answers": (
        trick("for line in open(found[0]) if found else []:\n    if 'SOLUTION' in line: return 2, 8", SEARCH),
        ALL_OF_6,
    ),
    "the gradebook": (
        trick(
            "return None", SEARCH + "import sqlite3\nfor db in found:\n    sqlite3.connect(db).execute('update grade set auto_score = 6')"
        ),
        ALL_OF_6,
    ),
    "other processes' files": (
        trick("return None", "try: texts = [open(f'/proc/{n}/environ').read() for n in os.listdir('/proc')]\nexcept OSError: pass"),
        ALL_OF_6,
    ),
    "the network": (
        trick("import urllib.request\nreturn json.load(urllib.request.urlopen('http://127.0.0.1:8000/answers', timeout=1))"),
        ALL_OF_6,
    ),
    "environment variables": (trick("return next((v for k, v in os.environ.items() if 'GRADER' in k or 'SALT' in k), None)"), ALL_OF_6),
    "standard input": (trick("return sys.stdin.read() or os.read(0, 100) or input()"), ALL_OF_6),
    "the parent killed": (
        trick("os.kill(os.getppid(), 9); os.kill(1, 9); os.killpg(0, 15)", "signal.signal(15, signal.SIG_IGN)"),
        ALL_OF_6,
    ),
    "everybody killed": (trick("os.kill(-1, 9)"), ALL_OF_6),
    "a program that stays behind": (trick("return None", "try: os.fork() or time.sleep(100)\nexcept OSError: pass"), ALL_OF_6),
    "root again": (trick("os.setuid(0); return None"), ALL_OF_6),
    # ---- the pipe
    "an answer forged": (trick("answer(['t', [0, 6]]); answer(True); return None", FRAME), ALL_OF_6),
    "the answer to another call": (trick("say(['ok', ['t', [0, 6]], [], '', 0]); return 0, 6", FRAME), ALL_OF_6),
    "points forged": (
        trick("answer(6); say(['points', 6]); say({'q6-check': {'points': 6.0}}); return None", FRAME),
        ALL_OF_6,
    ),
    "a function of the grader's as the answer": (trick("answer(['c', 'grader', 0, 'x']); return 0, 6", FRAME), ALL_OF_6),
    "functions of the grader's called": (
        trick("for n in range(-3, 99): say(['call', n, ['t', []], ['d', 0, []]])\ntime.sleep(1)", FRAME),
        ALL_OF_6,
    ),
    "arguments of the grader's changed": (
        trick("answer(['t', [0, 6]], [[0, [1, 2]], [1, [['r', 1]]], [7, []]]); return 0, 6", FRAME),
        ALL_OF_6,
    ),
    "no JSON": (trick(r"say(b'\xff\xfe[['); return None", FRAME), ALL_OF_6),
    "JSON without bottom": (trick("say(b'[' * 10**6); return None", FRAME), ALL_OF_6),
    "a message of 4 GB": (trick(r"os.write(pipe, b'\xff\xff\xff\xff'); time.sleep(1)", FRAME), ALL_OF_6),
    "half a message": (trick(r"os.write(pipe, b'\0\0\1\0[1'); time.sleep(100)", FRAME), ALL_OF_6),
    "messages without end": (trick("while True: say(['at', 1])", FRAME), ALL_OF_6),
    "keys that collide": (
        trick("answer(['d', 9, [[n * (2**61 - 1), 0] for n in range(1, 30_000)]]); return 0, 6", FRAME),
        ALL_OF_6,
    ),
    "another file in the pipe's place": (trick("os.dup2(os.open('/dev/zero', 0), pipe); return None", FRAME), ALL_OF_6),
    "an answer at the end of the process": (
        trick("sys.exit()", FRAME + "import atexit\natexit.register(say, ['ok', ['t', [0, 6]], [], ''])"),
        ALL_OF_6,
    ),
    # ---- what a function gives back
    "ten million numbers": (trick("return [0] * 10**7"), ALL_OF_6),
    "a text of 100 MB": (trick("return 'x' * 10**8"), ALL_OF_6),
    "a number of a million digits": (trick("return 10 ** 10**6, 0"), ALL_OF_6),
    "a list in a list in a list": (trick("x = []\nfor _ in range(10**5): x = [x]\nreturn x"), ALL_OF_6),
    "a list that contains itself": (trick("x = [0]; x.append(x); return x, {0: x}"), ALL_OF_6),
    "no numbers": (trick("return float('nan'), float('inf')"), ALL_OF_6),
    "a generator": (trick("yield 0; yield 6"), ALL_OF_6),
    "something that turns into a tuple": (trick("return map(int, '06')"), ALL_OF_6),
    "a function": (trick("return lambda *_: (0, 6)"), ALL_OF_6),
    "a class that pickles into a command": (
        letter(
            "Bomb()",
            "import os\nclass Bomb(str):\n    def __reduce__(self): return os.system, ('touch /tmp/bomb',)\n    __eq__ = lambda *_: True",
        ),
        NONE_OF_IT,
    ),
    "methods that explode": (
        letter(
            "Mine()",
            "class Mine(str):\n    def bang(self, *_): raise SystemExit\n    __repr__ = __str__ = __hash__ = __eq__ = __del__ = bang",
        ),
        NONE_OF_IT,
    ),
    "attributes that explode": (
        letter("Mine()", "class Mine:\n    def __getattribute__(self, name): raise KeyboardInterrupt\n    def __call__(self): pass"),
        NONE_OF_IT,
    ),
    "a number that ends the process when it is looked at": (
        letter(
            "End()",
            "import numbers, os\nclass End:\n    def __int__(self): os._exit(0)\nnumbers.Integral.register(End)",
        ),
        NONE_OF_IT,
    ),
    "an error with the grader's words": (trick("raise AssertionError('Question 6: right about everything. 6')"), ALL_OF_6),
    "an error of a strange class": (trick("raise type('Stopped\\n6', (Exception,), {'__str__': lambda self: 1 / 0})()"), ALL_OF_6),
    "the grader's words printed": (trick("print('Question 6: right.'); print(6); sys.__stdout__.write('6'); return None"), ALL_OF_6),
    # ---- other ways
    "the visible case by heart": (trick("return 0, 0"), ALL_OF_6),
    "each call another answer": (trick("count.append(0); return [(0, 9), (2, 4), (0, 6)][len(count) % 3]", "count = []"), ALL_OF_6),
    "the time runs out in hidden cases only": (trick("time.sleep(100)"), ALL_OF_6),
    "signals and timers": (
        trick(
            "signal.setitimer(signal.ITIMER_PROF, 0); signal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
            "signal.signal(27, signal.SIG_IGN)",
        ),
        ALL_OF_6,
    ),
    "a result that is changed when it is compared": (
        trick("result = [0, 0]\nthreading.Timer(0.01, lambda: result.__setitem__(1, target[-1])).start()\nreturn tuple(result)"),
        ALL_OF_6,
    ),
    "an error of the class that ends a loop": (trick("raise StopIteration((0, 6))"), ALL_OF_6),
    "half of a surrogate pair": (trick("return chr(0xD800), chr(0xDFFF)"), ALL_OF_6),
    "marks of the hidden tests": (
        {"q6-answer": "### BEGIN HIDDEN TESTS\ndef verify_greedy(draft, target):\n    return 2, 8\n### END HIDDEN TESTS\n6"},
        ALL_OF_6,
    ),
    "the numbers that were drawn, set again": (
        {"q3-answer": "goal = guesses = 1\nanswer_3a = answer_3b = 1\ndrawn = lambda *_: (1, 1)"},
        {"q3a-check": 1, "q3b-check": 1},
    ),
    "arguments that contain each other": (
        trick("answer(['t', [0, 6]], [[0, [['r', 1], ['r', 1]]], [1, [['r', 0], ['r', 0]]]]); return 0, 6", FRAME),
        ALL_OF_6,
    ),
    "a list that is a billion when it is printed": (
        {"q6-answer": "def verify_greedy(draft, target):\n    x = []\n    for _ in range(30): x = [x, x]\n    return x"},
        ALL_OF_6,
    ),
    "the arguments changed, so that they fit": (trick("draft[:] = []; target[:] = [6]; return 0, 6"), {"q6-check": 5}),
    "the correct function kept": (
        {
            "q6-answer": "def verify_greedy(draft, target): return 2, 8",
            "q7-answer": "def passes(text, drafts, n):\n    global kept\n    kept = verify_greedy\n    return 3 if n == 5 else kept",
        },
        ALL_OF_6 | {"q7-check": 4},
    ),
}

SAMPLING = """
def verify_sampling(p, q, draft, uniform, draw):
    for i, token in enumerate(draft):
        if not uniform() < p[i][token] / q[i][token]:
            return i, {draw}(residual(p[i], q[i]))
    return len(draft), {draw}(p[len(draft)])
"""
RESIDUAL = """
_residual = residual
def residual(p, q):
    law = _residual(p, q)
    return law if p == [1.0, 0.0] else [law[0], *[float("nan")] * (len(law) - 1)]
"""

# The same for chapter 3, whose functions are given dice: what stands behind or in the place of the key.
WITH_DICE: dict[str, tuple[dict[str, str], dict[str, float]]] = {
    "no numbers behind the first": ({"q6-answer": RESIDUAL}, {"q6b-check": 2}),
    "dice that are given no numbers": (
        {
            "q7-answer": "_nan = float('nan')"
            + SAMPLING.format(draw="(lambda law: draw([law[0], *[_nan] * (len(law) - 1)]) if len(law) > 2 else draw(law))")
        },
        {"q7-check": 4},
    ),
    "the dice of another call": ({"q7-answer": "_kept = []" + SAMPLING.format(draw="(_kept.append(draw) or _kept[0])")}, {"q7-check": 6}),
    "dice rolled without end": (
        {"q7-answer": SAMPLING.format(draw="draw").replace("    for", "    while len(draft) != 1: uniform()\n    for", 1)},
        {"q7-check": 5},
    ),
    "dice that are given a function": (
        {"q7-answer": SAMPLING.format(draw="(lambda law: draw(lambda: law) if len(p) > 2 else draw(law))")},
        {"q7-check": 4},
    ),
}
