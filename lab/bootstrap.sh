#!/usr/bin/env bash
# Makes .venv in this checkout: a fitting Python, uv, every package from the lock, the project.
# Does nothing, in a fraction of a second, when that is already so.
#
#   bootstrap.sh         make it so
#   bootstrap.sh --uv    only find or bring uv, and print its path
#
# Nothing here needs root, and nothing downloads an interpreter.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
checkout=$PWD
# A service or a bare container may give no home; then the cache must be named.
cache=${TALLYARD_CACHE:-${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}}
[ -z "$cache" ] || [ -n "${TALLYARD_CACHE-}" ] || cache=$cache/tallyard
logs_kept=20
venv=$checkout/.venv
stamp=$venv/.tallyard-stamp
uv_minor_floor=8 # of version 0.x: the first with all the options used here
export UV_PYTHON_DOWNLOADS=never PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONHOME PYTHONPATH VIRTUAL_ENV CONDA_PREFIX

say() { printf '%s\n' "$*" >&2; }

give_up() {
  say "bootstrap: $*"
  exit 1
}

# What .venv depends on. The checkout's path counts: scripts and the editable install name it.
wanted_stamp() {
  printf '%s\n' "$checkout"
  cksum requirements/lock.txt requirements/bootstrap.txt pyproject.toml
}

is_ready() {
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(wanted_stamp)" ] &&
    "$venv/bin/python" -c '' 2>/dev/null
}

# --- Python -------------------------------------------------------------------------------

python_version() { # a shim can be found and still not run
  "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true
}

python_candidates() { # version
  type -aP "python$1" python3 python 2>/dev/null || true
  local pyenv=${PYENV_ROOT:-${HOME-}/.pyenv}/versions
  local managed=${UV_PYTHON_INSTALL_DIR:-${XDG_DATA_HOME:-${HOME-}/.local/share}/uv/python}
  local found
  for found in "$pyenv/$1"*/bin/"python$1" "$managed"/cpython-"$1"*/bin/"python$1"; do
    [ -x "$found" ] && printf '%s\n' "$found"
  done
  return 0
}

find_python() {
  local version candidate
  for version in 3.13 3.12; do
    while IFS= read -r candidate; do
      if [ "$(python_version "$candidate")" = "$version" ]; then
        printf '%s\n' "$candidate"
        return
      fi
    done < <(python_candidates "$version")
  done
  return 1
}

# --- Errors -------------------------------------------------------------------------------

# Some programs fail on a full disk without naming it.
disk_is_full() {
  df -Pk "$cache" "$checkout" 2>/dev/null | awk 'NR > 1 && $4 < 5120 { full = 1 } END { exit !full }'
}

# One sentence for what the log of a failed step shows.
explain() { # what failed
  local why='see the log for the reason, mend it and run this again'
  if grep -qiE 'no space left|os error 28|disk quota' "$log" || disk_is_full; then
    why='the disk is full; free some space and run this again'
  elif grep -qiE 'hash(es)? (mismatch|do(es)? not match)|do not match the hashes|HashMismatch' "$log"; then
    why='a package is not the one whose hash stands in the lock; do not use that mirror'
  elif grep -qiE 'dns error|error sending request|connection (refused|reset|broken)|timed out|max retries|NewConnectionError|name resolution|unreachable|os error 11[0-3]|Could not find a version|network was disabled' "$log"; then
    why='the package index cannot be reached; check the network (proxy and index settings of uv and pip are honoured) and run this again'
  elif grep -qiE 'permission denied|os error 13|read-only file system' "$log"; then
    why='a file may not be written by this user; give .venv and the cache back to this user'
  fi
  give_up "$1 failed: $why. Log: $log"
}

run_logged() { # what, command ...
  local what=$1
  shift
  printf '$ %s\n' "$*" >>"$log" 2>/dev/null || give_up "$log cannot be written; is the disk full?"
  "$@" >>"$log" 2>&1 || explain "$what"
}

# --- uv -----------------------------------------------------------------------------------

uv_fits() {
  local version
  version=$("$1" --version 2>/dev/null) || return 1
  [[ $version =~ ^uv\ 0\.([0-9]+)\. ]] && [ "${BASH_REMATCH[1]}" -ge "$uv_minor_floor" ]
}

# Sets `uv`: the one on PATH, else a private one from its lock.
ensure_uv() {
  uv=$(type -P uv || true)
  if [ -n "$uv" ] && uv_fits "$uv"; then return; fi
  local folder
  folder=$cache/bootstrap/$(cksum <requirements/bootstrap.txt | tr ' ' -)
  uv=$folder/bin/uv
  if [ -x "$uv" ] && uv_fits "$uv"; then return; fi
  say "Installing uv into $cache ..."
  fresh=$folder.new.$$
  "$python" -c 'import ensurepip, venv' 2>/dev/null || give_up \
    "$python lacks the modules venv and ensurepip, which bring uv: install them" \
    "(Debian and Ubuntu: apt install python$(python_version "$python")-venv) or install uv."
  # Left behind by runs that were killed; the lock is held, so nobody works in them now.
  rm -rf "$folder" "$cache"/bootstrap/*.new.*
  trap 'rm -rf "$fresh"' EXIT
  run_logged "making a private folder for uv" "$python" -m venv "$fresh"
  run_logged "installing uv" "$fresh/bin/python" -m pip install --require-hashes \
    --only-binary :all: --no-deps -r requirements/bootstrap.txt
  mv "$fresh" "$folder"
  trap - EXIT
}

# Their names tell their age.
remove_old_logs() {
  local logs=("$cache"/logs/bootstrap-*.log)
  local count=${#logs[@]}
  [ "$count" -le "$logs_kept" ] || rm -f "${logs[@]:0:count-logs_kept}" 2>/dev/null || true
}

# --- .venv --------------------------------------------------------------------------------

ensure_venv() {
  if [ -e "$venv" ] && [ ! -f "$venv/pyvenv.cfg" ]; then
    give_up "$venv is in the way: it is no virtual environment. Move it away and run this again."
  fi
  local version
  version=$(python_version "$venv/bin/python")
  rm -f "$stamp" 2>/dev/null || give_up "$venv may not be changed by this user; give it back or remove it."
  if [ "$version" != 3.13 ] && [ "$version" != 3.12 ]; then
    [ ! -e "$venv" ] || say "The virtual environment is broken or old; making it anew."
    run_logged "making $venv" "$uv" venv --no-project --clear --python "$python" "$venv"
  fi
}

install_packages() {
  say "Installing the locked packages ..."
  # Compiled once: an `up` starts many Python processes, and where PYTHONDONTWRITEBYTECODE
  # is set each would compile all that it imports anew.
  run_logged "installing the packages" "$uv" pip sync --python "$venv/bin/python" \
    --compile-bytecode --require-hashes requirements/lock.txt
  run_logged "installing this project" "$uv" pip install --python "$venv/bin/python" \
    --no-deps --no-build-isolation --editable .
}

# Runs this script again with a lock that ends with it, however it ends; the second one waits.
lock_and_rerun() {
  mkdir -p "$cache/logs" 2>/dev/null ||
    give_up "$cache cannot be made (is it yours? is the disk full?); name another in TALLYARD_CACHE."
  TALLYARD_BOOTSTRAP_PYTHON=$python exec "$python" -c '
import fcntl, os, sys
try:
    lock = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR, 0o644)
except OSError as error:
    sys.exit(f"bootstrap: {sys.argv[1]} cannot be written ({error.strerror}); "
             "name another folder in TALLYARD_CACHE.")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("Another set-up is under way; waiting for it ...", file=sys.stderr)
    fcntl.flock(lock, fcntl.LOCK_EX)
os.set_inheritable(lock, True)
os.execvp(sys.argv[2], sys.argv[2:])
' "$cache/bootstrap.lock" bash "$checkout/lab/bootstrap.sh" "$@"
}

main() {
  if [ "${1-}" != --uv ] && is_ready; then return; fi
  [ -n "$cache" ] || give_up "HOME is not set; set it, or name a folder of yours in TALLYARD_CACHE."
  python=${TALLYARD_BOOTSTRAP_PYTHON-}
  if [ -z "$python" ]; then
    python=$(find_python) || give_up \
      "Python 3.13 (or 3.12) was not found on PATH, in pyenv or in uv's folder." \
      "Install one, for example with 'uv python install 3.13', 'pyenv install 3.13'" \
      "or your system's packages, and run this again."
    lock_and_rerun "$@"
  fi
  remove_old_logs
  log=$cache/logs/bootstrap-$(date +%Y%m%dT%H%M%S)-$$.log
  ensure_uv
  if [ "${1-}" = --uv ]; then
    printf '%s\n' "$uv"
  elif ! is_ready; then # another set-up may have made it so while this one waited
    ensure_venv
    install_packages
    { wanted_stamp >"$stamp"; } 2>/dev/null ||
      give_up "$stamp cannot be written; is the disk full, or the checkout read-only?"
  fi
}

main "$@"
