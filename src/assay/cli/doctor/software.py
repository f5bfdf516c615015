"""Python, the packages that the study needs, and whether they are the locked ones."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from assay.cli.doctor.check import Check, Context, listed

#: What a browser test looks for.
BROWSER = "chromium"
#: Backend → the extra that brings it.
_EXTRAS = {"hf_local": "hf", "vllm_offline": "vllm", "api": "api"}
#: Extras that the workflow itself needs.
_ALWAYS = ("workflow", "report")


def python(context: Context) -> Check:
    """Look at the interpreter, and at the one that the jobs of the workflow will find."""
    own = ".".join(map(str, sys.version_info[:3]))
    found = shutil.which("python", path=context.environment.get("PATH"))
    if found is None or Path(found).parent != Path(sys.executable).parent:
        return Check(
            "python",
            "wrong",
            f"jobs call `python`, which is {found or 'not on PATH'}; Assay runs in {sys.prefix}",
            f'export PATH="{Path(sys.executable).parent}:$PATH" (or activate the environment).',
        )
    if sys.version_info[:2] != (3, 11):
        detail = f"{own}; the locks were made with 3.11"
        return Check("python", "warn", detail, "use Python 3.11 to repeat a run byte for byte.")
    return Check("python", "ok", f"{own}, also in jobs")


def packages(context: Context) -> Iterator[Check]:
    """Compare what is installed with pyproject.toml: the core and every extra."""
    path = context.root / "pyproject.toml"
    if not path.is_file():
        yield Check("packages", "skipped", f"no pyproject.toml in {context.root}")
        return
    project = tomllib.loads(path.read_text("utf-8"))["project"]
    yield _group("packages", project["dependencies"], needed=True, extra="")
    # A rule may run in an environment of its own; what is here serves the workflow.
    needed = {*_ALWAYS, *(_EXTRAS[name] for name in context.backends)}
    for extra, requirements in project["optional-dependencies"].items():
        yield _group(f"packages [{extra}]", requirements, needed=extra in needed, extra=extra)


def _group(name: str, requirements: list[str], *, needed: bool, extra: str) -> Check:
    problems = [
        problem for text in requirements if (problem := _problem(Requirement(text))) is not None
    ]
    if not problems:
        return Check(name, "ok", f"{len(requirements)} packages fit")
    what = f"'assay[{extra}]'" if extra else "assay"
    advice = f"pip install {what}, or make the environment anew (make run, envs/*.yaml)."
    if extra == "vllm":
        advice = "make the environment that docs/how-to/vllm.md describes, or use --sdm conda."
    return Check(name, "wrong" if needed else "skipped", listed(problems), advice)


def _problem(requirement: Requirement) -> str | None:
    try:
        found = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is missing"
    if requirement.specifier.contains(found, prereleases=True):
        return None
    return f"{requirement.name} {found} is not {requirement.specifier}"


def locks(context: Context) -> Check:
    """Compare what is installed with the lock of the environment."""
    name = "vllm-py311.txt" if context.backends == {"vllm_offline"} else "py311.txt"
    path = context.root / "envs" / "locks" / name
    if not path.is_file():
        return Check("locks", "skipped", f"no {path}")
    other, missing = [], []
    locked = read_lock(path)
    for package, wanted in locked.items():
        try:
            found = version(package).split("+")[0]
        except PackageNotFoundError:
            missing.append(package)
            continue
        if found != wanted:
            other.append(f"{package} {found} (locked {wanted})")
    if not other and not missing:
        return Check("locks", "ok", f"{len(locked)} packages as in {name}")
    found_ = [*other, *(f"{package} is missing" for package in missing)]
    advice = f"pip install -r envs/locks/{name} for the versions that were tested."
    return Check("locks", "warn", listed(found_), advice)


def read_lock(path: Path) -> dict[str, str]:
    """Return package → version of a lock file; names as registries compare them."""
    pairs = (
        line.split(";")[0].strip().split("==")
        for line in path.read_text("utf-8").splitlines()
        if "==" in line and not line.lstrip().startswith("#")
    )
    return {canonicalize_name(name): wanted.strip() for name, wanted in pairs}


def browser(context: Context) -> Check:
    """Look for the browser of the report's tests."""
    if not (context.root / "tests" / "browser").is_dir():
        return Check(BROWSER, "skipped", "no browser tests here")
    found = shutil.which(BROWSER, path=context.environment.get("PATH"))
    if found:
        return Check(BROWSER, "ok", found)
    advice = "only `make test` needs it (Debian: apt-get install chromium)."
    return Check(BROWSER, "warn", "not on PATH: the browser tests are skipped", advice)
