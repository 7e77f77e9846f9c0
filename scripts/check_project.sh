#!/usr/bin/env bash
# What ruff does not see: migrations that are missing, and settings that are not fit for production.
set -euo pipefail
cd "$(dirname "$0")/.."
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
export ASSAY_DATA_DIR="$data" ASSAY_LOG_LEVEL=WARNING
unset ASSAY_DEBUG ASSAY_DEMO
ASSAY_SECRET_KEY="$(.venv/bin/python -c 'import secrets; print(secrets.token_urlsafe(60))')"
export ASSAY_SECRET_KEY

.venv/bin/python manage.py makemigrations --check --dry-run
ASSAY_ALLOWED_HOSTS=assay.example.org ASSAY_TRUSTED_ORIGINS=https://assay.example.org ASSAY_HTTPS=1 ASSAY_TRUSTED_PROXIES=1 \
    .venv/bin/python manage.py check --deploy --fail-level WARNING
.venv/bin/python -m pytest -q -p no:cacheprovider tests/test_architecture.py tests/test_kinds_by_name.py
