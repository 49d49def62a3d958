// Python bindings of the fused bias and GELU.
#include <torch/extension.h>

torch::Tensor bias_gelu_forward_cuda(const torch::Tensor& x, const torch::Tensor& bias);
torch::Tensor bias_gelu_backward_cuda(const torch::Tensor& grad, const torch::Tensor& x, const torch::Tensor& bias);

namespace {

void check(const torch::Tensor& x, const torch::Tensor& bias) {
  TORCH_CHECK(x.is_cuda() && bias.is_cuda(), "bias_gelu: tensors must be on the GPU");
  TORCH_CHECK(x.is_contiguous() && bias.is_contiguous(), "bias_gelu: tensors must be contiguous");
  TORCH_CHECK(bias.dim() == 1 && x.size(-1) == bias.size(0), "bias_gelu: bias must match the last dimension");
  TORCH_CHECK(x.scalar_type() == bias.scalar_type(), "bias_gelu: x and bias must have one type");
}

torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& bias) {
  check(x, bias);
  return bias_gelu_forward_cuda(x, bias);
}

torch::Tensor backward(const torch::Tensor& grad, const torch::Tensor& x, const torch::Tensor& bias) {
  check(x, bias);
  TORCH_CHECK(grad.is_contiguous() && grad.sizes() == x.sizes(), "bias_gelu: gradient must look like x");
  TORCH_CHECK(grad.scalar_type() == x.scalar_type(), "bias_gelu: gradient must have the type of x");
  return bias_gelu_backward_cuda(grad, x, bias);
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("forward", &forward, "gelu(x + bias)", pybind11::arg("x"), pybind11::arg("bias"));
  module.def("backward", &backward, "gradient of gelu(x + bias) for x", pybind11::arg("grad"), pybind11::arg("x"),
             pybind11::arg("bias"));
}
