"""The bench on small inputs, so that it cannot rot; it checks itself that both sides hold the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "benches" / "dict.py"


def test_the_bench_runs_small(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, PROGRAM, tmp_path, "--small"], check=True, capture_output=True)
    rows = json.loads(ran.stdout)
    assert len(rows) == 14
    for row in rows:
        assert row.keys() == {"name", "unit", "ours", "peer", "peer_name", "goal"} and row["goal"] is None
        assert row["ours"] > 0 or row["unit"] == "MB", row
