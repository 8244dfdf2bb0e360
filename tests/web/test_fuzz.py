"""Random requests: whatever is sent, the answer is no failure, tells nothing of the server, and nothing is written."""

from __future__ import annotations

import json
import string
from urllib.parse import quote, unquote

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playing import some_games
from serving import BASE, TINY, entries_of, models_of, open_table

from punish_fast.punish.codes import decimals_of
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.importing import import_logs
from punish_fast.records.logs import write_log
from punish_fast.web.app import ServerConfig, create_app
from punish_fast.web.limits import Limits

TOKEN = "t" * 20
MODELS = models_of("naive", "random")
GAMES = some_games(12, seed=2, rules=TINY)
METHODS = ("GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "NONSENSE")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)
# Text of headers that a client can send.
PLAIN = st.text(string.printable.strip(), max_size=40)
HEADERS = st.sampled_from(["Host", "Origin", "Sec-Fetch-Site", "Content-Type", "Content-Length", "Authorization", "X"])
BODIES = st.one_of(st.binary(max_size=300), st.recursive(st.none() | st.integers() | TEXTS, st.lists).map(json.dumps))


class Server:
    """A server with games, tables and a token, and all that a request may name."""

    def __init__(self, client, database):
        self.client, self.database = client, database
        entries = entries_of(client)
        opponent = entries[0]["digest"]
        states = decimals_of(StateSpace(TINY), range(0, 200, 9)).tolist()
        self.known = {
            "digest": [entry["digest"] for entry in entries],
            "model": [entry["digest"] for entry in entries],
            "opponent": [opponent],
            "state": [str(state) for state in states],
            "table": [open_table(client, opponent)["table"] for _ in range(3)],
            "game": [game.id for game in GAMES],
            "name": ["win-rates", "durations"],
        }
        self.before = database.read_bytes()

    def is_untouched(self):
        return self.database.read_bytes() == self.before


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "log.json").write_text(write_log(GAMES), encoding="utf-8")
    import_logs(StateSpace(TINY), [folder / "log.json"], folder / "games.db")
    # Finished games would be kept; these are those of other rules.
    config = ServerConfig(
        MODELS, folder / "games.db", TINY._replace(hp=1), token=TOKEN, limits=Limits(rate=None, tables=100_000)
    )
    with TestClient(create_app(config), base_url=BASE, raise_server_exceptions=False) as client:
        yield Server(client, folder / "games.db")


def must_be_calm(answer):
    """Check that an answer is no failure, and that a refusal is one line."""
    assert answer.status_code < 500, answer.text
    request = answer.request
    sent = f"{unquote(str(request.url))} {request.content.decode(errors='replace')} {request.headers}"
    for word in ("Traceback", "punish_fast"):
        # Hypothesis also draws words of our own code, and a refusal quotes what was sent.
        assert word not in answer.text or word in sent
    if answer.status_code >= 400 and answer.request.method != "HEAD":
        detail = answer.json()["detail"]
        assert detail
        assert detail.isprintable()
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.slow
@pytest.mark.parametrize("is_valid", [True, False])
def test_requests_by_the_description_are_answered_as_it_says(server, is_valid):
    from schemathesis import GenerationMode, Response, openapi
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    mode = GenerationMode.POSITIVE if is_valid else GenerationMode.NEGATIVE
    operations = [found.ok() for found in openapi.from_dict(server.client.app.openapi()).get_all_operations()]

    @settings(suppress_health_check=list(HealthCheck), max_examples=60)
    @given(data=st.data())
    def answered(operation, data):
        case = data.draw(operation.as_strategy(generation_mode=mode))
        # Random digests and codes would be of nothing.
        for values in (case.path_parameters, case.query, case.body):
            if isinstance(values, dict):
                for key in sorted(set(values) & set(server.known)):
                    if data.draw(st.booleans()):
                        values[key] = data.draw(st.sampled_from(server.known[key]))
        arguments = case.as_transport_kwargs(base_url=BASE)
        del arguments["cookies"]
        arguments["content"] = arguments.pop("data", None)
        answer = server.client.request(**arguments)
        must_be_calm(answer)
        if is_valid and answer.status_code != 204:
            # No description says which states there are.
            case.validate_response(Response.from_any(answer), excluded_checks=[positive_data_acceptance])

    assert len(operations) > 10
    for operation in operations:
        # What takes nothing can be asked in no wrong way.
        if is_valid or list(operation.iter_parameters()) or list(operation.body):
            answered(operation)
    assert server.is_untouched()


@given(method=st.sampled_from(METHODS), path=TEXTS, body=st.binary(max_size=200), name=HEADERS, value=PLAIN)
def test_random_requests_are_answered(server, method, path, body, name, value):
    headers = {"Content-Type": "application/json", name: value}
    for asked in ("/" + quote(path, safe="/?&=%:@"), "/models"):
        must_be_calm(server.client.request(method, asked, content=body, headers=headers))
    assert server.is_untouched()


@pytest.mark.parametrize("path", ["/tables", "/tables/{table}/choice", "/games"])
@given(body=BODIES)
def test_random_bodies_are_refused(server, path, body):
    path = path.format(table=server.known["table"][0])
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    answer = server.client.post(path, content=body, headers=headers)
    must_be_calm(answer)
    # An empty list is a log without games.
    assert answer.status_code in (400, 422) or answer.json()["games"] == 0
    assert server.is_untouched()
