"""Twenty prompts over the course's workloads; `make test` takes one in five, `make test-long` all."""

import pytest

PROMPTS = [
    "Write a Python function that reverses a list.",
    "Write a Python class for a stack with push, pop and peek.",
    "Write a JavaScript function that checks whether a string is a palindrome.",
    "Fix the bug in this code: def mean(xs): return sum(xs) / len(x)",
    "Repeat this function and add a docstring:\ndef add(a, b):\n    return a + b",
    "Return a JSON object with the name, age and city of three people.",
    "Convert this to JSON: name: Ada, born: 1815, field: mathematics.",
    "List three fruits and their colours as JSON.",
    "Extract the names from this text: Anna met Bob and Carla in Paris on Monday.",
    "Extract the dates from: The war began on 1 May 1904 and ended on 3 June 1907.",
    "Repeat this sentence three times: The quick brown fox jumps over the lazy dog.",
    "Rewrite this sentence politely: Give me the report now.",
    "Summarize in one sentence: Bees visit flowers for nectar, and carry pollen from one to the next as they go.",
    "Hi! How are you today?",
    "What is the capital of France, and what is it known for?",
    "Explain why the sky is blue.",
    "How do I boil an egg?",
    "Write a short story about a lighthouse keeper.",
    "Write a poem about the sea.",
    "Write a short story in which a robot learns to paint.",
]

every_prompt = pytest.mark.parametrize(
    "text", [pytest.param(text, marks=() if i % 5 == 0 else pytest.mark.long, id=f"prompt{i}") for i, text in enumerate(PROMPTS)]
)
