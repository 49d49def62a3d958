#!/usr/bin/env bash
# Train on the GPUs of this machine: ./launch.sh [GPUS] [arguments of train.py]
set -euo pipefail
cd "$(dirname "$0")"

GPUS="${1:-8}"
shift || true

export CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-$(seq -s, 0 $((GPUS - 1)))}"
export CUDA_DEVICE_MAX_CONNECTIONS=1
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
export NCCL_DEBUG=WARN
export NCCL_SOCKET_IFNAME=eth0
export NCCL_IB_DISABLE=0

nvidia-smi --query-gpu=name,memory.total --format=csv

torchrun --standalone --nproc-per-node "$GPUS" train.py --config config/gpt.yaml --device cuda --backend nccl "$@"
