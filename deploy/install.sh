#!/bin/sh
# Installs Assay on Debian or Ubuntu, from the checkout that this file is in, as root: into /opt/assay, with the user
# `assay` and its data folder /srv/assay. The Dockerfile runs it, too.
#   EXTRAS=formats,checkers   what else than `server` (docs/how-to/install.md has a table); empty for none
#   TORCH=none                or cpu, cu128 and the like: with checkers that compute with local models
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
extras=$(echo "server,${EXTRAS-formats,checkers}" | sed 's/,*$//')
torch=${TORCH:-none}
place=/opt/assay

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends ca-certificates python3 python3-venv >/dev/null
id assay >/dev/null 2>&1 ||
    useradd --uid "${ASSAY_UID:-1000}" --home-dir /srv/assay --create-home --shell /usr/sbin/nologin assay
chmod 750 /srv/assay

test -x "$place/bin/python" || python3 -m venv "$place"
"$place/bin/python" -m pip install -qq --disable-pip-version-check uv==0.13.8
uv() { "$place/bin/uv" pip install --quiet --compile-bytecode --python "$place/bin/python" "$@"; }
if [ "$torch" != none ]; then
    # First and alone: what depends on torch must find it installed.
    uv --torch-backend "$torch" -r "$source/requirements-torch.txt"
    extras="$extras,models,papers"
fi
uv "${source}[$extras]"
"$place/bin/python" -m pip uninstall -qqy uv # 50 MB
"$place/bin/assay" --version
