// gelu(x + bias) and its gradient; the tanh form, computed in float32.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

#include <algorithm>

namespace {

constexpr int kThreads = 256;
constexpr float kScale = 0.7978845608028654f;  // sqrt(2 / pi)
constexpr float kCubic = 0.044715f;

__device__ __forceinline__ float gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(kScale * (x + kCubic * x * x * x)));
}

__device__ __forceinline__ float gelu_slope(float x) {
  const float t = tanhf(kScale * (x + kCubic * x * x * x));
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * kScale * (1.0f + 3.0f * kCubic * x * x);
}

template <typename scalar_t>
__global__ void bias_gelu_forward_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ bias,
                                         scalar_t* __restrict__ out, int64_t count, int64_t width) {
  const int64_t stride = static_cast<int64_t>(blockDim.x) * gridDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < count; i += stride) {
    out[i] = static_cast<scalar_t>(gelu(static_cast<float>(x[i]) + static_cast<float>(bias[i % width])));
  }
}

template <typename scalar_t>
__global__ void bias_gelu_backward_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x,
                                          const scalar_t* __restrict__ bias, scalar_t* __restrict__ out,
                                          int64_t count, int64_t width) {
  const int64_t stride = static_cast<int64_t>(blockDim.x) * gridDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < count; i += stride) {
    const float at = static_cast<float>(x[i]) + static_cast<float>(bias[i % width]);
    out[i] = static_cast<scalar_t>(static_cast<float>(grad[i]) * gelu_slope(at));
  }
}

int blocks_for(int64_t count) {
  const int64_t most = 32 * at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  return static_cast<int>(std::min((count + kThreads - 1) / kThreads, most));
}

}  // namespace

torch::Tensor bias_gelu_forward_cuda(const torch::Tensor& x, const torch::Tensor& bias) {
  const c10::cuda::CUDAGuard guard(x.device());
  auto out = torch::empty_like(x);
  if (x.numel() == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "bias_gelu_forward", [&] {
    bias_gelu_forward_kernel<scalar_t><<<blocks_for(x.numel()), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), x.numel(), bias.numel());
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

torch::Tensor bias_gelu_backward_cuda(const torch::Tensor& grad, const torch::Tensor& x, const torch::Tensor& bias) {
  const c10::cuda::CUDAGuard guard(x.device());
  auto out = torch::empty_like(x);
  if (x.numel() == 0) return out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "bias_gelu_backward", [&] {
    bias_gelu_backward_kernel<scalar_t><<<blocks_for(x.numel()), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        grad.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(),
        x.numel(), bias.numel());
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
