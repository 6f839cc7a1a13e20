"""What OpenAI's two APIs share: the shape of an error, and the list of models."""

from typing import Any

_ERRORS = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "forbidden"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


def error(status: int, said: str) -> dict[str, Any]:
    """Return the body of an error response."""
    kind, code = _ERRORS.get(status, ("server_error", None))
    return {"error": {"message": said, "type": kind, "param": None, "code": code}}


def models(names: tuple[str, ...]) -> dict[str, Any]:
    """Return the body of `GET /v1/models`; `models` is for codex, which reads its own shape and accepts none."""
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "orch"} for name in names]
    return {"object": "list", "data": data, "models": []}
