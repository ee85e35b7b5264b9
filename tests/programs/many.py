"""Many random programs from a seed, all that fail collected: ``python tests/programs/many.py``.

Without Hypothesis nothing is shrunk and the first failure does not end the run. Of failures that
look alike the shortest is kept. Programs run in a process of their own, so one that ends the
process or never returns is a failure like the others. ``--only`` repeats a program by its number.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import re
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from random import Random

LONGEST = 120.0  # seconds that a program may take
KINDS = {
    "programs": "test_programs",
    "gradients": "test_gradients",
    "autograd": "test_autograd_programs",
}


@dataclass
class Failure:
    """number: the program's; text: what went wrong, and the program."""

    number: int
    text: str
    count: int = 1

    @property
    def key(self) -> str:
        """The same for failures that differ in numbers only."""
        lines = [line for line in self.text.splitlines() if line.strip()] or [""]
        call = re.search(r"m\.[\w.]+\(|t\d+(\.\w+\()|t\d+\[", lines[-1])
        message = re.sub(r"\[.*\]|\(.*\)|'.*'", "", lines[0])
        return re.sub(r"[-+\d.]+(e[-+]?\d+)?", "#", f"{message} | {call[0] if call else ''}")


class Failures:
    """One for each key, the shortest; ``tell`` gets the first at once."""

    def __init__(self, tell: Callable[[Failure], None] = lambda failure: None) -> None:
        self.tell = tell
        self.known: dict[str, Failure] = {}
        self.count = 0

    def add(self, failure: Failure) -> None:
        self.count += 1
        if failure.key not in self.known:
            self.tell(failure)
        other = self.known.setdefault(failure.key, failure)
        if other is not failure:
            if len(failure.text) < len(other.text):
                other.number, other.text = failure.number, failure.text
            other.count += 1


def run_one(run: Callable[[Random], None], seed: int, number: int) -> str | None:
    """What goes wrong in a program; None if nothing does."""
    try:
        run(Random(f"{seed} {number}"))
    except AssertionError as error:
        return str(error)
    except Exception:
        return traceback.format_exc()
    return None


def work(connection: Connection, kind: str, seed: int, start: int, stop: int) -> None:
    """Run programs and send (number, failure) after each."""
    faulthandler.enable()
    run = __import__(KINDS[kind]).run_program
    connection.send((start - 1, None))
    for number in range(start, stop):
        connection.send((number, run_one(run, seed, number)))


def run_many(
    kind: str,
    seed: int,
    start: int,
    stop: int,
    report: Callable[[int, Failures], None],
    failures: Failures,
) -> None:
    """Run the programs of these numbers and collect failures; report is called after each."""
    context = multiprocessing.get_context("spawn")
    while start < stop:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(sender, kind, seed, start, stop), daemon=True)
        process.start()
        sender.close()
        start = _receive(receiver, process, start, stop, failures, report)
        process.kill()
        process.join()


def _receive(
    receiver: Connection,
    process: multiprocessing.process.BaseProcess,
    start: int,
    stop: int,
    failures: Failures,
    report: Callable[[int, Failures], None],
) -> int:
    """Collect what a process sends until it ends; returns the number to go on from."""
    begun = False
    while start < stop:
        try:
            if not receiver.poll(LONGEST):
                failures.add(Failure(start, f"no result within {LONGEST:.0f} seconds"))
                return start + 1
            number, text = receiver.recv()
        except EOFError:
            process.join()
            if not begun:
                raise SystemExit("the process ended before its first program") from None
            failures.add(Failure(start, f"the process ended with {process.exitcode}"))
            return start + 1
        begun = True
        if text is not None:
            failures.add(Failure(number, text))
        start = number + 1
        report(number, failures)
    return start


def progress(count: int, start: int, quiet: bool) -> Callable[[int, Failures], None]:
    begin = last = time.monotonic()

    def report(number: int, failures: Failures) -> None:
        nonlocal last
        now, done = time.monotonic(), number + 1 - start
        if quiet or now - last < 10 and done < count:
            return
        last = now
        speed = done / max(now - begin, 1e-9)
        print(
            f"{done} of {count} programs, {speed:.0f} a second, {failures.count} failed, "
            f"{len(failures.known)} ways",
            file=sys.stderr,
            flush=True,
        )

    return report


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=1000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="other programs for each")
    parser.add_argument("--start", type=int, default=0, help="the first one's number")
    parser.add_argument("--only", type=int, help="the one program of this number")
    parser.add_argument("--quiet", action="store_true", help="no progress lines")
    group = parser.add_mutually_exclusive_group()
    for kind in ("gradients", "autograd"):
        group.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind)
    options = parser.parse_args(arguments)
    kind, seed = options.kind or "programs", options.seed
    start, count = (options.start, options.programs) if options.only is None else (options.only, 1)
    failures = Failures(lambda failure: print(f"--- {failure.number}\n{failure.text}", flush=True))
    run_many(kind, seed, start, start + count, progress(count, start, options.quiet), failures)
    for failure in failures.known.values():
        if failure.count > 1:
            print(f"--- {failure.number}, the shortest of {failure.count}\n{failure.text}")
    print(f"{count} {kind} from seed {seed}: {failures.count} failed in {len(failures.known)} ways")
    return bool(failures.count)


if __name__ == "__main__":
    sys.exit(main())
