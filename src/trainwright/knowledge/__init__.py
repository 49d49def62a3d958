"""Facts about the NPU: which API works where, what stands in for a library."""
