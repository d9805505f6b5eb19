// A page that frames the document of the Python sandbox and gives it scripts of its own, which say where they run. In
// the origin of the page they could read its storage.

import { built, sandboxPath } from "./static_host.mjs";
import { site } from "./site.mjs";

/** Runs in the worker instead of boot.js. A relay passes on the stages of a start. */
const BOOT = `export default async () => {
  const stores = self.origin === "null" ? [] : await indexedDB.databases();
  postMessage({ stage: self.origin === "null" ? "ran apart" : "ran in the page, " + stores.length + " stores" });
}`;

const PAGE = `<!doctype html><meta charset="utf-8"><title>Another page</title><p id="said"></p>
<script type="module">
  const kit = () => ({
    boot: ${JSON.stringify(BOOT)},
    core: "", asm: "", host: "", stdlib: new ArrayBuffer(0), wheels: [], memory: 512,
    wasm: new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]).buffer,
  });
  const attack = (url, isSandboxed) => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    if (isSandboxed) frame.sandbox = "allow-scripts";
    frame.onload = () => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => resolve(data.stage ?? JSON.stringify(data));
      // For a worker that says nothing of its start.
      port1.postMessage({ id: 1, source: "a", question: "{}" });
      frame.contentWindow.postMessage(kit(), "*", [port2]);
      setTimeout(() => resolve("nothing"), 4_000);
    };
    frame.src = url;
    document.body.append(frame);
  });
  const target = new URLSearchParams(location.search).get("document");
  const [framed, sandboxed, own] = await Promise.all([
    attack(target, false),
    attack(target, true),
    // The same document from this page's own server obeys this page.
    attack("/own.html", true),
  ]);
  said.textContent = "said: " + JSON.stringify({ framed, sandboxed, own });
</script>`;

/** Starts the other page. `attack(browser, home, host)` gives what its scripts said in frames of the page at `home`. */
export async function foreignKit() {
  const path = await sandboxPath();
  const own = await built(path);
  const { origin, close } = await site((address, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(address === "/own.html" ? own : PAGE);
  });
  const attack = async (browser, home, host) => {
    const url = new URL(origin);
    url.hostname = host;
    url.searchParams.set("document", home + path);
    await browser.open(url.href);
    await browser.find("//*[starts-with(normalize-space(), 'said: ')]");
    const [, said] = (await browser.text()).match(/said: (\{.*\})/);
    return JSON.parse(said);
  };
  return { attack, close };
}
