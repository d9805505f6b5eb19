// A site on its own origin that serves the built page, until another version of it is deployed.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname, join, normalize } from "node:path";

import { site } from "./site.mjs";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".md": "text/markdown",
  ".png": "image/png",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".whl": "application/zip",
};

/** The title of the version that is deployed later. */
export const LATER = "A later version";

/**
 * The built page at `origin`. `deploy` replaces it by a version whose files have other hashes: those of the page are gone,
 * as after `git push` to a static host. The later version is a document alone, with a service worker of its own.
 */
export async function deployments() {
  const dist = process.env.VOLARY_DIST;
  let isLater = false;
  const later = `<!doctype html><title>${LATER}</title><link rel="modulepreload" href="volary-later/app.js">`;
  const files = {
    "index.html": later,
    "service-worker.js": withFiles(readFileSync(join(dist, "service-worker.js"), "utf8"), { "index.html": [digest(later), later.length] }),
  };
  const asked = [];
  const other = await site((path, response) => {
    const name = path.slice(1) || "index.html";
    asked.push(name);
    let body;
    try {
      body = isLater ? files[name] : readFileSync(join(dist, normalize(name)));
    } catch {
      body = undefined;
    }
    if (body === undefined) return response.writeHead(404).end("Not Found");
    response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream", "cache-control": "no-cache" });
    response.end(body);
  });
  return {
    ...other,
    /** The paths that were requested since the last call. */
    asked: () => asked.splice(0),
    deploy: () => {
      isLater = true;
    },
  };
}

const digest = (text) => `sha256-${createHash("sha256").update(text).digest("base64")}`;

/** The service worker of a version with these files. */
function withFiles(script, files) {
  const build = { version: "later", page: "volary-later", files, first: Object.keys(files) };
  return script.replace(/^const BUILD = .*;$/m, `const BUILD = ${JSON.stringify(build)};`);
}
