"""The recording of a terminal: exact bytes, a readable cast, and no fault where the disk does not take it."""

import json
from pathlib import Path

from orchestrator.cast import Cast


def test_bytes_and_cast_say_the_same(tmp_path: Path) -> None:
    data = "a €\x1b[1m\r\n".encode() + b"\xff\x00"
    with Cast(tmp_path, rows=5, columns=9) as cast:
        for index in range(len(data)):
            cast.write(data[index : index + 1])
    assert (tmp_path / "output").read_bytes() == data
    head, *events = [json.loads(line) for line in (tmp_path / "cast").read_text().splitlines()]
    assert (head["version"], head["width"], head["height"]) == (2, 9, 5)
    assert "".join(text for _, _, text in events) == data.decode("utf-8", "replace")
    times = [at for at, _, _ in events]
    assert times == sorted(times)
    assert {kind for _, kind, _ in events} == {"o"}


def test_a_folder_that_cannot_be_written_loses_the_output_only(tmp_path: Path) -> None:
    with Cast(tmp_path / "gone", rows=5, columns=9) as cast:
        cast.write(b"12345")
        cast.write(b"678")
    assert cast.lost == 8
    assert cast.fault == "No such file or directory"
    assert not (tmp_path / "gone").exists()
