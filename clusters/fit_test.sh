#!/usr/bin/env bash
set -euo pipefail
exec python3 clusters/fit.py --check
