// The story's host on the site: the page has no sticky header, and its address never changes.
const { record, doors } = JSON.parse(document.getElementById("story").textContent);
const root = document.querySelector(".dp-story");
const host = { top: () => 0, foot: 30, note: () => {} };
const tell = (name, value) => {
  if (name === "door") location.href = doors.find((door) => door.page === value.page).href;
};
root.replaceChildren();
root.classList.add("told");
const story = (root.story = new Story(root, host));
const data = { record: JSON.stringify(record), doors, screen: 1, opened: 1, failed: "" };
story.take(data, tell);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => story.take(data, tell));
