// Real Chromium, one context for each visit. A visit fails on console errors, page errors, and requests to any
// origin but the one under test.

import assert from "node:assert/strict";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "@playwright/test";

/** Where the page is served, with its path prefix and a slash at the end. */
export const HOME = process.env.VOLARY_URL ?? "http://127.0.0.1:8080/";

/** The sizes at which the page is looked at. */
export const SIZES = {
  wide: { width: 1440, height: 900 },
  narrow: { width: 390, height: 844 },
};

const browsers = new Map();

/**
 * The browser of this worker process with further arguments, started on first use. Playwright closes it with the process.
 */
export async function launched(further = []) {
  const key = further.join(" ");
  if (!browsers.has(key)) browsers.set(key, launch(further));
  return browsers.get(key);
}

function launch(further) {
  return chromium.launch({
    executablePath: process.env.VOLARY_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...further,
    ],
  });
}

/**
 * Opens the page at a hash and runs `journey(page, visit)`, then checks what must hold after any
 * journey.
 *
 * @param {{hash?: string, size?: keyof SIZES, theme?: "light"|"dark", axe?: boolean,
 *          allowedErrors?: RegExp[], origins?: string[], init?: (context) => Promise<void>,
 *          left?: () => Promise<void>, offline?: boolean, at?: string, args?: string[]}} options
 *   `at` is opened instead of the page: leaving the page at once would fail its requests;
 *   `args` are further arguments of the browser; `offline` allows the service worker, which would keep requests from `page.route`;
 *   `left` waits for what must become true once the page was left; `allowedErrors` are console errors that the journey provokes on purpose; `origins` are servers that it
 *   names to the page, as a person would.
 */
export async function visit(options, journey) {
  const { hash = "", size = "wide", theme = "light", axe = true, allowedErrors = [], origins = [] } = options;
  const context = await (await launched(options.args)).newContext({
    viewport: SIZES[size],
    colorScheme: theme,
    acceptDownloads: true,
    reducedMotion: options.motion ?? "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    baseURL: HOME,
  });
  if (!options.offline) await context.addInitScript(withoutServiceWorker);
  const problems = [];
  const requests = [];
  context.on("request", (request) => {
    requests.push(request.url());
    const url = new URL(request.url());
    const local = ["data:", "blob:"].includes(url.protocol) || url.origin === new URL(HOME).origin || origins.includes(url.origin);
    if (!local) problems.push(`request off the origin: ${request.url()}`);
  });
  // Leaving a page aborts the parts of its code that it fetches ahead, and their loader logs that.
  let abortedParts = 0;
  context.on("requestfailed", (request) => {
    const isAborted = request.failure()?.errorText === "net::ERR_ABORTED";
    if (isAborted && request.url().endsWith(".wasm")) abortedParts += 1;
  });
  context.on("console", (message) => {
    if (message.type() !== "error") return;
    if (allowedErrors.some((allowed) => allowed.test(message.text()))) return;
    problems.push(`console error: ${message.text()}`);
  });
  context.on("weberror", (error) => {
    const text = String(error.error());
    if (allowedErrors.some((allowed) => allowed.test(text))) return;
    problems.push(`page error: ${text}`);
  });
  try {
    await options.init?.(context);
    const page = await context.newPage();
    // Long enough for a busy machine: a late result is not a failure, a missing one is.
    page.setDefaultTimeout(30_000);
    await page.goto(options.at ?? HOME + hash);
    await journey(page, { requests, problems });
    if (axe) await accessible(page);
    const isOfLeaving = (problem) => abortedParts > 0 && ABORTED.test(problem);
    assert.deepEqual(problems.filter((problem) => !isOfLeaving(problem)), []);
    if (options.left) {
      // Leave as a person does: closing the context would cancel the page's last requests.
      await page.goto("about:blank");
      await options.left();
    }
  } finally {
    await context.close();
  }
}

/**
 * In the page: registers no service worker, which would answer requests that a journey intercepts. Playwright's own way
 * throws in the sandboxed frame of Python, which has no service workers at all.
 */
function withoutServiceWorker() {
  if (globalThis.origin === "null") return;
  const workers = navigator.serviceWorker;
  if (workers) workers.register = () => Promise.reject(new Error("This journey registers no service worker."));
}

/** What the loader of the page's code logs if the browser aborts a request. */
const ABORTED = /^console error: TypeError: (Failed to fetch\n.*__wasm_split\.js|WebAssembly compilation aborted)/;

/** What the browser itself says of requests that fail. */
export const FAILED = /Failed to load resource|blocked by CORS policy|net::ERR/;

/** For `init`: code that runs in the page's workers before their own. */
export function inWorkers(code) {
  return async (context) => {
    // The page's own script has the same address, and an integrity digest.
    await context.addInitScript(() => {
      // Only the page's policy may create an address that starts a worker.
      if (!globalThis.trustedTypes) return;
      const create = trustedTypes.createPolicy.bind(trustedTypes);
      trustedTypes.createPolicy = (name, rules) =>
        create(name, { ...rules, createScriptURL: (text) => `${rules.createScriptURL(text)}?worker` });
    });
    await context.route(/\.js\?worker$/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: `{ ${code} }\n${await response.text()}` });
    });
  };
}

/**
 * Fails on anything that axe finds. The legacy mode needs no second page for its report, which saves a third of a check's
 * CPU time, but it skips frames of other origins: it is for pages without frames.
 */
export async function accessible(page) {
  const axe = new AxeBuilder({ page }).setLegacyMode(page.frames().length === 1).options({ resultTypes: ["violations"] });
  const { violations } = await axe.analyze();
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map((node) => node.html).join("\n  ")}`,
  );
  assert.deepEqual(found, [], "axe found something");
}
