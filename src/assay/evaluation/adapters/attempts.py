"""One number for each attempt at a task, however many runs and files it was made in."""

from __future__ import annotations

from array import array

from assay.core.errors import EvaluationError
from assay.evaluation.record import EvaluationRecord

#: Numbers above are kept one by one: no column is made that long for a single attempt.
_LONGEST = 1 << 16
_MARKS = (1 << 64) - 1


class Attempts:
    """The attempts that were met, 8 bytes each.

    A log that was appended to, or a folder with two logs, has a task's first attempt twice: the
    second is a further attempt. The same trial twice is none.
    """

    def __init__(self) -> None:
        #: Variant → task → a mark of the trial that is attempt k + 1; 0 where there is none yet.
        self._marks: dict[str, dict[str, array[int]]] = {}
        self._far: dict[tuple[str, str, int], int] = {}
        self._before: dict[tuple[str, str], int] = {}

    def follow(self) -> None:
        """Begin another run: its attempts follow those that were met so far."""
        self._before = {
            (variant, task): len(marks)
            for variant, tasks in self._marks.items()
            for task, marks in tasks.items()
        }

    def numbered(self, record: EvaluationRecord, where: str) -> EvaluationRecord:
        """Return the record with the number of its attempt.

        Raises
        ------
        EvaluationError
            If the same trial is there as the same attempt already.
        """
        variant, task, trial = record.variant, record.task_id, record.trial_id
        marks = self._marks.setdefault(variant, {}).setdefault(task, array("Q"))
        attempt = record.attempt + self._before.get((variant, task), 0)
        mark = 1 if trial is None else hash(trial) & _MARKS | 1
        if met := self._met(variant, task, attempt, marks):
            if met == mark and trial is not None:
                raise EvaluationError(
                    f"trial {trial!r} of task {task!r} is there twice.",
                    where=where,
                    fix="take one of them out; another attempt has another trialId.",
                )
            attempt = len(marks) + 1
        if attempt > _LONGEST:
            self._far[variant, task, attempt] = mark
        else:
            marks.extend([0] * (attempt - len(marks)))
            marks[attempt - 1] = mark
        if attempt == record.attempt:
            return record
        return record.model_copy(update={"attempt": attempt})

    def _met(self, variant: str, task: str, attempt: int, marks: array[int]) -> int:
        if attempt > _LONGEST:
            return self._far.get((variant, task, attempt), 0)
        return marks[attempt - 1] if attempt <= len(marks) else 0
