"""One call for every model, toy or real: `model(input_ids, cache) -> logits`."""
