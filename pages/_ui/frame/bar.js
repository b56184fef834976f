// Draws the links of the bar or of a row of tabs. A plain click opens the address as the back button does: within the
// session, which holds the visitor's files and runs. A link that the browser follows by itself begins a new session.
const drawn = new WeakMap();

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
      go(link.href);
    };
  });
  show(nav);
  if (!watched.has(nav)) { // the row may be drawn before its style sheet
    watched.add(nav);
    new ResizeObserver(() => show(nav)).observe(nav);
  }
}
