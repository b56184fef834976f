"""Check that the server refuses, in one sentence, a Streamlit that was not tested and settings that are not safe."""

import os
import subprocess
import sys

import pytest
import streamlit as st

from pages._ui.server import settings
from pages._ui.server.owner import check_settings
from pages._ui.work.turns import check_settings as check_proxies
from tests.serving import ROOT


def refusal():
    with pytest.raises(SystemExit) as refused:
        settings.check_streamlit()
        settings.check(check_settings, check_proxies)
    sentence = str(refused.value)
    assert sentence.startswith("dpviz: ") and "\n" not in sentence
    return sentence


def test_the_settings_of_the_checkout_are_accepted():
    settings.check_streamlit()
    settings.check(check_settings, check_proxies)


@pytest.mark.parametrize("version", ["1.66.1", "1.68.0", "2.67.0"])
def test_another_minor_version_of_streamlit_is_refused(monkeypatch, version):
    monkeypatch.setattr(st, "__version__", version)
    assert f"{version} is installed" in refusal()


def test_a_patch_release_of_streamlit_is_accepted(monkeypatch):
    monkeypatch.setattr(st, "__version__", f"{settings.STREAMLIT}.9")
    settings.check_streamlit()


@pytest.mark.parametrize("option", settings._REQUIRED)
def test_a_setting_that_opens_private_pages_is_refused(monkeypatch, option):
    value, harm = settings._REQUIRED[option]
    found = st.get_option
    other = "full" if isinstance(value, str) else not value
    monkeypatch.setattr(st, "get_option", lambda name: other if name == option else found(name))
    assert option in (sentence := refusal()) and harm in sentence


@pytest.mark.parametrize(("name", "value"), [("DPVIZ_OWNER", "ann"), ("DPVIZ_PROXY", "not an address")])
def test_a_setting_of_our_own_is_checked_too(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert name in refusal()


@pytest.mark.slow
def test_a_server_with_the_agent_api_says_why_it_does_not_start():
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true", "--server.port=0"]
    unsafe = {**os.environ, "STREAMLIT_SERVER_ENABLE_AGENT_API": "true"}
    ended = subprocess.run(command, cwd=ROOT, env=unsafe, capture_output=True, text=True, timeout=300)
    said = ended.stderr.splitlines()
    assert ended.returncode and said[-1].startswith("dpviz: server.enableAgentApi") and "Traceback" not in ended.stderr
