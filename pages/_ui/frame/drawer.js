// On a narrow screen Streamlit's sidebar is a drawer over the page. Here it holds the form, is opened by the button
// that this draws, closes by itself when the form was used, and is never open when a page comes.
const NARROW = matchMedia("(max-width: 768px)");
const REMEMBERED = "stSidebarCollapsed-"; // Streamlit's own note of whether the drawer was open
const drawer = (window.__dpvizDrawer ??= {});

const sidebar = () => document.querySelector("[data-testid=stSidebar]");
const opened = () => sidebar()?.dataset.collapsed === "false";
const close = () => {
  if (NARROW.matches && opened()) sidebar().querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
};
const open = () => document.querySelector("[data-testid=stExpandSidebarButton]")?.click();

if (!drawer.listens) {
  drawer.listens = true;
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-testid=stSidebar] button[kind=primary]")) setTimeout(close, 0);
  }, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  addEventListener("pagehide", () => {
    if (!NARROW.matches) return;
    Object.keys(localStorage)
      .filter((key) => key.startsWith(REMEMBERED))
      .forEach((key) => localStorage.removeItem(key));
  });
}

// Figures and the page's colors are made by the server: it is asked again once Streamlit itself has turned.
const SCHEME = matchMedia("(prefers-color-scheme: dark)");
const turned = () => requestAnimationFrame(() => setTimeout(() => drawer.turn?.("scheme", SCHEME.matches), 0));
if (!drawer.follows) {
  drawer.follows = true;
  SCHEME.addEventListener("change", turned);
}

export default function ({ data, parentElement, setTriggerValue }) {
  drawer.turn = setTriggerValue;
  const button = parentElement.querySelector("button");
  button.querySelector("span").textContent = data.summary;
  button.onclick = open;
  if (drawer.page !== data.page) close();
  drawer.page = data.page;
}
