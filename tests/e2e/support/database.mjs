// Access to the page's database: to damage it, or to restore one of an earlier version.

import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";

/** In the page: all records of all stores, as JSON. Bytes become `{hex}`, files `{name, text}`. */
export async function dumped() {
  const done = (request) =>
    new Promise((resolve, reject) => ((request.onsuccess = () => resolve(request.result)), (request.onerror = () => reject(request.error))));
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const plain = async (value) => {
    if (value instanceof Uint8Array) return { hex: hex(value) };
    if (value instanceof Blob) return { name: value.name, text: await value.text() };
    if (Array.isArray(value)) return Promise.all(value.map(plain));
    if (value && typeof value === "object") {
      const fields = Object.entries(value).map(async ([name, field]) => [name, await plain(field)]);
      return Object.fromEntries(await Promise.all(fields));
    }
    return value;
  };
  const database = await done(indexedDB.open("volary"));
  // One transaction, so that all records are consistent.
  const transaction = database.transaction([...database.objectStoreNames]);
  const stores = await Promise.all(
    [...database.objectStoreNames].map(async (name) => {
      const store = transaction.objectStore(name);
      const indexes = [...store.indexNames].map((index) => {
        const { keyPath, unique, multiEntry } = store.index(index);
        return { name: index, keyPath, unique, multiEntry };
      });
      const { autoIncrement } = store;
      const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
      return { name, autoIncrement, indexes, keys, values };
    }),
  );
  const { version } = database;
  database.close();
  for (const store of stores) store.values = await plain(store.values);
  return { version, stores };
}

/** In the page, which must not have a database yet: makes one of what `dumped` gave. */
export async function restored({ version, stores }) {
  const done = (request) =>
    new Promise((resolve, reject) => ((request.onsuccess = () => resolve(request.result)), (request.onerror = () => reject(request.error))));
  const stored = (value) => {
    if (Array.isArray(value)) return value.map(stored);
    if (!value || typeof value !== "object") return value;
    if (typeof value.hex === "string") return Uint8Array.from(value.hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
    if (typeof value.name === "string" && typeof value.text === "string") return new File([value.text], value.name);
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, stored(field)]));
  };
  await done(indexedDB.deleteDatabase("volary"));
  const opening = indexedDB.open("volary", version);
  opening.onupgradeneeded = () => {
    for (const { name, autoIncrement, indexes } of stores) {
      const store = opening.result.createObjectStore(name, { autoIncrement });
      for (const { name, keyPath, unique, multiEntry } of indexes) store.createIndex(name, keyPath, { unique, multiEntry });
    }
  };
  const database = await done(opening);
  for (const { name, keys, values } of stores) {
    const store = database.transaction(name, "readwrite").objectStore(name);
    await Promise.all(values.map((value, place) => done(store.put(stored(value), keys[place]))));
  }
  database.close();
}

/** In the page: writes records, each a store, a key and a value as `dumped` gives them. */
export async function put(records) {
  const done = (request) =>
    new Promise((resolve, reject) => ((request.onsuccess = () => resolve(request.result)), (request.onerror = () => reject(request.error))));
  const stored = (value) => {
    if (Array.isArray(value)) return value.map(stored);
    if (typeof value?.hex === "string") return Uint8Array.from(value.hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
    return value;
  };
  const database = await done(indexedDB.open("volary"));
  for (const [name, key, value] of records) await done(database.transaction(name, "readwrite").objectStore(name).put(stored(value), key));
  database.close();
}

/** In the page: the keys of a store. */
export async function keys(name) {
  const done = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
  const database = await done(indexedDB.open("volary"));
  const keys = await done(database.transaction(name).objectStore(name).getAllKeys());
  database.close();
  return keys;
}

export const packed = (path, value) => writeFileSync(path, gzipSync(JSON.stringify(value), { level: 9 }));

export const unpacked = (path) => JSON.parse(gunzipSync(readFileSync(path)));
