// Task dataset servers: Volary's, the original's, and a scripted one that misbehaves.

import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { test } from "@playwright/test";

import { HOME } from "./browser.mjs";
import { until } from "./state.mjs";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** The command `volary`. */
export const VOLARY = process.env.VOLARY_SERVER ?? join(ROOT, "target/debug/volary");
const PYTHON = process.env.VOLARY_PYTHON ?? join(ROOT, "target/tools/python/bin/python");

/** The origin of the page under test. */
export const ORIGIN = new URL(HOME).origin;

/** The same tasks as the original's server has. */
export const TASKS = [
  ["What is 6 * 7?", 42],
  ["A third of 100?", 33.333333],
  ["Half of -7?", -3.5],
];

/** A file of those tasks for our server. */
export function taskFile() {
  const path = join(mkdtempSync(join(tmpdir(), "volary-")), "tasks.jsonl");
  const lines = TASKS.map(([question, answer]) => ({ question, answer: `#### ${answer}` }));
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

const running = new Set();

function started(program, args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", process.env.VOLARY_LOGS ? "inherit" : "ignore"] });
  running.add(child);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  child.on("exit", () => running.delete(child));
  child.on("error", (error) => console.error(String(error)));
  return { child, ended };
}

function handle({ child, ended }, url) {
  const info = async (headers = {}) => (await fetch(`${url}/info`, { headers })).json();
  return {
    url,
    info,
    /** The port, to start another one at the same place. */
    port: Number(new URL(url).port),
    /** As by Ctrl-C. */
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
    /** As by a power cut. */
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    /** Waits until some environment runs. */
    async holds(headers) {
      await until(async () => (await info(headers)).running_env_ids.length > 0, "an environment");
    },
    /** Waits until this many environments run. */
    async runs(count, headers) {
      const running = async () => (await info(headers)).running_env_ids.length;
      await until(async () => (await running()) === count, `${count} environments`).catch(async (error) => {
        throw new Error(`${error.message}, but ${await running()}`, { cause: error });
      });
    },
  };
}

/** `volary serve`; `args` besides the port. */
export async function ours(args = [], port = 0) {
  const begun = started(VOLARY, ["serve", "--port", String(port), ...args]);
  const url = await new Promise((resolve, reject) => {
    begun.child.stdout.once("data", (line) => resolve(String(line).trim().split(" ").at(-1)));
    begun.child.on("exit", (code) => reject(new Error(`volary serve ended with ${code}`)));
  });
  return handle(begun, url);
}

/** The original's server; `args` besides the port. */
export async function theirs(args = []) {
  const port = await freePort();
  const script = fileURLToPath(new URL("original_server.py", import.meta.url));
  const begun = started(PYTHON, [script, String(port), ...args]);
  const url = `http://127.0.0.1:${port}`;
  const answers = () => fetch(`${url}/openapi.json`).then((reply) => reply.ok, () => false);
  await until(answers, "the original's server");
  return handle(begun, url);
}

/**
 * Our server and the original's, with the same tasks, both of which allow the page. Call it at the top of a test file: they run
 * while its tests do, and the two handles are filled in when they start.
 */
export function bothServers() {
  const our = {};
  const their = {};
  test.beforeAll(async () => {
    const [ourHandle, theirHandle] = await Promise.all([
      ours(["--gsm8k", taskFile(), "--cors-origin", ORIGIN]),
      theirs(["--origin", ORIGIN]),
    ]);
    Object.assign(our, ourHandle);
    Object.assign(their, theirHandle);
  });
  test.afterAll(() => {
    for (const child of running) child.kill("SIGKILL");
  });
  return { our, their };
}

/** A port without a server. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const JSON_HEADERS = { "content-type": "application/json" };
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "content-type, x-api-key",
};

/** What a good server says to each path. */
const GOOD = {
  "/info": { dataset_size: 2, running_env_ids: [] },
  "/start": { env_id: "e1" },
  "/reset": [
    [{ role: "user", content: "Go on." }],
    [
      {
        type: "function",
        info: {
          name: "go",
          description: "Goes on.",
          parameters: { type: "object", properties: {}, required: [] },
        },
      },
    ],
  ],
  "/step": [[{ role: "tool", name: "go", tool_call_id: "i", content: "Gone on." }], 0.5, false, false],
  "/close": { env_id: "e1" },
};

/**
 * A server of a script: `tell({path: reply})` changes what a path answers from now on. A reply is
 * `{status, body, text, late, hang, cut, once, cors: false}`; `late` is in milliseconds, `cut` breaks the connection,
 * `once` holds for one request.
 */
export async function scripted() {
  let script = {};
  const asked = [];
  const requests = [];
  const keys = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    requests.push(`${request.method} ${path}`);
    const reply = script[path] ?? {};
    const cors = reply.cors === false || script.cors === false ? {} : CORS;
    request.resume();
    request.on("end", () => {
      if (request.method === "OPTIONS") return response.writeHead(cors === CORS ? 204 : 405, cors).end();
      asked.push(path);
      keys.push(request.headers["x-api-key"]);
      if (reply.once) delete script[path];
      if (reply.hang) return;
      if (reply.cut) return void request.socket.destroy();
      const known = path in GOOD;
      const status = reply.status ?? (known ? 200 : 404);
      const body = reply.text ?? JSON.stringify(reply.body ?? GOOD[path] ?? { detail: "Not Found" });
      const answer = () => response.writeHead(status, { ...JSON_HEADERS, ...cors }).end(body);
      setTimeout(answer, reply.late ?? 0);
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    asked,
    /** All requests, those included by which a browser asks for leave. */
    requests,
    /** The key of each request, in order. */
    keys,
    tell(told) {
      script = told;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
