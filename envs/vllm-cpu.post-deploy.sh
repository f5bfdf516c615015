#!/usr/bin/env bash
# The CPU build of vLLM asks for these and needs none of them for text; their wheels are built for
# another torch ("operator torchvision::nms does not exist").
set -euo pipefail
pip uninstall --yes torchvision torchaudio torchcodec
