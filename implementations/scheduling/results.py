"""Results of jobs, one file a job: written whole or not at all, and the first one stays.

Follows: a hard link from a temporary file, which fails where the name is taken; so a job that ran twice, because its
worker died between the result and the word of it, has one result.
Leaves out: folders that several machines share without hard links.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Results:
    """The results in one folder, which is made where it is missing."""

    folder: Path

    def put(self, job: str, result: Any) -> Any:
        """Keep a result, and return the one that is kept: an earlier one of the same job, if there is any.

        Raises:
            ValueError: NaN or infinity in the result, or a job whose name is no file's.
            TypeError: something in it that JSON does not have.
        """
        text = json.dumps(result, allow_nan=False)
        path = self._path(job)
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            with suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            os.unlink(temporary)
        return self.get(job)

    def get(self, job: str) -> Any:
        """The result of a job; None where there is none yet."""
        try:
            return json.loads(self._path(job).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def jobs(self) -> list[str]:
        """The jobs that have a result."""
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def _path(self, job: str) -> Path:
        if not job or Path(job).name != job:
            raise ValueError(f"job {job!r}; its name must be that of a file, without a folder")
        return self.folder / f"{job}.json"
