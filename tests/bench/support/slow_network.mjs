// A server of a folder behind a slow line, for pages and workers alike: the browser's own throttling leaves workers out.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};
/** The bytes that are sent at once. */
const PIECE = 2_000;

/**
 * Serves a folder, gzipped, on a free port of 127.0.0.1. All responses share `bytesPerSecond`; each waits `latency`
 * milliseconds first. `cacheControl` is sent as it is, if it is given. Returns the address, what was sent, and how to stop.
 */
export async function slowServer(folder, { bytesPerSecond, latency, cacheControl }) {
  const sent = [];
  // The time until which the line is taken.
  let free = 0;
  const wait = (until) => new Promise((resolve) => setTimeout(resolve, Math.max(0, until - performance.now())));
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://127.0.0.1");
    const path = normalize(decodeURIComponent(pathname)).replace(/^\/+/, "") || "index.html";
    await wait(performance.now() + latency);
    let body;
    try {
      body = gzipSync(await readFile(join(folder, path)));
    } catch {
      response.writeHead(404).end();
      return;
    }
    sent.push({ path, bytes: body.length });
    const headers = { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "content-encoding": "gzip" };
    if (cacheControl) headers["cache-control"] = cacheControl;
    response.writeHead(200, headers);
    for (let start = 0; start < body.length; start += PIECE) {
      const piece = body.subarray(start, start + PIECE);
      free = Math.max(free, performance.now()) + (piece.length / bytesPerSecond) * 1000;
      await wait(free);
      response.write(piece);
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    sent,
    close: () => server.close(),
  };
}
