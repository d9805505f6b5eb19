// What a page of another site tries on the embedded view, on `volary embed` and on `volary view`, in three engines: frames,
// reading, starting code, sockets, messages of others, and the browser's stores.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { HOME } from "./support/browser.mjs";
import { inEveryBrowser } from "./support/every_browser.mjs";
import { VOLARY } from "./support/servers.mjs";
import { site } from "./support/site.mjs";

const DIST = process.env.VOLARY_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));

/** The document of the page, and the script that decides whether it starts, as a host without headers sends them. */
const PAGE = await readFile(join(DIST, "index.html"), "utf8");
const SCRIPTS = new Map((await readdir(DIST)).filter((name) => name.endsWith(".js")).map((name) => [`/${name}`, join(DIST, name)]));

/** An episode of one step. */
const EPISODE = JSON.stringify({
  messages: [
    { role: "user", content: "Say it." },
    { role: "assistant", content: "The marble is red." },
  ],
});

/** The page of the stranger, which runs its probes and keeps what it finds. */
const stranger = (embed, view, bare, accomplice) => `<!DOCTYPE html><html lang="en"><title>A stranger</title><body>
<iframe id="embedded" src="${embed}"></iframe>
<iframe id="whole" src="${embed.replace("?embed=1", "")}"></iframe>
<iframe id="spelled" src="${embed.replace("?embed=1", "%69ndex.html")}"></iframe>
<iframe id="page" src="${HOME}"></iframe>
<iframe id="bare" src="${bare}"></iframe>
<iframe id="view" src="${view}"></iframe>
<iframe id="accomplice" src="${accomplice}"></iframe>
<script>
  const heard = [];
  const found = {};
  addEventListener("message", ({ source, origin, data }) => {
    const frame = [...document.querySelectorAll("iframe")].find(({ contentWindow }) => contentWindow === source);
    heard.push([frame?.id, origin, data?.volary ?? data]);
  });
  const tell = (message) => document.getElementById("embedded").contentWindow.postMessage(message, "*");
  const outcome = (promise) => Promise.race([
    promise.then((value) => String(value), () => "refused"),
    new Promise((resolve) => setTimeout(resolve, 15_000, "silent")),
  ]);
  const loaded = (name, properties) => new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(name), properties);
    Object.assign(element, { onload: () => resolve("loaded"), onerror: reject });
    document.body.append(element);
  });
  const embed = ${JSON.stringify(embed)};
  const base = embed.replace("?embed=1", "");
  const socket = (address) => new Promise((resolve, reject) => {
    const socket = new WebSocket(address.replace("http", "ws"));
    Object.assign(socket, { onopen: () => resolve("open"), onerror: reject });
  });
  const probes = {
    // That it is there may be asked.
    ping: () => fetch(embed, { mode: "no-cors" }).then(({ type }) => type),
    read: () => fetch(embed).then((answer) => answer.text()),
    credentials: () => fetch(embed, { credentials: "include" }).then((answer) => answer.text()),
    readFile: () => fetch(base + "service-worker.js").then((answer) => answer.text()),
    post: () => fetch(embed, { method: "POST", body: "x" }).then((answer) => answer.text()),
    custom: () => fetch(base + "service-worker.js", { headers: { "X-Other": "1" } }).then((answer) => answer.text()),
    script: () => loaded("script", { src: base + "service-worker.js" }),
    style: () => loaded("link", { rel: "stylesheet", href: base + "service-worker.js" }),
    image: () => loaded("img", { src: base + "icon.svg" }),
    module: () => import(base + "service-worker.js"),
    worker: () => new Promise((resolve, reject) => Object.assign(new Worker(base + "service-worker.js"), { onmessage: resolve, onerror: reject })),
    socket: () => socket(embed),
    viewRead: () => fetch(${JSON.stringify(view)}).then((answer) => answer.text()),
    viewFiles: () => fetch(new URL("/api/files", ${JSON.stringify(view)}), { credentials: "include" }).then((answer) => answer.text()),
    viewSocket: () => socket(new URL("/api/events", ${JSON.stringify(view)}).href),
  };
  for (const name in probes) outcome((async () => probes[name]())()).then((result) => (found[name] = result));
</script></body></html>`;

/** Another site in the stranger's page, which tries to direct the embedded view. */
const accomplice = (embed) => `<!DOCTYPE html><html lang="en"><title>An accomplice</title><script>
  const heard = [];
  addEventListener("message", ({ data }) => heard.push(data));
  const episode = ${JSON.stringify(EPISODE)};
  setInterval(() => {
    for (const message of [{ volary: "hello" }, { volary: "load", episode }, { volary: "step", step: 1 }, { volary: "theme", theme: "dark" }])
      parent.frames[0].postMessage(message, ${JSON.stringify(new URL(embed).origin)});
  }, 200);
</script></html>`;

/** A program that prints one line of JSON. */
async function started(args) {
  const child = spawn(VOLARY, args, { stdio: ["pipe", "pipe", "ignore"] });
  const line = await new Promise((resolve) => child.stdout.once("data", resolve));
  return { url: JSON.parse(line).url, stop: () => child.kill() };
}

/** The value of an expression, in the page or in the frame with an id. */
const evaluate = (browser, expression, id) => browser.run(`return ${expression}`, id && `#${id}`);

/** Evaluates until it is true. */
async function until(browser, expression, id) {
  const deadline = Date.now() + 90_000;
  while (!(await evaluate(browser, expression, id).catch(() => false))) {
    if (Date.now() > deadline) {
      throw new Error(`never: ${expression}; ${await evaluate(browser, "JSON.stringify([heard, found])")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function probe(browser) {
  const folder = mkdtempSync(join(tmpdir(), "volary-probes-"));
  writeFileSync(join(folder, "a.json"), EPISODE);
  const embed = await started(["embed", "--page", DIST]);
  const view = await started(["view", folder, "--json", "--page", DIST]);
  const html = (text) => (path, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(path === "/favicon.ico" ? "" : text());
  };
  const other = await site(html(() => accomplice(embed.url)));
  const bare = await site(async (path, response) => {
    const script = SCRIPTS.get(path);
    response.setHeader("Content-Type", script ? "text/javascript" : "text/html");
    response.end(script ? await readFile(script) : PAGE);
  });
  const strange = await site(html(() => stranger(embed.url, view.url, bare.origin, other.origin)));
  try {
    await browser.open(strange.origin);
    await until(browser, "Object.keys(found).length === Object.keys(probes).length");
    const found = JSON.parse(await evaluate(browser, "JSON.stringify(found)"));
    const { ping, ...rest } = found;
    assert.equal(ping, "opaque");
    assert.deepEqual(new Set(Object.values(rest)), new Set(["refused"]), JSON.stringify(found));

    // The accomplice has sent its messages from the start; only the page around the frame is heard.
    await until(browser, "heard.some(([frame, , kind]) => frame === 'embedded' && kind === 'ready')");
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const kinds = () => evaluate(browser, "JSON.stringify([...new Set(heard.map(([frame, , kind]) => `${frame}: ${kind}`))])");
    assert.deepEqual(JSON.parse(await kinds()), ["embedded: ready"]);
    await evaluate(browser, `(tell(${JSON.stringify({ volary: "load", episode: EPISODE })}), 1)`);
    await until(browser, "heard.some(([, , kind]) => kind === 'loaded')");
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const inFrame = (expression) => evaluate(browser, expression, "embedded");
    assert.equal(await inFrame("document.documentElement.dataset.theme ?? 'none'"), "none");
    assert.match(await inFrame("document.body.innerText"), /Start, before step 1 of 1/);
    assert.equal(await evaluate(browser, "heard.length", "accomplice"), 0);
    const origins = JSON.parse(await evaluate(browser, "JSON.stringify([...new Set(heard.map(([, origin]) => origin))])"));
    assert.deepEqual(origins, [new URL(embed.url).origin]);

    // It has no stores.
    const stores = "['localStorage', 'sessionStorage', 'indexedDB', 'caches'].map((name) => typeof globalThis[name]).join()";
    assert.equal(await inFrame(stores), Array(4).fill("undefined").join());
    assert.equal(await inFrame("document.cookie"), "");

    // A host without headers sends the page, which refuses to start. The other frames show nothing of Volary.
    await until(browser, "document.getElementById('framed')?.hidden === false", "bare");
    for (const id of ["whole", "spelled", "page", "view"]) {
      const text = await evaluate(browser, "document.documentElement.innerText + document.querySelectorAll('script').length", id).catch(() => "0");
      assert.doesNotMatch(text, /Volary|marble|token/i, id);
    }
  } finally {
    for (const server of [embed, view]) server.stop();
    for (const server of [strange, other, bare]) server.close();
  }
}

inEveryBrowser("a stranger frames the embedded view, reads nothing and directs nothing else", probe);
