#!/usr/bin/env bash
# Packages into .venv. `install.sh runtime` takes what Assay needs, `install.sh dev` what tests, linters and benchmarks
# need as well. TORCH chooses torch's build: left out, what fits this machine; cpu, cu128 and the like; or none.
set -euo pipefail
cd "$(dirname "$0")/.."
env=.venv
python=$env/bin/python
torch="${TORCH:-}"

case "$torch" in
    "" | none | cpu | cu[0-9]* | rocm[0-9]* | xpu) ;;
    *)
        echo "TORCH is none, cpu, or a build such as cu128; it is '$torch'" >&2
        exit 1
        ;;
esac

uv_install() { "$env/bin/uv" pip install --quiet --compile-bytecode --python "$python" "$@"; }

# What depends on torch is installed all the same, so that its own page says what it lacks.
without_torch() {
    if [ "$torch" = none ]; then
        uv_install --override <(echo "torch; python_version < '3'") "$@"
    else
        uv_install "$@"
    fi
}

if [ "${1:-}" = dev ]; then
    echo "Installing the tools for tests into $env (about 70 MB to download) ..."
    without_torch -r requirements.txt -r requirements-dev.txt
    exit
fi

"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    { echo "Assay needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
test -x "$python" || "${PYTHON:-python3}" -m venv "$env"
echo "Installing packages into $env (about 400 MB to download the first time, without torch) ..."
"$python" -m pip install -qq --disable-pip-version-check uv==0.13.8

has_gpu() { nvidia-smi -L 2>/dev/null | grep -q GPU; }

# torch comes first and alone: what depends on it must find it installed, or gigabytes of CUDA libraries follow.
install_torch() {
    local build="$torch" again=()
    if [ -n "$build" ]; then
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

if [ "$torch" = none ]; then
    echo "Installing no torch: checkers that need it will say so, everything else works (TORCH=cpu brings it)."
    "$env/bin/uv" pip uninstall --quiet --python "$python" torch 2>/dev/null || true
else
    install_torch
fi
without_torch -r requirements.txt
