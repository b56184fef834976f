// On a narrow screen the form is a drawer over the page. The button drawn here opens it; it closes by itself after use,
// and is always closed when a page opens.
const NARROW = matchMedia("(max-width: 768px)");
const drawer = (window.__dpvizDrawer ??= {});

const root = document.documentElement;
const opened = () => root.classList.contains("dp-form-open");
const turn = (open) => {
  root.classList.toggle("dp-form-open", open);
  drawer.say?.();
};
const close = () => { if (NARROW.matches && opened()) turn(false); };

if (!drawer.listens) {
  drawer.listens = true;
  document.addEventListener("click", (event) => {
    const left = opened() && !event.target.closest?.(`.st-key-form_fields, .dp-form, ${streamlit.overlays}`);
    if (left || event.target.closest?.(".st-key-form_fields button[kind=primary]")) setTimeout(close, 0);
  }, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
}

// The server draws the figures and colors the page, so request the page again after Streamlit has changed its colors.
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
    button.querySelector("b").textContent = opened() ? "Done" : "Change";
    button.setAttribute("aria-expanded", opened());
  };
  drawer.say();
  if (drawer.page !== data.page) close();
  drawer.page = data.page;
}
