#!/usr/bin/env bash
# Runs contributing_test.py with its arguments.
exec python3 "$(dirname "$0")/contributing_test.py" "$@"
