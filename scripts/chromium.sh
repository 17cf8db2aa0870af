#!/bin/sh
# Print the path of a Chromium for the browser tests; on a root Debian install one if none is there.
set -u

find_chromium() {
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        if [ -n "$name" ] && command -v "$name"; then
            return 0
        fi
    done
    return 1
}

find_chromium && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Installing chromium for the browser tests ..." >&2
    export DEBIAN_FRONTEND=noninteractive
    install="apt-get install -y -qq --no-install-recommends chromium fonts-liberation"
    { $install || { apt-get update -qq && $install; }; } > /dev/null 2>&1
    find_chromium && exit 0
fi
echo "The browser tests need Chromium: install it (Debian: apt-get install chromium) or name one with CHROMIUM=/path/to/chromium." >&2
exit 1
