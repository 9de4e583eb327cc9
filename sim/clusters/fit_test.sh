#!/usr/bin/env bash
set -euo pipefail
exec python3 sim/clusters/fit.py --check
