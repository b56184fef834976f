"""Again: reruns of the current run at every ε, shown together or one after the other, to see what recurs."""

from pages._ui.explore import drag, reruns
from pages._ui.explore.look import opened
from pages._ui.explore.notices import first_run, heading, notices
from pages._ui.explore.reruns import AGAIN_FIGURES
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import shell
from pages._ui.frame.address import links
from pages._ui.frame.inside.patches import stop

links.enter(__file__, explore, has=("form", "kmeans", "navigation"))

head, choice, result, how = opened(switch=True)

with head:
    heading(choice, result)
    shell.title("Where might another run end?" if choice.data.private else "")
notices(choice, result)
if result is None:
    first_run(choice)
    stop()
drag.section(AGAIN_FIGURES("explore"), choice, result, how)
current = result.identity == choice.form.asks_for(choice.data)
reruns.section("explore", result, how, current=current)
