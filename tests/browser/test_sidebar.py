"""The sidebar of Explore is a fragment: a control that is moved runs the form alone until another picture is due."""

import pytest

from benchmarks.visitor import Visitor
from tests.serving import awaited

pytestmark = [pytest.mark.browser, pytest.mark.slow]


async def walk(port):
    async with Visitor(port, "explore") as visitor:
        await visitor.ask()
        whole, page = visitor.received, visitor.scripts.copy()
        form = visitor.widgets[visitor.find("param_nsm_epsilon")][2]
        await visitor.change("param_nsm_epsilon", 0.0)  # refused with a sentence; the page says once that it is older
        before = visitor.received
        await visitor.change("param_nsm_delta", "2")
        alone, answers = visitor.received - before, visitor.scripts[len(page) :]
        await visitor.change("param_nsm_delta", "")
        await visitor.change("param_nsm_epsilon", 2.0)  # a fast run starts by itself, and the page shows it
        while visitor.polls:
            await visitor.poll()
        return form, page, answers, visitor.scripts[len(page) + len(answers) :], alone / whole, visitor.faults


def test_a_control_runs_the_form_alone_until_there_is_another_picture(server):
    form, page, answers, after, share, faults = awaited(walk(int(server.rsplit(":", 1)[1])))
    assert form and set(page) == {""}
    assert answers == [form, "", form] and share < 0.1
    assert after[:2] == [form, form] and "" in after
    assert faults == []
