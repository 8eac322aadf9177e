# SPDX-License-Identifier: MIT
# Shared by the lint jobs: where they are, and how they skip.
# Runs in: tests (sourced).
cd "$(dirname "$0")/../.." || exit 2
B=${B-build}

# Exits as skipped when the command is not there.
need()
{
    command -v "$1" >/dev/null 2>&1 || {
        echo "skip: no $1 here"
        exit 77
    }
}
