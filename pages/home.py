"""Start: a story on six scrolling screens about why exact averages give people away, and what noise costs."""

from pages._ui.frame import shell
from pages._ui.frame.address import links
from pages._ui.frame.address.scene import Scene
from pages._ui.frame.catalog import sample
from pages._ui.start.controls import home
from pages._ui.start.story import story

links.enter(__file__, home)
shell.strip(sample("town").title)
links.notice("home", home)
links.keep("home", home, scene=Scene("home"))  # only the browser knows which screen is shown
story()
