"""Load one Kineto file with HTA and take its temporal breakdown and overlap; run inside HTA's own environment.

Usage: ``python hta_load.py FILE RANK``. The last line printed is JSON: ``start_cpu_s``, the CPU seconds (user and
system) up to the end of the imports, which do not grow with the file.
"""

import json
import sys
import time

from hta.trace_analysis import TraceAnalysis

start_cpu_s = time.process_time()
analysis = TraceAnalysis(trace_files={int(sys.argv[2]): sys.argv[1]})
analysis.get_temporal_breakdown(visualize=False)
analysis.get_comm_comp_overlap(visualize=False)
print(json.dumps({"start_cpu_s": start_cpu_s}))
