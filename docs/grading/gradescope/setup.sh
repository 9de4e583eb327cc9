#!/usr/bin/env bash
# Prepares Gradescope's image: zip this file and run_autograder, and upload that as the autograder.
# Runs once, as root, when the image is built.
set -euo pipefail

RANKBOX_URL=${RANKBOX_URL:-https://github.com/OWNER/rankbox.git}
RANKBOX_REF=${RANKBOX_REF:-main} # or a tag, so that grades do not change during the term

apt-get update
apt-get install -y --no-install-recommends git ca-certificates
git clone --branch "$RANKBOX_REF" "$RANKBOX_URL" /autograder/rankbox
cd /autograder/rankbox
./rankbox list >/dev/null # installs packages and builds
