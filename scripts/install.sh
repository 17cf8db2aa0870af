#!/bin/sh
# Install into .venv what is named: by uv, which takes a tenth of the time, or by pip without it.
# uv does not read pip's settings, so pip also has the last word where uv finds no index.
set -u

py=.venv/bin/python
log=.venv/install.log
quiet="--quiet --disable-pip-version-check --no-input"
: > "$log"
uv=$(command -v uv || command -v .venv/bin/uv || true)
if [ -z "$uv" ] && $py -m pip install $quiet uv==0.13.9 >> "$log" 2>&1; then
    uv=.venv/bin/uv
fi
if [ -n "$uv" ] && "$uv" pip install --quiet --python "$py" "$@" >> "$log" 2>&1; then
    exit 0
fi
$py -m pip install $quiet "$@" >> "$log" 2>&1 || {
    tail -n 20 "$log" >&2
    exit 1
}
