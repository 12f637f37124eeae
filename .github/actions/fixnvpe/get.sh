#!/bin/bash
# Says where the program is, after taking it from the release's wheel where none was given.
# What downloads has never run: there is no release yet.
set -euo pipefail

program=$FIXNVPE_PROGRAM
if [ -z "$program" ]; then
    case $RUNNER_OS in
    Windows) wheel='fixnvpe-*-win_amd64.whl' name=fixnvpe.exe ;;
    Linux) wheel="fixnvpe-*linux*_$(uname -m).whl" name=fixnvpe ;;
    *) echo "fixnvpe: there is no program for $RUNNER_OS" >&2 && exit 2 ;;
    esac
    folder=$(mktemp -d "$RUNNER_TEMP/fixnvpe.XXXXXX")
    gh release download ${FIXNVPE_VERSION:+"v$FIXNVPE_VERSION"} --repo "$FIXNVPE_REPOSITORY" --dir "$folder" \
        --pattern "$wheel" --pattern SHA256SUMS
    (cd "$folder" && sha256sum --check --strict --ignore-missing SHA256SUMS)
    unzip -q -j "$folder"/*.whl "fixnvpe-*.data/scripts/$name" -d "$folder"
    program=$folder/$name
    chmod +x "$program"
fi
printf 'program=%s\n' "$program" >>"$GITHUB_OUTPUT"
