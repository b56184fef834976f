// Draws the links of the bar or of a row of tabs. A plain click opens the address as the back button does: within the
// session, which holds the visitor's files and runs. A link that the browser follows by itself begins a new session.
const drawn = new WeakMap();

// A message sent just as a page is left reaches the server after the request to leave. Streamlit then draws
// the old page again and pushes its address. Until the visitor acts, drop that push and repeat the request.
const way = (window.__dpvizWay ??= {});
const travel = () => dispatchEvent(new PopStateEvent("popstate", { state: {} }));
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

const skip = () => {
  const link = Object.assign(document.createElement("a"), {
    href: "#",
    className: "skip",
    textContent: "Skip to the page",
  });
  link.onclick = (event) => {
    event.preventDefault();
    const strip = document.querySelector(".st-key-strip");
    strip?.setAttribute("tabindex", "-1");
    strip?.focus();
  };
  return link;
};

const linked = ({ href, word, quiet }) => {
  const link = Object.assign(document.createElement("a"), { href, textContent: word });
  link.classList.toggle("quiet", quiet);
  return link;
};

const watched = new WeakSet();
const show = (nav) => { // on a phone the tabs are wider than the screen
  const here = nav.querySelector("[aria-current]");
  if (here) nav.scrollLeft = here.offsetLeft - nav.offsetLeft - 22;
};

export default function ({ data, parentElement }) {
  const nav = parentElement.querySelector("nav");
  const names = JSON.stringify(data.links.map(({ href, word }) => [href, word]));
  if (drawn.get(nav) !== names) { // redraw only changed links, so that the keyboard's focus stays
    drawn.set(nav, names);
    const groups = [false, true].map((quiet) => {
      const group = Object.assign(document.createElement("span"), { className: quiet ? "few" : "all" });
      group.append(...data.links.filter((link) => link.quiet === quiet).map(linked));
      return group;
    });
    nav.replaceChildren(...(data.look === "bar" ? [skip()] : []), ...groups.filter((group) => group.children.length));
  }
  nav.ariaLabel = data.label;
  nav.className = `dp-nav ${data.look}`;
  nav.hidden = !data.links.length;
  nav.querySelectorAll("a:not(.skip)").forEach((link, index) => {
    const { current } = data.links[index];
    current ? link.setAttribute("aria-current", current) : link.removeAttribute("aria-current");
    link.onclick = (event) => {
      if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      if (link.pathname === location.pathname) return;
      way.push({}, "", link.href);
      travel();
    };
  });
  show(nav);
  if (!watched.has(nav)) { // the row may be drawn before its style sheet
    watched.add(nav);
    new ResizeObserver(() => show(nav)).observe(nav);
  }
}
