// On a narrow screen Streamlit's sidebar is a drawer over the page. Here it holds the form, is opened by the button
// drawn here, closes by itself after the form was used, and is never open when a page opens.
const NARROW = matchMedia("(max-width: 768px)");
const REMEMBERED = "stSidebarCollapsed-"; // Streamlit's own note of whether the drawer was open
const drawer = (window.__dpvizDrawer ??= {});

const sidebar = () => document.querySelector("[data-testid=stSidebar]");
const top = () => document.querySelector(".st-key-form_fields"); // the form of a page that has none in the sidebar
const root = document.documentElement;
const opened = () => (top() ? root.classList.contains("dp-form-open") : sidebar()?.dataset.collapsed === "false");
const turn = (open) => {
  if (top()) root.classList.toggle("dp-form-open", open);
  else if (open) document.querySelector("[data-testid=stExpandSidebarButton]")?.click();
  else if (opened()) sidebar().querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
  drawer.say?.();
};
const close = () => { if (NARROW.matches && opened()) turn(false); };

if (!drawer.listens) {
  drawer.listens = true;
  document.addEventListener("click", (event) => {
    const used = "[data-testid=stSidebar] button[kind=primary], .st-key-form_fields button[kind=primary]";
    const within = ".st-key-form_fields, .dp-form, [data-baseweb], [role=dialog], [role=listbox], [role=tooltip]";
    const left = top() && opened() && !event.target.closest?.(within);
    if (left || event.target.closest?.(used)) setTimeout(close, 0);
  }, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  addEventListener("pagehide", () => {
    if (!NARROW.matches) return;
    Object.keys(localStorage)
      .filter((key) => key.startsWith(REMEMBERED))
      .forEach((key) => localStorage.removeItem(key));
  });
}

// The server makes figures and the page's colors, so it is called again once Streamlit itself has changed colors.
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
  button.onclick = () => turn(!opened());
  drawer.say = () => {
    button.querySelector("b").textContent = top() && opened() ? "Done" : "Change";
    button.setAttribute("aria-expanded", opened());
  };
  drawer.say();
  if (drawer.page !== data.page) close();
  drawer.page = data.page;
}
