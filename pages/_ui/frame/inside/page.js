// The parts of Streamlit's page, and the browser's address; this text stands before each script that needs them.
const within = (part) => (inner) => inner.closest(`[data-testid=${part}]`);
const streamlit = {
  main: within("stMain"), // what scrolls
  block: within("stMainBlockContainer"), // what holds a page
  element: within("stElementContainer"), // what holds one element
  header: () => document.querySelector("[data-testid=stHeader]"),
  strip: () => document.querySelector("[data-testid=stLayoutWrapper]:has(> .st-key-strip)"),
  overlays: "[role=dialog], [role=listbox], [role=tooltip]", // lists and notes over the page
  /** The address of a file that is named as from the folder of Streamlit's main script. */
  near: (name) =>
    new URL(name, document.querySelector('script[type="module"][src*="static/js/"]')?.src ?? location.href).href,
  /** Streamlit's own Plotly, from a file next to its main script, so that no second one is sent. */
  plotly: async (name) => {
    if (!window.Plotly) await import(streamlit.near(name));
    return window.Plotly;
  },
  unplot: (place) => window.Plotly?.purge(place),
  /** Rewrite the address; what Streamlit keeps in the history's entry stays. */
  rewrite: (address) => history.replaceState(history.state, "", address),
  /** Add an entry to the history, as Streamlit does when a page opens. */
  add: (address) => history.pushState({}, "", address),
};

