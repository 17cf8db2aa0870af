#!/bin/sh
# Make .venv with the Python that is named, or with the first one found that is new enough.
set -u

named=${1:-}
if [ -z "$named" ]; then
    set -- python3 python3.13 python3.12 python3.11 python3.14 python
fi
found=
for candidate; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
        found=$candidate
        break
    fi
done
if [ -z "$found" ]; then
    echo "Python 3.11 or newer is needed${named:+, and $named is not}: install one (Debian: apt-get install python3 python3-venv) or name one with PYTHON=/path/to/python3." >&2
    exit 1
fi
if ! "$found" -c 'import ensurepip, venv' 2> /dev/null; then
    echo "Python's venv module is missing: install it (Debian: apt-get install python3-venv)." >&2
    exit 1
fi
"$found" -m venv --clear .venv
