"""Check what parties settle before a run: message frames, the agreement, names, keys, and who may read the keys."""

import os
import shutil
import socket

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("cryptography")

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.cli import main
from dpviz.domain import Domain
from dpviz.federated import PAPER, SERVER
from dpviz.privacy.accounting import default_delta
from dpviz.trace import Trace
from lab.federated.agreement import Agreement, new_run
from lab.federated.keys import client_context, make_keys, mask_seeds, server_context
from lab.federated.messages import HEADER_BYTES, Kind, Message, MessageError, pack_round, unpack_round
from tests.lab.federated.tls import NAMES, Host, N, agreed, everybody


def test_frames_round_trip_and_break_with_their_own_sentence():
    frame = Message(Kind.UPLOAD, 3, b"r" * 16, b"words")
    data = frame.pack()
    header, payload = data[:HEADER_BYTES], data[HEADER_BYTES:]
    assert Message.length(header) == 5 and Message.unpack(header, payload) == frame
    for bad, words in (
        (b"x" + header[1:], "not a dpviz frame"),
        (header[:4] + b"\2" + header[5:], "speaks version 2"),
        (header[:26] + b"\xff" * 4 + header[30:], "at most 67,108,864"),
    ):
        with pytest.raises(MessageError, match=words):
            Message.length(bad)
    with pytest.raises(MessageError, match="corrupted"):
        Message.unpack(header, b"wordz")
    with pytest.raises(MessageError, match="unknown kind 77"):
        Message.unpack(header[:5] + bytes([77]) + header[6:], payload)
    facts = {"query": "Count", "parts": []}
    assert unpack_round(pack_round(facts, b"ww"))[1:] == (facts, b"ww")
    for bad in (b"", b"\1\0", b"\4\0\0\0[1]x", b"\xff\xff\0\0{}"):
        with pytest.raises(MessageError, match="description"):
            unpack_round(bad)


def test_an_agreement_round_trips_and_its_digest_follows_every_fact(tmp_path):
    agreement = agreed()
    (tmp_path / "a.json").write_text(agreement.to_json())
    again = Agreement.read(tmp_path / "a.json")
    assert again.digest == agreement.digest and again.n_max == 4 * N
    assert again.algorithm.delta == default_delta(N)  # in digits: another version's default could differ
    others = (
        agreed(FastLloyd(n_clusters=4)), agreed(names=("ann", "bob")), agreed(seed=1), agreed(ring=PAPER),
        agreed(n_max=9), agreed(drawn_by=SERVER),
        Agreement(FastLloyd(n_clusters=3, iterations=4), Domain.box(-1, 2, 2, n_public=N), NAMES),
    )  # fmt: skip
    assert len({agreement.digest, *(other.digest for other in others)}) == 8
    (tmp_path / "c.json").write_text(agreement.to_json().replace('"seed"', '"spare": null, "seed"', 1))
    with pytest.raises(ValueError, match="c.json has the entry 'spare'"):
        Agreement.read(tmp_path / "c.json")
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(ValueError, match="b.json is not an agreement"):
        Agreement.read(tmp_path / "b.json")
    with pytest.raises(ValueError, match="n_public must be declared"):
        Agreement(FastLloyd(), Domain.box(-1, 1, 2), NAMES)
    with pytest.raises(ValueError, match="different names"):
        agreed(names=("ann", "ann"))
    with pytest.raises(ValueError, match="needs a trusted curator|which stay with"):
        agreed(ALGORITHMS["kmeans"]())


def test_run_ids_are_fresh_as_soon_as_one_nonce_is():
    assert len({new_run(n) for n in ([b"a", b"b"], [b"b", b"a"], [b"ab", b""], [b"a", b"c"])}) == 4


def test_keys_stay_apart(folder, tmp_path):
    assert not (folder / "server" / "masks.json").exists()
    seeds = {name: mask_seeds(folder / name) for name in NAMES}
    assert len({own.common for own in seeds.values()}) == 1 and set(seeds["ann"].pairs) == {"bob", "cem"}
    assert seeds["ann"].pairs["bob"] == seeds["bob"].pairs["ann"] != seeds["ann"].pairs["cem"]
    for name in NAMES:
        for secret in ("key.pem", "masks.json"):
            assert (folder / name / secret).stat().st_mode & 0o077 == 0
    with pytest.raises(ValueError, match="not empty; keys are never overwritten"):
        make_keys(folder, agreed())
    leaky = tmp_path / "server"
    leaky.mkdir()
    (leaky / "masks.json").touch(0o600)
    (leaky / "masks.json").write_text("{}")
    with pytest.raises(ValueError, match="does not hold mask seeds"):
        mask_seeds(leaky)
    (leaky / "masks.json").write_text('{"common": "00", "pairs": {}}')
    with pytest.raises(ValueError, match="must have 32 bytes"):
        mask_seeds(leaky)
    with pytest.raises(ValueError, match="must not hold masks.json"):
        server_context(leaky)
    with pytest.raises(ValueError, match="ca.pem is missing"):
        client_context(tmp_path)


def test_a_client_with_more_rows_than_its_part_joins_like_any_other(folder):
    """The number of a client's rows, 400 or 401, may show only on that client's own terminal."""
    ends = everybody(folder, agreed(), Host(folder, agreed()), rows=np.zeros((401, 2)))
    assert all(isinstance(end, Trace) for end in ends.values())


def test_more_rows_than_agreed_are_noted_at_the_client_s_own_terminal(folder, tmp_path, capsys):
    pd.DataFrame(np.zeros((401, 2)), columns=["x", "y"]).to_csv(tmp_path / "many.csv", index=False)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ended = main(
        ["federated", "client", str(folder / "ann"), "--data", str(tmp_path / "many.csv"), "--header"]
        + ["--port", str(port)]
    )
    words = capsys.readouterr().err
    assert ended == 3 and "more rows than this client's part of the agreed n_max = 1,200" in words
    assert "no server at 127.0.0.1" in words and "Traceback" not in words


def test_a_client_says_whether_its_first_line_is_its_first_row(folder, tmp_path, capsys):
    (tmp_path / "mine.csv").write_text("0.482915736048,0.1\n" * 3)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["federated", "client", str(folder / "ann"), "--data", str(tmp_path / "mine.csv"), "--port", str(port)]
    for words, code, expected in (([], 2, "or the first person?"), (["--no-header"], 3, "no server at")):
        assert main([*command, *words]) == code
        said = capsys.readouterr().err
        assert expected in said and "482915" not in said and len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "name", ["../ann", "a/b", "a\\b", ".ann", "ann.", "", "a\nb", "a\x1b[2Jb", "Server", "x" * 65, "a:b"]
)
def test_a_name_that_could_leave_the_folder_is_refused(name):
    with pytest.raises(ValueError, match="a client's name must have 1 to 64 letters"):
        agreed(names=("bob", name))


def test_names_must_differ_where_folders_do():
    with pytest.raises(ValueError, match="case does not count"):
        agreed(names=("ann", "Ann"))
    assert agreed(names=("Ann-Marie O.K", "örn@example.org", "x")).clients[0] == "Ann-Marie O.K"


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.parametrize("secret", ["key.pem", "masks.json"])
def test_a_secret_that_others_can_read_is_refused(folder, tmp_path, secret):
    mine = tmp_path / "ann"
    shutil.copytree(folder / "ann", mine)
    client_context(mine), mask_seeds(mine)
    (mine / secret).chmod(0o640)
    with pytest.raises(ValueError, match=rf"ann/{secret} must be yours alone.*mode 640"):
        client_context(mine) if secret == "key.pem" else mask_seeds(mine)
