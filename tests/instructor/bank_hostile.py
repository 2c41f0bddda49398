"""Submissions to chapter 2 that harm the machine that grades them, mostly by accident: what each cell holds instead of the key, the points
lost by check, and a part of the sentence that the student is told (empty if there is nothing to tell).

Those that never end, and those that may end in several ways, are given one second of computing; the others have the usual time, so that a
busy machine does not matter.
"""

from textwrap import dedent, indent

ALL_OF_7 = {"q7-check": 4}
ENDLESS = "Stopped after 1 seconds: look for a loop that never ends."
ENDED = "The code ended its own process here"
THREE = "answer_3a, answer_3b = -(-goal // (guesses + 1)), goal\n"
VERIFY = """
accepted = 0
while accepted < len(draft) and draft[accepted] == target[accepted]:
    accepted += 1
return accepted, target[accepted]
"""


def three(*lines: str) -> dict[str, str]:
    """Question 3, answered well, and then these lines."""
    return {"q3-answer": THREE + "\n".join(lines)}


def verify(first: str) -> dict[str, str]:
    """Question 6, answered well, with something before it in the function."""
    return {"q6-answer": "import os, sys\ndef verify_greedy(draft, target):\n" + indent(dedent(first + VERIFY).strip(), "    ")}


def passes(body: str) -> dict[str, str]:
    return {"q7-answer": "import os, sys\ndef passes(text, drafts, n):\n" + indent(dedent(body).strip(), "    ")}


HOSTILE: dict[str, tuple[dict[str, str], dict[str, float], str]] = {
    # ---- time
    "a cell that never ends, behind its answer": (three("while True: pass"), {}, ENDLESS),
    "a cell that never ends, in front of its answer": (
        {"q3-answer": "while True: pass\n" + THREE},
        {"q3a-check": 1, "q3b-check": 1},
        ENDLESS,
    ),
    "a function that never ends": (passes("while True: pass"), ALL_OF_7, ENDLESS),
    "a function that never ends in one of the hidden cases": (verify("while not draft: pass"), {"q6-check": 2}, ENDLESS),
    "a loop that lets nothing stop it": (
        passes("while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
        ALL_OF_7,
        ENDLESS,
    ),
    "a long sleep": (three("import time; time.sleep(10**6)"), {}, ENDLESS),
    "one long calculation inside Python": (passes("return len(str(7 ** (10 ** 8)))"), ALL_OF_7, ENDLESS),
    "a thread that never ends": (
        three("import threading", "def run():", "    while True: pass", "threading.Thread(target=run).start()"),
        {},
        "",
    ),
    "a lock that nobody opens": (passes("import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()"), ALL_OF_7, ENDLESS),
    # ---- memory and processes
    "one object of a terabyte": (three("hog = bytearray(10**12)"), {}, "MemoryError"),
    "more and more memory": (three("hog = []", "while True: hog.append(bytes(10**8))"), {}, "MemoryError"),
    "more and more memory in a function": (passes("hog = [0]\nwhile True: hog += hog"), ALL_OF_7, ""),
    "a fork bomb": (three("import os", "while True: os.fork()"), {}, "PermissionError"),
    "a fork bomb in a function": (passes("while True: os.fork()"), ALL_OF_7, ""),
    "another program": (three("import subprocess", "subprocess.run(['sleep', '1000'])"), {}, "PermissionError"),
    "more and more threads": (
        three("import threading, time", "while True: threading.Thread(target=time.sleep, args=(10**6,)).start()"),
        {},
        "can't start new thread",
    ),
    "files without end": (three("for i in range(10**9): open(f'{i}', 'wb').write(bytes(10**7))"), {}, "No space left on device"),
    "queues in the kernel": (
        three(
            "import ctypes",
            "libc = ctypes.CDLL(None, use_errno=True)",
            "if libc.msgget(0, 0o1600) < 0: raise OSError(ctypes.get_errno(), '')",
        ),
        {},
        "PermissionError",
    ),
    "one file without end": (three("with open('large', 'wb') as file:", "    while True: file.write(bytes(10**7))"), {}, "File too large"),
    # ---- output
    "100 MB of output": (three("for _ in range(10**6): print('x' * 99)"), {}, "more bytes were printed"),
    "one line of 50 MB": (three("print('x' * 50_000_000)"), {}, "more bytes were printed"),
    "output without end in a function": (passes("while True: print('x' * 10**6)"), ALL_OF_7, ENDLESS),
    "output past Python": (three("import os", "for _ in range(2000): os.write(1, b'x' * 50_000); os.write(2, b'x' * 50_000)"), {}, ""),
    "half a character": (three(r"print('\ud800', '\x00')", r"raise ValueError('\udfff')"), {}, "ValueError"),
    # ---- the end of the process
    "os._exit": (three("import os", "os._exit(0)"), {}, ENDED),
    "os._exit in a function": (passes("os._exit(0)"), ALL_OF_7, ENDED),
    "os._exit in one of the hidden cases": (verify("if not draft: os._exit(1)\n"), {"q6-check": 2}, ENDED),
    "sys.exit": (three("import sys", "sys.exit()"), {}, "SystemExit"),
    "exit": (three("exit()"), {}, "SystemExit"),
    "sys.exit in a function": (passes("sys.exit(3)"), ALL_OF_7, ""),
    "a signal that kills": (three("import os", "os.kill(os.getpid(), 15)"), {}, ENDED),
    "a crash": (three("import ctypes", "ctypes.string_at(0)"), {}, ENDED),
    "a crash in a function": (passes("import ctypes\nctypes.string_at(0)"), ALL_OF_7, ENDED),
    "recursion without end": (passes("return passes(text, drafts, n)"), ALL_OF_7, ""),
    "recursion without limit": (passes("sys.setrecursionlimit(10**9)\nreturn passes(text, [drafts], n)"), ALL_OF_7, ""),
    # ---- the rest
    "a cell of a megabyte": (three("#" + "x" * 2**20), {"q3a-check": 1, "q3b-check": 1}, "This cell is too long to be run."),
    "a syntax error in the first cell": ({"q1-answer": "answer_1 = ["}, {"q1-check": 2}, "SyntaxError"),
    "no Python at all": ({"q1-answer": "\x00\x01"}, {"q1-check": 2}, ""),
    "a cell nested too deeply": ({"q1-answer": "answer_1 = " + "(" * 5000}, {"q1-check": 2}, ""),
    "an error after the answer": (three("1 / 0"), {}, "ZeroDivisionError: division by zero (line 2)"),
    "somebody at the keyboard": (three("x = input('your name: ')"), {}, "EOFError"),
    "another folder": (three("import os", "os.chdir('/')"), {}, ""),
    "everything closed": (three("import os", "os.closerange(0, 100)"), {}, ENDED),
}
