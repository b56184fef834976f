// The story's host in the app: what sticks at the top of its page, the phone's bar, and the page's address.
const FOOT = 82; // pixels at the bottom of a phone that the bar and the dots cover

const top = () => {
  const strip = streamlit.strip(),
    look = strip && getComputedStyle(strip);
  if (look?.position === "sticky") return parseFloat(look.top) + strip.offsetHeight;
  const header = streamlit.header(),
    opaque = header && !/transparent|, 0\)$/.test(getComputedStyle(header).backgroundColor);
  return opaque ? header.getBoundingClientRect().bottom : 0;
};

/** Write the screen into the address, replacing the previous screen, so that Back leaves the page at once. */
const note = (others, screen) => {
  if (others.includes(location.pathname.split("/").pop())) return; // Start is still drawn after it was left
  const rest = location.search
    .slice(1)
    .split("&")
    .filter((part) => part && !/^(screen|v)=/.test(part));
  const search = `?${["v=1", `screen=${screen}`, ...rest].join("&")}`;
  if (search !== location.search) streamlit.rewrite(location.pathname + search + location.hash);
};

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".dp-story");
  root.others = data.others;
  root.story ??= new Story(root, { top, foot: FOOT, note: (screen) => note(root.others, screen) });
  root.story.take(data, (name, value) => (name === "door" ? setTriggerValue : setStateValue)(name, value));
  return () => setTimeout(() => { if (!root.isConnected) root.story.close(); });
}
