// Two races of Streamlit's client, which CONTRIBUTING describes; the bar, which every page draws, watches for them.
// A message sent just as a page is left reaches the server after the request to leave. Streamlit then draws
// the old page again and pushes its address. Until the visitor acts, drop that push and repeat the request.
const way = (window.__dpvizWay ??= {});
const travel = () => dispatchEvent(new PopStateEvent("popstate", { state: {} }));
const go = (address) => { // within the session, as the back button does
  way.push({}, "", address);
  travel();
};
if (!way.push) {
  way.push = history.pushState.bind(history);
  history.pushState = (state, title, url) => {
    const astray = way.to === location.pathname && new URL(url, location).pathname !== way.to;
    astray && way.left-- > 0 ? setTimeout(travel, 0) : way.push(state, title, url);
  };
  addEventListener("popstate", () => {
    if (way.to !== location.pathname) way.left = 5; // repetitions left
    way.to = location.pathname;
  });
  for (const act of ["pointerdown", "keydown", "click"]) addEventListener(act, () => { way.to = undefined; }, true);
}

// Streamlit draws an open menu at the end of the page: Tab leads from its button into it and back, Escape back.
const STOPS = "button:enabled, a[href], input:enabled, select:enabled, textarea:enabled, summary, [tabindex='0']";
const isStop = (one) => one.tabIndex >= 0 && one.getClientRects().length;
const stopsOf = (menu) => [...menu.querySelectorAll(STOPS)].filter(isStop);
const empty = (menu) => !menu.innerText.trim();
const enter = (menu, button) => { // the server may send the menu's content after its frame is open
  const [first] = stopsOf(menu);
  const waits = menu.isConnected && empty(menu) && document.activeElement === button;
  if (first) first.focus();
  else if (waits) setTimeout(enter, 50, menu, button);
};
if (!way.menus) {
  way.menus = true;
  // Streamlit calls a field for files mere decoration, although it has a name and takes the focus; page.css says where.
  addEventListener("animationstart", ({ animationName, target }) => {
    if (animationName === "dp-field") target.setAttribute("role", "group");
  });
  addEventListener("keydown", (event) => {
    const button = document.querySelector("[data-testid=stPopoverButton][aria-expanded=true]");
    const menu = button && document.querySelector("[data-testid=stPopoverBody]");
    if (!menu || !["Tab", "Escape"].includes(event.key)) return;
    const here = document.activeElement;
    if (event.key === "Escape") {
      if (menu.contains(here)) setTimeout(() => menu.isConnected || button.focus(), 50);
      return;
    }
    const stops = stopsOf(menu), end = event.shiftKey ? stops[0] : stops.at(-1);
    const inward = here === button && !event.shiftKey && (stops.length || empty(menu));
    if (here !== end && !inward) return;
    event.preventDefault();
    inward ? enter(menu, button) : button.focus();
  }, true);
}

