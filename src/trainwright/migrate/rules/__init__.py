"""Rule leaves: each finds one kind of tie to CUDA."""
