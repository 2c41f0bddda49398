"""A few prompts for a chapter's minutes: five of the workloads, in sentences that the course's smallest model answers well."""

# By kind of workload: prompts that a model of 135 million parameters can answer, and whose answers run to 20 tokens and more.
SHORT: dict[str, tuple[str, ...]] = {
    "code": (
        "Write a Python class for a stack with push, pop and peek.",
        "Write a Python function that checks whether a number is prime.",
        "Write a Python function that counts the vowels in a string.",
        "Write a JavaScript function that adds up the numbers in an array.",
    ),
    "JSON": (
        "Write a JSON array of four books, each with a title, an author and a year.",
        "List three fruits and their colours as JSON.",
        "Write a JSON object that describes a bicycle: its brand, colour, gears and price.",
        "List five European countries and their capitals as JSON.",
    ),
    "extraction": (
        "List all dates in this text: The bridge was begun on 1 May 1904, opened on 3 June 1907 and rebuilt on 9 July 1951.",
        "Copy every sentence about the weather: It rained all night. Tom read a book. In the morning the sun came out. He went for a walk.",
        "Extract the names and ages from this text, one per line: Anna is 31, Bob is 45, Carla is 27 and David is 52.",
        "Extract the prices from this text as a list: The lamp costs 40 euros, the chair 75 euros, the table 120 euros.",
    ),
    "chat": (
        "What is the capital of France, and what is it known for?",
        "Can you give me three tips for sleeping better?",
        "What should I pack for a weekend at the sea?",
        "Why is the sky blue?",
    ),
    "story": (
        "Write a fairy tale about a fox and a river.",
        "Write a short story about a lighthouse keeper.",
        "Write a short story in which a robot learns to paint.",
        "Tell me about a strange night on a train.",
    ),
}
