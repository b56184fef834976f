// Replaces the placeholder colors of `SLOTS` in a text by those of the page's mode, in the order of its fields.
const tokens = "bg panel ink muted line grid released released_soft hidden hidden_tag person".split(" ");
const inColors = (text) => {
  const look = getComputedStyle(document.documentElement);
  return text.replace(/#0101(0[0-9A])/g, (_, place) => look.getPropertyValue(`--${tokens[parseInt(place, 16)]}`));
};
