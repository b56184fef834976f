// What this browser keeps of the page Run it here: its files, and by a service worker the page itself, for visits
// without a network. All of it happens before a file can be opened.
const scope = new URL(".", new URL(live.offline, location)).href;
const store = () => caches.open(`dpviz ${scope}`);
const able = () => isSecureContext && globalThis.caches && navigator.serviceWorker && crypto.subtle;
/** Return a file from an earlier visit, if it is still the one that the build wrote. */
const recalled = async (address, integrity) => {
  try {
    const content = await (await (await store()).match(address)).blob();
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await content.arrayBuffer()));
    return integrity === `sha256-${btoa(String.fromCharCode(...digest))}` ? content : null;
  } catch {
    return null; // nothing is kept here, so it is fetched
  }
};
/** Keep the page and these files; return a sentence that says whether the page opens without a network from now on. */
const stay = async (files) => {
  if (!able())
    return "Without a network it will not open again: browsers keep pages only over https or from this computer.";
  try {
    const held = await store();
    await Promise.all(files.map(([address, content]) => held.put(address, new Response(content))));
    const there = await navigator.serviceWorker.register(live.offline, { updateViaCache: "none" });
    await there.update().catch(() => {}); // to a new build; without a network the present one stays
    const newest = there.installing ?? there.waiting ?? there.active;
    await new Promise((done, fail) => {
      const look = () => ({ activated: done, redundant: fail })[newest.state]?.();
      newest.addEventListener("statechange", look);
      look();
    });
    return "From now on it opens without a network, too.";
  } catch {
    return "Without a network it will not open again: this browser keeps nothing for this page. Its storage is full or "
      + "forbidden, as it may be in a private window.";
  }
};
