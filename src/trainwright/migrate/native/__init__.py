"""C++ and CUDA sources: kernels, launches, bindings."""
