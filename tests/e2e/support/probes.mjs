// Probes of the Python sandbox: attempts of code in a worker to reach the network, the page's storage or other
// pages. Each is a JavaScript expression with `A`, the address of a listener; it succeeds if its promise resolves
// or if the listener receives a request. The same probes run in a plain worker, where they must succeed.

import { createServer } from "node:http";

const listen = (make) => `new Promise((ok, no) => { ${make} })`;

/** Name → expression. */
export const PROBES = {
  fetch: "fetch(A)",
  "fetch without CORS": "fetch(A, { mode: 'no-cors', keepalive: true })",
  XMLHttpRequest: listen("const x = new XMLHttpRequest(); x.open('GET', A); x.onload = ok; x.onerror = no; x.send();"),
  "synchronous XMLHttpRequest": listen("const x = new XMLHttpRequest(); x.open('GET', A, false); x.send(); ok();"),
  EventSource: listen("const s = new EventSource(A); s.onopen = ok; s.onerror = no;"),
  WebSocket: listen("const s = new WebSocket(A.replace('http', 'ws')); s.onopen = ok; s.onerror = no;"),
  "import()": "import(A)",
  "import() from a constructor": "Object.constructor('return import(\"' + A + '\")')()",
  importScripts: listen("(self.importScripts ?? WorkerGlobalScope.prototype.importScripts).call(self, A); ok();"),
  "worker of an address": listen("const w = new Worker(A); w.onmessage = ok; w.onerror = no;"),
  "nested worker": listen(
    "const w = new Worker(URL.createObjectURL(new Blob(['fetch(\"' + A + '\").then(() => postMessage(1), () => postMessage(0))'])));" +
      "w.onmessage = (e) => (e.data ? ok() : no(new Error('refused'))); w.onerror = no;",
  ),
  FontFace: "new FontFace('x', 'url(' + A + ')').load()",
  indexedDB: listen("const r = indexedDB.open('probe'); r.onsuccess = ok; r.onerror = no;"),
};

/** What a worker does not have at all; in it, nothing leaks through these. */
export const ABSENT = ["document", "window", "localStorage", "sessionStorage", "RTCPeerConnection", "navigation"];

const SILENCE = 2_500;

/** A function of JavaScript: runs all probes against an address, and gives the names of those that reached anything. */
const RUN = `async (address) => {
  const silent = () => new Promise((_, no) => setTimeout(() => no(new Error("silent")), ${SILENCE}));
  const probes = {
    ${Object.entries(PROBES).map(([name, source]) => `${JSON.stringify(name)}: (A) => ${source},`).join("\n    ")}
  };
  const tried = Object.entries(probes).map(async ([name, probe]) => {
    const target = address + "?probe=" + encodeURIComponent(name);
    try {
      await Promise.race([(async () => probe(target))(), silent()]);
      return name;
    } catch {
      return null;
    }
  });
  const present = ${JSON.stringify(ABSENT)}.filter((name) => typeof self[name] !== "undefined");
  return { reached: (await Promise.all(tried)).filter((name) => name !== null), present };
}`;

/**
 * An environment in Python whose first message says what the probes reached. The policy forbids to evaluate a string, but
 * not a script of the worker's own making: that is how the environment gets to run any JavaScript.
 */
export const environment = (address) => `
import js
from aviary.core import Environment, Message, Tool
from pyodide.ffi import to_js
from pyodide.http import open_url

ADDRESS = ${JSON.stringify(address)}
RUN = ${JSON.stringify(RUN)}


async def reached():
    kind = to_js({"type": "text/javascript"}, dict_converter=js.Object.fromEntries)
    script = js.Blob.new(to_js(["self.probes = " + RUN]), kind)
    js.WorkerGlobalScope.prototype.importScripts.call(js.self, js.URL.createObjectURL(script))
    result = await js.probes(ADDRESS)
    names = list(result.reached) + list(result.present)
    try:
        open_url(ADDRESS + "?probe=open_url")
        names.append("open_url")
    except BaseException:
        pass
    return names


class Probe(Environment[None]):
    def look(self) -> str:
        """Look."""
        return "nothing"

    async def reset(self):
        self.tools = [Tool.from_function(self.look)]
        return [Message(content="reached: " + repr(await reached()))], self.tools

    async def step(self, action):
        return await self.exec_tool_calls(action), 0.0, True, False
`;

/** A page without any policy whose worker runs the same probes, and says on the page what they reached. */
const CONTROL = `<!doctype html><meta charset="utf-8"><title>Control</title><p id="said">running</p>
<script>
  const worker = new Worker("/control.js");
  worker.onmessage = ({ data }) => {
    // The scripts that probes import send messages too.
    if (!data.reached) return;
    document.getElementById("said").textContent = "reached: " + JSON.stringify(data.reached);
  };
  worker.postMessage(location.origin + "/leak");
</script>`;
const CONTROL_WORKER = `onmessage = async ({ data }) => postMessage(await (${RUN})(data));`;

/** A server that serves the control, and writes down the probes that reach it: \`heard\` has their names. */
export async function listener() {
  const heard = new Set();
  const note = (url) => {
    const { pathname, searchParams } = new URL(url, "http://x");
    if (pathname === "/leak") heard.add(searchParams.get("probe") ?? "?");
    return pathname;
  };
  const server = createServer((request, response) => {
    const path = note(request.url);
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Cache-Control", "no-store");
    const [type, body] =
      path === "/control.html"
        ? ["text/html", CONTROL]
        : path === "/control.js"
          ? ["text/javascript", CONTROL_WORKER]
          : ["text/javascript", "self.postMessage?.(1)"];
    response.setHeader("Content-Type", type);
    response.end(body);
  });
  // A WebSocket asks to upgrade the connection; the request alone is a leak.
  server.on("upgrade", (request, socket) => {
    note(request.url);
    socket.destroy();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin, heard, close };
}
