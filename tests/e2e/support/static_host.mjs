// The built page on a host that sends no headers of its own, as GitHub Pages does.

import { readFile } from "node:fs/promises";
import path from "node:path";

import { site } from "./site.mjs";

const DIST = process.env.VOLARY_DIST ?? path.resolve(import.meta.dirname, "../../../dist");

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".png": "image/png",
  ".wasm": "application/wasm",
};

/** A file of the built page. */
export const built = (name) => readFile(path.join(DIST, name));

/** Starts the host. `lose` makes it break off the connection of each request for a path that the expression matches. */
export async function staticHost() {
  let lost = /^$/;
  const { origin, close } = await site(async (address, response) => {
    if (lost.test(address)) return response.destroy();
    const name = address.endsWith("/") ? `${address}index.html` : address;
    try {
      const body = await built(name);
      response.setHeader("Content-Type", TYPES[path.extname(name)] ?? "application/octet-stream");
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return { home: `${origin}/`, close, lose: (paths) => (lost = paths) };
}

/** The path of the document in which Python runs, within the page. */
export async function sandboxPath() {
  const { folder } = JSON.parse(await built("python/kit.json"));
  return `python/${folder}/python.html`;
}
