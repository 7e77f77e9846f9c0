#!/bin/sh
# A whole Assay in one container, with SQLite: the image's own command. ADMIN_EMAIL and ASSAY_ADMIN_PASSWORD make the
# first administrator. On a Space of Hugging Face, pages are served under its name, and kept in /data where it has that.
set -eu
if [ -n "${SPACE_HOST:-}" ]; then
    export ASSAY_ALLOWED_HOSTS="$SPACE_HOST" ASSAY_TRUSTED_ORIGINS="https://$SPACE_HOST"
    export ASSAY_HTTPS=1 ASSAY_TRUSTED_PROXIES=1
    if [ -w /data ]; then export ASSAY_DATA_DIR=/data; fi
fi
exec /opt/assay/bin/assay serve --host 0.0.0.0 --port "${PORT:-8000}" --email "${ADMIN_EMAIL:-}"
