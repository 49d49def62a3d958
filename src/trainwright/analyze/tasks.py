"""Device tasks with what is known about each: the ground of the kernel tables."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from trainwright.analyze.calls import calls_of, detail, device_tasks
from trainwright.analyze.kernel_types import TYPE_OF_KIND, kernel_types
from trainwright.analyze.text_columns import TextColumn, first_known, stored_text
from trainwright.trace.store import RankStore

#: Operator types that Ascend profilers write for communication, some for the operator and some for what it is.
_COMMUNICATION = re.compile(r"hcom_|hccl|communication$", re.IGNORECASE)


@lru_cache(maxsize=8)
def task_types(rank: RankStore) -> TextColumn:
    """Operator type of every device task: the one the source names, else told from kind and name.

    Communication is one type, whatever the source calls it: its tables have the operators one by one.
    """
    tasks = device_tasks(rank)
    names, kinds = stored_text(rank, "slices", "name", tasks), stored_text(rank, "slices", "kind", tasks)
    used = np.unique(names.codes)
    told = dict(zip(used.tolist(), kernel_types([names.texts[code] for code in used]), strict=True))
    by_name = TextColumn(codes=names.codes, texts=[told.get(code, "") for code in range(len(names.texts))])
    sorts = [TYPE_OF_KIND.get(kind) for kind in kinds.texts]
    codes = np.array([-1 if sort is None else at for at, sort in enumerate(sorts)], np.int64)[kinds.codes]
    by_kind = TextColumn(codes=codes, texts=[sort or "" for sort in sorts])
    written = stored_text(rank, "kernels", "op_type", tasks)
    named = [TYPE_OF_KIND["comm"] if _COMMUNICATION.match(text) else text for text in written.texts]
    is_comm = kinds.among("comm")
    known = TextColumn(codes=np.where(is_comm, -1, written.codes), texts=named)
    return first_known(known, first_known(by_kind, by_name))


def task_shapes(rank: RankStore) -> TextColumn:
    """Input shapes of every device task: its own, else those of the operator that launched it."""
    calls = calls_of(rank)
    own = stored_text(rank, "kernels", "shapes", calls.task_rows)
    of_op = np.append(detail(rank, "ops", "shapes", calls.rows), -1)[calls.task_op]
    launcher = TextColumn(codes=np.asarray(of_op, np.int64), texts=rank.texts("ops", "shapes"))
    return first_known(own, launcher)
