"""Device tasks with what is known about each: the ground of the kernel tables."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from trainwright.analyze.calls import calls_of, detail, device_tasks
from trainwright.analyze.kernel_types import TYPE_OF_KIND, kernel_types
from trainwright.analyze.text_columns import TextColumn, first_known, stored_text
from trainwright.trace.store import RankStore


@lru_cache(maxsize=8)
def task_types(rank: RankStore) -> TextColumn:
    """Operator type of every device task: the one the source names, else told from kind and name."""
    tasks = device_tasks(rank)
    names, kinds = stored_text(rank, "slices", "name", tasks), stored_text(rank, "slices", "kind", tasks)
    used = np.unique(names.codes)
    told = dict(zip(used.tolist(), kernel_types([names.texts[code] for code in used]), strict=True))
    by_name = TextColumn(codes=names.codes, texts=[told.get(code, "") for code in range(len(names.texts))])
    sorts = [TYPE_OF_KIND.get(kind) for kind in kinds.texts]
    codes = np.array([-1 if sort is None else at for at, sort in enumerate(sorts)], np.int64)[kinds.codes]
    by_kind = TextColumn(codes=codes, texts=[sort or "" for sort in sorts])
    return first_known(stored_text(rank, "kernels", "op_type", tasks), first_known(by_kind, by_name))


def task_shapes(rank: RankStore) -> TextColumn:
    """Input shapes of every device task: its own, else those of the operator that launched it."""
    calls = calls_of(rank)
    own = stored_text(rank, "kernels", "shapes", calls.task_rows)
    of_op = np.append(detail(rank, "ops", "shapes", calls.rows), -1)[calls.task_op]
    launcher = TextColumn(codes=np.asarray(of_op, np.int64), texts=rank.texts("ops", "shapes"))
    return first_known(own, launcher)
