#!/usr/bin/env bash
# Start Assay with embedded defaults and demo data: SQLite, an embedded broker, one web server, and two workers: what
# people wait for (imports, reports, exports) never queues behind training or checkers.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
export PORT="${PORT:-8000}"
export ASSAY_DATA_DIR="${ASSAY_DATA_DIR:-$PWD/var/demo}"

if ! [[ "$PORT" =~ ^[0-9]+$ ]] || (( PORT < 1 || PORT > 65535 )); then
    echo "PORT must be a number from 1 to 65535 (it is '$PORT')." >&2
    exit 1
fi
if ! $python - "$PORT" <<'PY'
import socket, sys
with socket.socket() as probe:
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        probe.bind(("127.0.0.1", int(sys.argv[1])))
    except OSError:
        sys.exit(1)
PY
then
    echo "Port $PORT is taken. Choose another one: make demo PORT=8001" >&2
    exit 1
fi

mkdir -p "$ASSAY_DATA_DIR"
key="$ASSAY_DATA_DIR/secret-key"
if [ ! -s "$key" ]; then
    (umask 077 && $python -c 'import secrets; print(secrets.token_urlsafe(50))' > "$key")
fi
export ASSAY_SECRET_KEY ASSAY_DEMO=1 ASSAY_LOG_LEVEL="${ASSAY_LOG_LEVEL:-WARNING}" HF_HUB_OFFLINE=1
ASSAY_SECRET_KEY="$(cat "$key")"
export ASSAY_STATIC_ROOT="$ASSAY_DATA_DIR/static"

stamp="$ASSAY_DATA_DIR/.static-collected"
if [ ! -e "$stamp" ] || [ -n "$(find static requirements.txt -newer "$stamp" -print -quit)" ]; then
    $python manage.py collectstatic --noinput --verbosity 0
    touch "$stamp"
fi
$python manage.py demo

# Celery's warning to whoever is root speaks of servers; this one answers on loopback only.
export PYTHONWARNINGS="${PYTHONWARNINGS:+$PYTHONWARNINGS,}ignore:You're running the worker with superuser privileges"

.venv/bin/honcho start &
honcho=$!
(
    # As long as web and worker live: a slow machine takes longer.
    while kill -0 "$honcho" 2>/dev/null; do
        if $python -c "import urllib.request as r; r.urlopen('http://127.0.0.1:$PORT/accounts/login/', timeout=5)" 2>/dev/null; then
            cat <<EOF

  Assay is running:  http://127.0.0.1:$PORT/

  Sign in with one click there as annotator, second annotator, adjudicator or researcher.
  The demo's data lie in $ASSAY_DATA_DIR (make clean-demo removes them). Ctrl+C stops it.

EOF
            break
        fi
        sleep 0.2
    done
) &
teller=$!

# Honcho stops web and worker on TERM and INT, and would leave them behind when the terminal is closed.
asked=""
stop() {
    asked=yes
    kill -TERM "$honcho" 2>/dev/null || true
}
trap stop HUP INT TERM
status=0
while kill -0 "$honcho" 2>/dev/null; do
    status=0
    wait "$honcho" || status=$?
done
kill "$teller" 2>/dev/null || true
if [ -n "$asked" ]; then
    exit 0
fi
echo "Assay has stopped by itself; its last messages are above." >&2
exit "$(( status == 0 ? 1 : status ))"
