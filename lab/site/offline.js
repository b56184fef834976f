// The site's service worker: it gives the pages that run Python to a browser without a network. It requests these pages
// and their files alone, and hears nothing from page or worker. The build puts PAGES and FILES with hashes before this.
const base = self.registration.scope, place = ([path, integrity]) => [new URL(path, base).href, integrity];
const store = () => caches.open(`dpviz ${base}`);
const pages = new Map(Object.entries(PAGES).map(place)), files = new Map(Object.entries(FILES).map(place));
const same = async (answer, integrity) => {
  const digest = answer && new Uint8Array(await crypto.subtle.digest("SHA-256", await answer.arrayBuffer()));
  return digest && integrity === `sha256-${btoa(String.fromCharCode(...digest))}`;
};
// the first time, the page has put its files there; later, a new build replaces what it changed, or nothing at all
self.addEventListener("install", (event) => event.waitUntil((async () => {
  const held = await store(), fresh = [];
  for (const [address, integrity] of [...pages, ...files]) {
    if (files.has(address) && await same(await held.match(address), integrity)) continue;
    const answer = await fetch(address, { integrity, cache: "no-cache" });
    if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
    const headers = pages.has(address) ? { "Content-Type": "text/html; charset=utf-8" } : {};
    fresh.push([address, new Response(await answer.blob(), { headers })]);
  }
  await Promise.all(fresh.map(([address, answer]) => held.put(address, answer)));
  await self.skipWaiting();
})()));
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  const held = await store();
  for (const { url } of await held.keys()) if (!pages.has(url) && !files.has(url)) await held.delete(url);
})()));
self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request, [page] = url.split(/[?#]/);
  if (method !== "GET" || mode !== "navigate" || !pages.has(page)) return; // the browser does as without this worker
  const kept = async () => (await (await store()).match(page)) ?? Response.error();
  event.respondWith(fetch(event.request).catch(kept));
});
