// Keeps the browser's address in step with the picture: a new run is a new entry of the history, all else replaces it.
const kept = (window.__dpvizAddress ??= {});

export default function ({ data }) {
  // late output of a page that was left must not write into the address of the next one
  if (data.others.includes(location.pathname.split("/").pop())) return;
  const now = location.search.slice(1).split("&").filter(Boolean);
  const ours = now.some((part) => part.startsWith("v="));
  const step = now.filter((part) => /^(t|screen)=/.test(part)); // what a page's own script tells, not its widgets
  const embed = now.filter((part) => /^embed(_options)?(=|$)/.test(part)); // Streamlit's own words stay
  const same = kept.entry === undefined || kept.entry === data.entry;
  const parts = [...(data.query ? data.query.split("&") : []), ...(data.query && same ? step : []), ...embed];
  const search = parts.length ? `?${parts.join("&")}` : "";
  const fresh = ours && data.query && !same && !data.opened; // a page that was just come to has a bare address: fill it
  kept.entry = data.entry;
  if (search !== location.search) {
    const address = location.pathname + search + location.hash;
    fresh ? history.pushState({}, "", address) : history.replaceState(history.state, "", address);
  }
  // the transport reports the step; the address of a private page has none
  kept.step = (step, last) => {
    const rest = location.search.slice(1).split("&").filter((part) => part && !part.startsWith("t="));
    if (!rest.some((part) => part.startsWith("v="))) return;
    const search = `?${[...rest, ...(step < last ? [`t=${step}`] : [])].join("&")}`;
    if (search !== location.search) history.replaceState(history.state, "", location.pathname + search + location.hash);
  };
}
