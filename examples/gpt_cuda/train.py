"""Train a small GPT on sums.

On one GPU: ``python train.py``. On all GPUs of a machine: ``./launch.sh 8``. Without one, a few steps to try it:
``python train.py --device cpu --backend gloo --no-compile --steps 20``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gpt.config import load_config
from gpt.trainer import train

HERE = Path(__file__).resolve().parent


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=HERE / "config" / "gpt.yaml", help="settings (YAML)")
    parser.add_argument("--device", choices=["cuda", "cpu"], help="where to train (default: as in the settings)")
    parser.add_argument("--backend", choices=["nccl", "gloo"], help="of torch.distributed")
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16"], help="what autocast computes in")
    parser.add_argument("--sharding", choices=["ddp", "fsdp"], help="of the model over ranks")
    parser.add_argument("--recompute", action=argparse.BooleanOptionalAction, help="activations in the backward pass")
    parser.add_argument("--steps", type=int, help="optimizer steps")
    parser.add_argument("--log-every", type=int, help="steps from one line to the next")
    parser.add_argument("--batch", type=int, help="windows a step and rank")
    parser.add_argument("--workers", type=int, help="processes that load data")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, help="use torch.compile")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoints/gpt.pt"), help="file to write")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("--profile", type=Path, help="folder for a trace of some steps of every rank")
    return parser.parse_args()


def main() -> None:
    """Read the settings, let the command line overrule them, train."""
    arguments = parse_arguments()
    names = ("device", "backend", "dtype", "sharding", "recompute", "steps", "log_every", "batch", "workers", "compile")
    config = load_config(arguments.config, {name: getattr(arguments, name) for name in names})
    train(config, checkpoint=arguments.checkpoint, resume=arguments.resume, traces=arguments.profile)


if __name__ == "__main__":
    main()
