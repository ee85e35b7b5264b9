#!/bin/sh
# Builds the native core with sanitizers into a folder of its own and runs tests under them:
#   native/sanitize.sh address [pytest arguments]   address and undefined-behaviour sanitizers, all tests
#   native/sanitize.sh thread [pytest arguments]    thread sanitizer, the tests that use threads
#   native/sanitize.sh KIND run FILE [arguments]    a program instead, such as tests/programs/many.py
# The folder is $SANITIZE_FOLDER, by default build/sanitize-<kind>; PYTHON names the interpreter (python3).
set -eu

kind=${1:-address}
[ $# -eq 0 ] || shift
root=$(cd "$(dirname "$0")/.." && pwd)
python=$(command -v "${PYTHON:-python3}")
folder=${SANITIZE_FOLDER:-$root/build/sanitize-$kind}

case $kind in
  address)
    flags=address,undefined
    runtime=libasan.so
    export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:handle_segv=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
    export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
    tests="tests"
    ;;
  thread)
    flags=thread
    runtime=libtsan.so
    export TSAN_OPTIONS="halt_on_error=1:suppressions=$root/native/thread_sanitizer.txt${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
    tests="tests/native tests/robustness/test_threads.py tests/autograd/test_threads_note.py"
    ;;
  *)
    echo "usage: $0 address|thread [pytest arguments | run FILE [arguments]]" >&2
    exit 2
    ;;
esac

# The sources are linked into the folder, so that the module built there does not replace the usual one.
mkdir -p "$folder/src/rushlight"
for path in "$root"/* "$root/.ci"; do
  case $path in
    */src | */build) ;;
    *) ln -sfn "$path" "$folder/" ;;
  esac
done
find "$folder/src/rushlight" -maxdepth 1 -type l -delete
for path in "$root"/src/rushlight/*; do
  case $path in
    *.so | */__pycache__) ;;
    *) ln -sfn "$path" "$folder/src/rushlight/" ;;
  esac
done
cmake -S "$folder" -B "$folder/build" -DPython_EXECUTABLE="$python" -DRUSHLIGHT_SANITIZE="$flags"
cmake --build "$folder/build" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-1}"

# Python itself is not instrumented: the sanitizer's library comes first. All memory goes through malloc.
cd "$folder"
[ $# -gt 0 ] || set -- $tests
if [ "$1" = run ]; then shift; else set -- -m pytest -q -p no:cacheprovider -s "$@"; fi
LD_PRELOAD="$(gcc -print-file-name=$runtime) $(gcc -print-file-name=libstdc++.so)" \
  PYTHONMALLOC=malloc PYTHONPATH="$folder/src" exec "$python" "$@"
