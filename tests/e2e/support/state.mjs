// The stored and displayed data of a page, to search it for secrets; and polling for conditions outside the page.

import assert from "node:assert/strict";

/** All that a page keeps or shows, besides the key's own field. */
export async function stateOf(page) {
  return page.evaluate(async () => {
    const parts = [location.href, document.documentElement.outerHTML, document.title, document.cookie];
    for (const field of document.querySelectorAll("input, textarea, select")) {
      if (field.type !== "password") parts.push(field.value);
    }
    parts.push(JSON.stringify(history.state));
    for (const { name } of await indexedDB.databases()) {
      const database = await new Promise((resolve, reject) => {
        const opening = indexedDB.open(name);
        opening.onsuccess = () => resolve(opening.result);
        opening.onerror = () => reject(opening.error);
      });
      for (const store of database.objectStoreNames) {
        const reading = database.transaction(store).objectStore(store).getAll();
        parts.push(JSON.stringify(await new Promise((resolve) => (reading.onsuccess = () => resolve(reading.result)))));
      }
      database.close();
    }
    for (const name of await caches.keys().catch(() => [])) parts.push(name);
    return { page: parts.join("\n"), local: JSON.stringify(localStorage), session: JSON.stringify(sessionStorage) };
  });
}

/** Waits for something that the page does not show; `condition` may be asynchronous. */
export async function until(condition, otherwise = `never came true: ${condition}`) {
  const deadline = Date.now() + 15_000;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, otherwise);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
