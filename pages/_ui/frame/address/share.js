// Shows the link in a field with a button that copies it. Only the browser's address holds the player's step.
export default function ({ data, parentElement, setStateValue }) {
  const field = parentElement.querySelector("input"), button = parentElement.querySelector("button");
  const words = parentElement.querySelector("output");
  field.value = data.link;
  words.textContent = "";
  field.onfocus = () => field.select();
  button.onclick = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch { // a page without https cannot use the clipboard
      if (!document.execCommand("copy")) return (words.textContent = "Press Ctrl+C to copy it.");
    }
    words.textContent = "Copied.";
  };
  if (!data.follows || parentElement.asked) return;
  parentElement.asked = true;
  const step = new URLSearchParams(location.search).get("t");
  setStateValue("step", step === null ? null : Number(step));
}
