"""Every adapter against its recording, and against output that nobody foresaw."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters import registry
from adapters.adapter import Adapter, Ending, Report
from adapters.output import json_lines
from tests.adapters.recording import FOLDER, built, launch_of, load_recording, reported

ADAPTERS = list(registry().values())
names = pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)


def test_every_backend_has_a_recording_and_every_recording_a_backend() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(registry())


@names
def test_the_commands_are_the_recorded_ones(adapter: Adapter) -> None:
    launches = load_recording(adapter.name).launches
    assert launches
    for each in launches:
        assert built(adapter, each["launch"]) == each["command"], each["launch"]


@names
def test_a_launch_seam_changes_nothing_when_nothing_is_carried(adapter: Adapter) -> None:
    """Without a memory the command is what it would be without the feature: nothing in it names the render."""
    command = built(adapter, {})
    assert "render" not in str(command)
    if adapter.launch_seam is not None:
        assert built(adapter, {"carry": "The text."}) != command


@names
def test_the_task_arrives_whatever_it_looks_like(adapter: Adapter) -> None:
    task = "--help\n\"quoted\" 'too' $(no) `no` \\ é 🙂\n-p"
    command = built(adapter, {"task": task})
    carried = [command["stdin"], *command["files"].values(), *(word for word in command["argv"] if task in word)]
    assert any(text is not None and task in text for text in carried)
    # As a word of its own it would be an option, unless `--` ends the options.
    words = command["argv"]
    assert task not in words or words[words.index(task) - 1] == "--"


@names
def test_the_reports_are_the_recorded_ones(adapter: Adapter) -> None:
    endings = load_recording(adapter.name).endings
    assert endings
    for each in endings:
        report = reported(adapter, each)
        found = {"outcome": report.outcome.value, "reason": report.reason, "message": report.message}
        assert found == {key: each[key] for key in found}, each["name"]


@names
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_output_can_make_a_report_fail(adapter: Adapter, data: st.DataObject) -> None:
    real = [each["output"].encode() for each in load_recording(adapter.name).endings] or [b""]
    base = data.draw(st.sampled_from(real))
    cut = data.draw(st.integers(0, len(base)))
    noise = data.draw(
        st.binary(max_size=60) | st.sampled_from([b"{", b'{"type":"result"}\n', b"[[[[", b"null\n", b"\xff\x1b["])
    )
    ending = Ending(
        exit_code=data.draw(st.sampled_from([0, 1, 145, None])),
        signal=data.draw(st.sampled_from([None, 9, 15])),
        output=base[:cut] + noise + base[cut:],
        launch=launch_of({}),
    )
    _check(adapter.report(ending))


STRANGE: list[object] = [
    None,
    True,
    -1,
    2**70,
    float("nan"),
    float("inf"),
    "x",
    "\ud83d",
    "\x1b[31m\n\0",
    [],
    [1],
    {},
    {"a": []},
]


@names
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_no_value_in_the_output_can_make_a_report_fail(adapter: Adapter, data: st.DataObject) -> None:
    """Valid JSON that holds something else than it should, at any place of it."""
    each = data.draw(st.sampled_from(load_recording(adapter.name).endings))
    try:
        parts = [json.loads(each["output"])]
    except ValueError:
        parts = list(json_lines(each["output"].encode()))[-6:]
    output = "\n".join(json.dumps(_damaged(part, data)) for part in parts).encode()
    code = data.draw(st.sampled_from([0, each["exit_code"]]))
    _check(adapter.report(Ending(exit_code=code, signal=None, output=output, launch=launch_of({}))))


def _damaged(value: object, data: st.DataObject) -> object:
    strange = st.sampled_from(STRANGE)
    if isinstance(value, dict) and value and data.draw(st.integers(0, 9)):
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: _damaged(value[key], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 9)):
        return [_damaged(value[0], data), *value[1:]]
    return data.draw(strange)


def _check(report: Report) -> None:
    """A report that can be recorded and shown."""
    assert report.reason.isprintable()
    for said in (report.reason, report.message, report.session):
        (said or "").encode()
    usage = report.usage
    if usage is not None:
        assert all(0 <= tokens < 2**63 for tokens in (usage.input, usage.cached, usage.output))
