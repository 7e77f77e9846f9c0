#!/usr/bin/env bash
# Packages into .venv. `install.sh runtime` takes what the demo needs; with TORCH, also what checkers with local models
# need. `install.sh dev` takes all of it, with what tests, linters and benchmarks need. TORCH chooses
# torch's build: auto, what fits this machine; cpu, cu128 and the like; or none.
set -euo pipefail
cd "$(dirname "$0")/.."
env=.venv
python=$env/bin/python
torch="${TORCH:-}"
demo=(-r requirements.txt -r requirements-formats.txt -r requirements-checkers.txt)
models=(-r requirements-statistics.txt -r requirements-models.txt -r requirements-papers.txt)

case "$torch" in
    "" | none | auto | cpu | cu[0-9]* | rocm[0-9]* | xpu) ;;
    *)
        echo "TORCH is none, auto, cpu, or a build such as cu128; it is '$torch'" >&2
        exit 1
        ;;
esac

uv_install() { "$env/bin/uv" pip install --quiet --compile-bytecode --python "$python" "$@"; }

has_gpu() { nvidia-smi -L 2>/dev/null | grep -q GPU; }

# torch comes first and alone: what depends on it must find it installed, or gigabytes of CUDA libraries follow.
install_torch() {
    local build="$torch" again=()
    if [ -n "$build" ] && [ "$build" != auto ]; then
        again=(--reinstall-package torch) # another build of the same version may be there
    elif has_gpu; then
        build=auto
    else
        build=cpu
    fi
    local size="about 3 GB to download"
    [ "$build" != cpu ] || size="about 200 MB to download"
    local from_torch=(--torch-backend "$build" "${again[@]+"${again[@]}"}" -r requirements-torch.txt)
    if UV_HTTP_CONNECT_TIMEOUT=5 UV_HTTP_TIMEOUT=10 UV_HTTP_RETRIES=0 uv_install --dry-run "${from_torch[@]}" 2>/dev/null
    then
        echo "Installing torch's build '$build' ($size; TORCH=cpu, TORCH=cu128 or TORCH=none choose by hand) ..."
        uv_install "${from_torch[@]}"
        return
    fi
    echo "torch's own package index does not answer, so its build '$build' cannot be had from there."
    echo "Installing torch as pip finds it (from PyPI on Linux about 3 GB to download, with CUDA's libraries;" \
        "TORCH=none does without) ..."
    "$python" -m pip install -qq --disable-pip-version-check -r requirements-torch.txt
}

if [ "${1:-}" = dev ]; then
    echo "Installing what tests and checkers with local models need into $env (about 400 MB to download, and torch) ..."
    everything=("${demo[@]}" "${models[@]}" -r requirements-dev.txt)
    if [ "$torch" = none ]; then
        echo "Installing no torch: checkers that need it will say so, everything else works (TORCH=cpu brings it)."
        # What depends on torch is installed all the same, so that its own page says what it lacks.
        uv_install --override <(echo "torch; python_version < '3'") "${everything[@]}"
        exit
    fi
    [ -n "$torch" ] || install_torch # a chosen build is there already
    uv_install "${everything[@]}"
    exit
fi

"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    { echo "Assay needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
test -x "$python" || "${PYTHON:-python3}" -m venv "$env"
echo "Installing packages into $env (about 200 MB to download the first time, without torch) ..."
"$python" -m pip install -qq --disable-pip-version-check uv==0.13.8
if [ "$torch" = none ]; then
    "$env/bin/uv" pip uninstall --quiet --python "$python" torch 2>/dev/null || true
fi
if [ -z "$torch" ] || [ "$torch" = none ]; then
    uv_install "${demo[@]}"
else
    install_torch
    uv_install "${demo[@]}" "${models[@]}"
fi
