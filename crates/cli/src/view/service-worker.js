// In place of the page's service worker. Another program may listen on this port tomorrow, so nothing is stored for it, and
// what an earlier page left is removed.
"use strict";

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => {
  const clean = async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith("volary "));
    await Promise.all(names.map((name) => caches.delete(name)));
    await registration.unregister();
  };
  event.waitUntil(clean());
});
