"""The loopback model over raw HTTP: every API, whole and streamed, and every way to fail."""

import http.client
import json
import socket
import stat
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from orchestrator.recorder import Cut, Error, Recorder, Reset, Rule, RunCommand, Script, Text, Tokens, ToolCall
from tests.orchestrator.recorder.wire import BODIES, PATHS, Response, ask, send

APIS = tuple(PATHS)
WORDS = "All is well — 你好 🙂."
USAGE = Tokens(input=11, cached=7, written=0, output=5)


def said(api: str, response: Response, stream: bool) -> Any:
    """The text that a client of the API would show."""
    if not stream:
        value = response.json
        if api == "anthropic":
            return "".join(part.get("text", "") for part in value["content"])
        if api == "responses":
            return "".join(part["text"] for item in value["output"] for part in item.get("content", []))
        if api == "chat":
            return value["choices"][0]["message"]["content"] or ""
        return "".join(part.get("text", "") for part in value["candidates"][0]["content"]["parts"])
    events = response.events
    if api == "anthropic":
        return "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")
    if api == "responses":
        return "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    if api == "chat":
        return "".join(c["delta"].get("content") or "" for event in events for c in event["choices"])
    return "".join(p.get("text", "") for event in events for p in event["candidates"][0]["content"]["parts"])


def called(api: str, response: Response, stream: bool) -> tuple[str, Any]:
    """The name and the arguments of the one tool call."""
    values = response.events if stream else [response.json]
    if api == "anthropic" and stream:
        start = next(e for e in values if e["type"] == "content_block_start")["content_block"]
        parts = [e["delta"]["partial_json"] for e in values if e["type"] == "content_block_delta"]
        return start["name"], json.loads("".join(parts))
    if api == "anthropic":
        block = values[0]["content"][-1]
        return block["name"], block["input"]
    if api == "responses":
        output = values[-1]["response"]["output"] if stream else values[0]["output"]
        return output[-1]["name"], json.loads(output[-1]["arguments"])
    if api == "chat":
        choices = [choice for value in values for choice in value["choices"]]
        messages = [choice.get("delta" if stream else "message", {}) for choice in choices]
        function = next(m["tool_calls"][0]["function"] for m in messages if m.get("tool_calls"))
        return function["name"], json.loads(function["arguments"])
    call = values[-1]["candidates"][0]["content"]["parts"][-1]["functionCall"]
    return call["name"], call["args"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", APIS)
def test_text_arrives_whole_and_the_script_ends_in_its_final_reply(api: str, stream: bool) -> None:
    with Recorder(Script.of(Text(WORDS, USAGE), final=Text("That was all."))) as recorder:
        first, second, third = (ask(recorder.url, api, stream=stream) for _ in range(3))
    assert [said(api, response, stream) for response in (first, second, third)] == [
        WORDS,
        "That was all.",
        "That was all.",
    ]
    assert first.headers["content-type"].startswith("text/event-stream" if stream else "application/json")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", APIS)
def test_a_command_becomes_a_call_of_the_shell_tool_that_the_request_offers(api: str, stream: bool) -> None:
    command = 'printf "a\\n" > "b c"'
    with Recorder(Script.of(RunCommand(command))) as recorder:
        response = ask(recorder.url, api, stream=stream)
    name, arguments = called(api, response, stream)
    expected = {"anthropic": "Bash", "responses": "shell", "chat": "bash", "gemini": "run_shell_command"}
    assert name == expected[api]
    if api == "responses":  # its schema wants a list, and two more values
        assert arguments == {"command": ["bash", "-lc", command], "why": "Run a command", "n": 1}
    else:
        assert arguments == {"command": command}


@pytest.mark.parametrize("api", APIS)
def test_a_named_tool_is_called_as_it_was_written(api: str) -> None:
    with Recorder(Script.of(ToolCall("Read", {"file_path": "/é"}))) as recorder:
        response = ask(recorder.url, api, stream=True)
    assert called(api, response, True) == ("Read", {"file_path": "/é"})


def test_without_a_shell_tool_the_command_is_quoted_in_a_sentence() -> None:
    with Recorder(Script.of(RunCommand("cat README.md"))) as recorder:
        response = ask(recorder.url, "chat", tools=[])
    assert said("chat", response, False) == "I would run this next: cat README.md"


def test_usage_is_reported_in_the_terms_of_each_api() -> None:
    with Recorder(Script(final=Text("x", USAGE))) as recorder:
        whole = {api: ask(recorder.url, api).json for api in APIS}
        streamed = {api: ask(recorder.url, api, stream=True).events for api in APIS}
    assert whole["anthropic"]["usage"]["input_tokens"] == 11
    assert whole["anthropic"]["usage"]["cache_read_input_tokens"] == 7
    assert streamed["anthropic"][-2]["usage"]["output_tokens"] == 5
    for value in (whole["responses"], streamed["responses"][-1]["response"]):
        assert value["usage"]["input_tokens"] == 18
        assert value["usage"]["input_tokens_details"]["cached_tokens"] == 7
    for value in (whole["chat"], streamed["chat"][-1]):
        assert value["usage"] == {
            "prompt_tokens": 18,
            "completion_tokens": 5,
            "total_tokens": 23,
            "prompt_tokens_details": {"cached_tokens": 7},
        }
    for value in (whole["gemini"], streamed["gemini"][-1]):
        assert value["usageMetadata"]["promptTokenCount"] == 18
        assert value["modelVersion"] == "g-1"


@pytest.mark.parametrize("api", APIS)
def test_an_error_has_the_shape_of_its_api_and_the_headers_of_the_script(api: str) -> None:
    script = Script.of(Error(429, headers={"Retry-After": "3"}, message="slow down"), Error(418, body="teapot"))
    with Recorder(script) as recorder:
        shaped, raw, after = (ask(recorder.url, api) for _ in range(3))
    assert (shaped.status, shaped.headers["retry-after"]) == (429, "3")
    assert shaped.json["error"]["message"] == "slow down"
    assert (raw.status, raw.body) == (418, b"teapot")
    assert after.status == 200


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", APIS)
def test_a_cut_answer_breaks_the_transport_after_its_first_half(api: str, stream: bool) -> None:
    with (
        Recorder(Script.of(Cut("one two three four five six"))) as recorder,
        pytest.raises((http.client.IncompleteRead, ConnectionError)) as broken,
    ):
        ask(recorder.url, api, stream=stream)
    if isinstance(broken.value, http.client.IncompleteRead):
        assert broken.value.partial


def test_a_cut_stream_delivers_its_first_half() -> None:
    with Recorder(Script.of(Cut("first-half " * 5 + "second-half"))) as recorder:
        where = urlsplit(recorder.url)
        with socket.create_connection((where.hostname, where.port), timeout=10) as client:
            body = json.dumps({**BODIES["chat"], "stream": True}).encode()
            head = f"POST {PATHS['chat']} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            client.sendall(head.encode() + body)
            received = b""
            while b"first-half" not in received:
                received += client.recv(65536)
            with pytest.raises(ConnectionResetError):
                while client.recv(65536):
                    pass
    assert b"second-half" not in received
    assert b"[DONE]" not in received


@pytest.mark.parametrize("api", APIS)
def test_a_reset_closes_the_connection_before_the_status_line(api: str) -> None:
    with Recorder(Script.of(Reset())) as recorder:
        with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
            ask(recorder.url, api)
        assert ask(recorder.url, api).status == 200
        assert len(recorder.main_requests) == 2


def test_a_delay_is_waited_before_the_first_byte() -> None:
    with Recorder(Script.of(Text("x", delay=0.3))) as recorder:
        start = time.monotonic()
        ask(recorder.url, "chat")
    assert time.monotonic() - start >= 0.3


def test_it_ends_at_once_though_a_reply_is_being_delayed() -> None:
    with Recorder(Script.of(Text("x", delay=60))) as recorder:
        where = urlsplit(recorder.url)
        client = http.client.HTTPConnection(where.netloc, timeout=10)
        client.request("POST", PATHS["chat"], json.dumps(BODIES["chat"]), {"Content-Type": "application/json"})
        until = time.monotonic() + 10
        while not recorder.requests and time.monotonic() < until:
            time.sleep(0.01)
        start = time.monotonic()
    assert time.monotonic() - start < 5
    client.close()


_SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "choice": {"enum": ["flash", "pro"]},
        "score": {"type": "integer", "minimum": 1},
        "many": {"type": "array"},
    },
}
SIDE: list[tuple[str, dict[str, Any]]] = [
    ("chat", {"tools": [], "messages": [{"role": "system", "content": "You are a title generator. You output"}]}),
    ("responses", {"tools": [], "text": {"format": {"type": "json_schema", "schema": _SCHEMA}}}),
    ("gemini", {"tools": [], "generationConfig": {"responseJsonSchema": _SCHEMA}}),
    ("anthropic", {"tools": [], "output_config": {"format": {"type": "json_schema", "schema": _SCHEMA}}}),
]


@pytest.mark.parametrize(("api", "extra"), SIDE)
def test_a_request_for_a_title_uses_up_nothing_of_the_script(api: str, extra: dict[str, Any]) -> None:
    with Recorder(Script.of(Text("the first"))) as recorder:
        aside = ask(recorder.url, api, **extra)
        first = ask(recorder.url, api)
        roles = [recorded.role for recorded in recorder.requests]
    assert roles == ["side", "main"]
    assert said(api, first, False) == "the first"
    text = said(api, aside, False)
    if "messages" in extra:
        assert text == "Scripted session"
    else:
        assert json.loads(text) == {"reasoning": "Scripted session", "choice": "flash", "score": 1, "many": []}


def test_a_request_with_tools_is_never_taken_for_a_title() -> None:
    words = "You are a title generator"
    with Recorder() as recorder:
        ask(recorder.url, "chat", messages=[{"role": "user", "content": words}])
        assert [recorded.role for recorded in recorder.requests] == ["main"]


def test_a_rule_answers_what_it_matches_and_leaves_the_script_alone() -> None:
    script = Script(replies=(Text("scripted"),), rules=(Rule("needle “x”", Text("ruled")),))
    with Recorder(script) as recorder:
        ruled = ask(recorder.url, "chat", messages=[{"role": "user", "content": "a needle “x” here"}])
        plain = ask(recorder.url, "chat")
    assert said("chat", ruled, False) == "ruled"
    assert said("chat", plain, False) == "scripted"


def test_counting_and_listing_are_answered_and_use_up_nothing() -> None:
    with Recorder(Script.of(Text("first"))) as recorder:
        head = send(recorder.url, "HEAD", "/")
        models = send(recorder.url, "GET", "/v1/models")
        tokens = send(recorder.url, "POST", "/v1/messages/count_tokens", BODIES["anthropic"])
        total = send(recorder.url, "POST", "/v1beta/models/g:countTokens", BODIES["gemini"])
        nothing = send(recorder.url, "GET", "/elsewhere")
        first = ask(recorder.url, "anthropic")
    assert (head.status, models.json["object"], nothing.status) == (200, "list", 404)
    assert tokens.json["input_tokens"] > 0
    assert total.json["totalTokens"] > 0
    assert said("anthropic", first, False) == "first"


def test_every_request_is_kept_exactly_and_without_keys(tmp_path: Path) -> None:
    body = b'{"model": "m",  "messages": [], "note": "\\u00e9 \xc3\xa9"}'
    with Recorder(keep=tmp_path / "kept") as recorder:
        send(recorder.url, "POST", "/v1/messages?key=hush&beta=true", body, {"X-Api-Key": "hush", "X-Other": "seen"})
        send(recorder.url, "GET", "/v1/models")
        first = recorder.requests[0]
    assert (first.method, first.path) == ("POST", "/v1/messages?key=(not kept)&beta=true")
    assert first.body == body
    assert first.parsed == json.loads(body)
    assert first.headers["x-other"] == "seen"
    files = sorted((tmp_path / "kept").iterdir())
    assert [path.name for path in files] == ["0001-main-v1-messages.http", "0002-other-v1-models.http"]
    assert files[0].read_bytes().endswith(b"\r\n\r\n" + body)
    assert b"hush" not in files[0].read_bytes()
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600, 0o600]


def test_it_listens_on_loopback_alone_and_is_gone_afterwards() -> None:
    with Recorder() as recorder:
        where = urlsplit(recorder.url)
        assert where.hostname == "127.0.0.1"
    assert where.port is not None
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", where.port), timeout=2)


def test_a_body_that_is_no_json_is_recorded_and_refused() -> None:
    with Recorder() as recorder:
        response = send(recorder.url, "POST", "/v1/messages", b"\xff{")
        assert recorder.requests[0].body == b"\xff{"
    assert response.status >= 400


def test_many_clients_at_once_each_take_one_reply() -> None:
    from concurrent.futures import ThreadPoolExecutor

    replies = tuple(Text(f"reply {number}") for number in range(40))
    with Recorder(Script(replies=replies)) as recorder:
        with ThreadPoolExecutor(8) as pool:
            responses = list(pool.map(lambda _: ask(recorder.url, "chat", stream=True), range(40)))
        numbers = [recorded.number for recorded in recorder.requests]
    assert sorted(said("chat", response, True) for response in responses) == sorted(reply.text for reply in replies)
    assert numbers == list(range(1, 41))
