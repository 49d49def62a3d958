"""A small GPT that learns to add: model, data, optimizer, checkpoints and one custom CUDA operator."""
