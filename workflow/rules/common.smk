"""The study that this run is about, and the parameters that every rule is given."""

import gc
from inspect import signature
from pathlib import Path

from snakemake.exceptions import WorkflowError

from assay.config import FIGURES, TABLES, code_digest, local_files, resolve
from assay.core.errors import AssayError

# Of the millions of objects that a large plan is made of, all stay: looking through them for
# garbage as often as Python does took an eighth of the time.
gc.set_threshold(50_000, 20, 20)


def _study():
    try:
        return resolve(config, where="config", registries=Path("config"))
    except AssayError as error:
        # Without a traceback: the message names the key and what is allowed.
        raise WorkflowError(str(error)) from None


STUDY = _study()
S = str(STUDY.folder)
E = f"{S}/evaluation/{{cycle}}"
CYCLES = list(STUDY.cycles)
EQUAL = [name for name, cycle in STUDY.cycles.items() if cycle.equal_arms]
OFFLINE = "--offline" if STUDY.config.offline else ""
KEEP_MISSING = "--keep-missing" if STUDY.config.runtime.keep_missing else ""


wildcard_constraints:
    model=r"[A-Za-z0-9][A-Za-z0-9._-]*",
    benchmark=r"[A-Za-z0-9][A-Za-z0-9._-]*",
    selection=r"[A-Za-z0-9_-]+",
    run=r"[0-9a-f]{12}",
    figure=r"[a-z_]+",
    cycle=r"[A-Za-z0-9][A-Za-z0-9._-]*",


def code(script):
    """Digest of a rule's script and of everything in the package that it imports."""
    return code_digest(Path("scripts", script))


def told(function):
    """Return `function` with its signature, which Snakemake asks for at each of many calls."""
    function.__signature__ = signature(function)
    return function


def plan(wildcards):
    """The shard that the wildcards of a path name."""
    return STUDY.shards[wildcards.model, wildcards.benchmark, wildcards.run]


@told
def model_files(wildcards):
    """A user's own model folder, as input: its content decides."""
    return local_files(STUDY.model(wildcards.model).source)


@told
def item_files(wildcards):
    """A user's own items file, as input."""
    return local_files(STUDY.benchmark(wildcards.benchmark).spec.source)


@told
def cycle_spec(wildcards):
    """The parameters of a cycle's rules."""
    return STUDY.cycles[wildcards.cycle].parameters


@told
def cycle_files(wildcards):
    """What a cycle reads: shards by their manifests, logs of other runners one by one."""
    return STUDY.cycles[wildcards.cycle].inputs()


def step_seal(step):
    """Where the seal of a cycle's step lies."""
    return f"{S}/manifests/{step}.{{cycle}}.json"
