// Keeps the address in step with the picture: a new run adds an entry to the history, any other change replaces it.
const kept = (window.__dpvizAddress ??= {});

export default function ({ data }) {
  // late output of the previous page must not change the address of the next one
  if (data.others.includes(location.pathname.split("/").pop())) return;
  const now = location.search.slice(1).split("&").filter(Boolean);
  const ours = now.some((part) => part.startsWith("v="));
  const step = now.filter((part) => /^(t|screen)=/.test(part)); // set by the page's own script, not by its widgets
  const embed = now.filter((part) => /^embed(_options)?(=|$)/.test(part)); // Streamlit's own parameters stay
  const same = kept.entry === undefined || kept.entry === data.entry;
  const parts = [...(data.query ? data.query.split("&") : []), ...(data.query && same ? step : []), ...embed];
  const search = parts.length ? `?${parts.join("&")}` : "";
  const fresh = ours && data.query && !same && !data.opened; // a page just entered has a bare address: fill it in
  kept.entry = data.entry;
  if (search !== location.search) {
    const address = location.pathname + search + location.hash;
    streamlit[fresh ? "add" : "rewrite"](address);
  }
  // the transport reports the step; the address of a private page has none
  kept.step = (step, last) => {
    const rest = location.search.slice(1).split("&").filter((part) => part && !part.startsWith("t="));
    if (!rest.some((part) => part.startsWith("v="))) return;
    const search = `?${[...rest, ...(step < last ? [`t=${step}`] : [])].join("&")}`;
    if (search !== location.search) streamlit.rewrite(location.pathname + search + location.hash);
  };
}
