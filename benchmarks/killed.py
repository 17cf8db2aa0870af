"""Stop real runs at moments spread over their whole course, and look at what each leaves behind.

Whenever a run ends, the folder must hold one release whole: the one that was there, or the new one.
What it put aside of the private table must be gone, or lie where its owner alone can read it until
the next run, which removes it and says so. The exit status is 1 where anything else is found.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

_SIGNALS = signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGTERM, signal.SIGINT
_ENDED = "Stopped; nothing was released."
_CLEARED = "was killed"
_BEGUN = "Reading"
#: What a run shows before its release takes its place, the seconds in which that happens, and the
#: share of the moments that fall there.
_VERIFIED, _TAKING_PLACE, _SHARE_OF_END = "Done", 0.15, 0.3


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is run again and again.

    Attributes
    ----------
    recipe, data : Path
    engine : {'memory', 'duckdb'}
    place : Path
        A folder of its own: the release's desk and the run's temporary files lie there.
    """

    recipe: Path
    data: Path
    engine: str
    place: Path

    @property
    def desk(self) -> Path:
        """The folder in which the release's folder lies."""
        return self.place / "desk"

    @property
    def out(self) -> Path:
        """The release's folder."""
        return self.desk / "out"

    @property
    def temporary(self) -> Path:
        """Where the run's libraries keep temporary files."""
        return self.place / "temporary"

    def start(self, data: Path, out: Path) -> subprocess.Popen[str]:
        """Start a run that prints each stage as it begins."""
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "anon_core", "run", str(self.recipe)),
                *("--data", str(data), "--out", str(out), "--engine", self.engine, "--progress"),
            ],
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def whole(self, data: Path, out: Path) -> str:
        """Let a run come to its end, and return what it printed."""
        process = self.start(data, out)
        _, errors = process.communicate()
        if process.returncode:
            raise SystemExit(f"The run that nobody stops ends with {process.returncode}: {errors}")
        return errors

    def left(self) -> list[Path]:
        """Return what lies there next to the release."""
        found = [*self.desk.rglob("*"), *self.temporary.rglob("*")]
        return [path for path in found if path != self.out and path.parent != self.out]

    def open_to_others(self) -> list[Path]:
        """Return what lies there next to the release and others than its owner could read."""
        found: list[Path] = []
        for base in (self.desk, self.temporary):
            for folder, below, files in os.walk(base):
                here = Path(folder)
                if here == self.out or (here != base and not here.stat().st_mode & 0o077):
                    below.clear()
                    continue
                found += [here / f for f in files if (here / f).stat().st_mode & 0o077]
        return found


def held(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder; empty where there is none."""
    return {f.name: f.read_bytes() for f in folder.iterdir()} if folder.exists() else {}


def killed(job: Job, before: Path, times: int) -> list[str]:
    """Stop a job again and again, by SIGKILL, SIGTERM and Ctrl+C; return what is wrong.

    Each run begins with what the one before left behind.

    Parameters
    ----------
    job : Job
    before : Path
        The table whose release is in the folder.
    times : int
        Runs that are stopped.
    """
    job.temporary.mkdir(parents=True)
    job.whole(before, job.place / "old")
    began = time.monotonic()
    job.whole(job.data, job.place / "new")
    course = time.monotonic() - began
    old, new = held(job.place / "old"), held(job.place / "new")
    draw, wrong = random.Random(1), list[str]()
    at_end = round(times * _SHARE_OF_END)
    moments = [course * (n + draw.random()) / (times - at_end) for n in range(times - at_end)]
    moments += [-_TAKING_PLACE * draw.random() for _ in range(at_end)]
    draw.shuffle(moments)
    seen = Counter[str]()
    job.desk.mkdir()
    shutil.copytree(job.place / "old", job.out)
    stood = old
    for nth, moment in enumerate(moments):
        number = _SIGNALS[nth % len(_SIGNALS)]
        if stood == new:  # the earlier release again, or none at all
            shutil.rmtree(job.out)
            stood = old if nth % 3 else {}
            if stood:
                shutil.copytree(job.place / "old", job.out)
        lay = job.left()
        spilt = [path for path in lay if _is_aside(path)]
        process = job.start(job.data, job.out)
        output = _waited(process, moment)
        process.send_signal(number)
        output += process.communicate()[1]
        status, found, left = process.returncode, held(job.out), job.left()
        when = f"after {moment:.2f} s" if moment > 0 else f"{-moment:.2f} s after it was verified"
        name = f"{number.name} {when} (status {status}): "
        if status not in (0, -number, 128 + number) or ("Traceback" in output and _BEGUN in output):
            wrong.append(name + output)
        if found != new and (found != stood or status == 0):
            wrong.append(f"{name}the folder holds {sorted(found)}, neither release whole.")
        if open_to_others := job.open_to_others():
            wrong.append(f"{name}others can read {open_to_others}.")
        if status != -number and (own := set(left) - set(lay)):
            wrong.append(f"{name}{own} is left behind.")
        if status != -number and left and _BEGUN in output:
            wrong.append(f"{name}{left} of an earlier run is left behind.")
        if status == 128 + number and (_ENDED in output) != (found == stood):
            wrong.append(f"{name}it says otherwise: {output}")
        if (_BEGUN in output and _CLEARED in output) != (_BEGUN in output and bool(spilt)):
            wrong.append(f"{name}{len(spilt)} files were left before it, and it says: {output}")
        seen["released" if found == new else "stood" if found else "none"] += 1
        seen["spilt"] += any(_is_aside(path) for path in left)
        stages = re.findall(r"^ *\d+% (.*)$", output, re.M)
        seen[stages[-1] if stages else "none"] += 1
        stood = found
    output = job.whole(job.data, job.out)
    if held(job.out) != new or job.left():
        wrong.append(f"After a last, whole run that tells {output}: {job.left()} is left.")
    print(f"{job.engine}: {times} runs of {course:.1f} s stopped; " + _counted(seen))
    return wrong


def _waited(process: subprocess.Popen[str], moment: float) -> str:
    """Wait some seconds; where they are negative, from when the run's release is verified on."""
    output = ""
    if moment < 0 and process.stderr is not None:
        while _VERIFIED not in output and (line := process.stderr.readline()):
            output += line
    time.sleep(abs(moment))
    return output


def _is_aside(path: Path) -> bool:
    """Say whether a folder is one for what is put aside of a private table."""
    return path.name == "spill" or path.name.startswith("anonymity-verification-")


def _counted(seen: Counter[str]) -> str:
    sentence = f"the new release stood after {seen.pop('released', 0)}, the earlier one after "
    sentence += f"{seen.pop('stood', 0)}, none where none had been after {seen.pop('none', 0)}; "
    sentence += f"private data lay aside after {seen.pop('spilt', 0)}. Last stage seen: "
    return sentence + ", ".join(f"{name} ({count})" for name, count in seen.most_common())


def main() -> int:
    """Stop runs of one recipe; see the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.killed", description=__doc__)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--before", type=Path, required=True, help="table of the earlier release")
    parser.add_argument("--engine", choices=("memory", "duckdb"), default="duckdb")
    parser.add_argument("--times", type=int, default=32)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="anonymity-killed-") as place:
        job = Job(
            recipe=options.recipe.resolve(),
            data=options.data.resolve(),
            engine=options.engine,
            place=Path(place) / "place",
        )
        wrong = killed(job, options.before.resolve(), options.times)
    for sentence in wrong:
        print(sentence)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
