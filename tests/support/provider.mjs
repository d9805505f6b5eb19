// A model provider on this machine that says what it is told to: it speaks the five formats of providers,
// whole and streamed, and misbehaves in every way that providers and networks do. For tests.
//
// In node:        const provider = await startProvider(); … await provider.close();
// On its own:     node tests/support/provider.mjs [--port N]     prints {"url": …} and waits.
// From anywhere:  PUT {url}/control   {"script": [reply, …], "rules": […], "otherwise": reply, "key": "…", "cors": "…"}
//                 GET {url}/control   {"requests": […], "left": n}
//                 DELETE {url}/control
//
// Base URLs of the formats: {url}/openai/v1 (Chat Completions, Responses), {url}/mistral/v1, {url}/anthropic,
// {url}/gemini. What a reply can say stands in provider/formats.mjs, how it can fail in provider/faults.mjs.
//
// - `script` is used up in order; then `otherwise` is given for ever (at first: a text).
// - `rules` are looked at before the script: [{"when": text in the request's body, "reply": reply}].
// - `key`: any other key is refused as the format's provider refuses it. Without it every key will do.
// - `cors`: "open" (at first), "none" (no page may read anything), "no-preflight" (pages may not even ask).

import { createServer } from "node:http";
import { once } from "node:events";
import { pathToFileURL } from "node:url";

import { formatOf, replyOf, refusal, models } from "./provider/formats.mjs";
import { send } from "./provider/faults.mjs";

/** What it is like before it is told anything. */
const fresh = () => ({
  script: [],
  rules: [],
  otherwise: { text: "Nothing is left in the script." },
  key: null,
  cors: "open",
  models: ["mock-model", "mock-model-2"],
});

/** Starts a provider; `port` 0 takes a free one. */
export async function startProvider({ port = 0 } = {}) {
  const provider = new Provider();
  await provider.listen(port);
  return provider;
}

export class Provider {
  /** The requests that it saw: {method, path, format, headers, body, aborted}. */
  requests = [];
  settings = fresh();
  #server;

  /** Starts to listen; `url` is known from then on. */
  async listen(port = 0) {
    this.#server = createServer((request, response) => {
      this.handle(request, response).catch((error) => {
        if (!response.headersSent) {
          response.writeHead(500, { "content-type": "text/plain" });
        }
        response.end(`the test's provider failed: ${error?.stack}`);
      });
    });
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${this.#server.address().port}`;
  }

  async close() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Ends all connections, as if the network were gone. */
  cut() {
    this.#server.closeAllConnections();
  }

  /** Tells it what to say; what is left out stays as it was. */
  tell(settings) {
    Object.assign(this.settings, settings);
  }

  /** Forgets what it was told and what it saw. */
  reset() {
    this.requests = [];
    this.settings = fresh();
  }

  /** The base URL for a format: "chat", "responses", "anthropic", "gemini", "mistral". */
  base(format) {
    const paths = { chat: "/openai/v1", responses: "/openai/v1", mistral: "/mistral/v1" };
    return this.url + (paths[format] ?? `/${format}`);
  }

  async handle(request, response) {
    const path = request.url.split("?")[0];
    if (path === "/control") {
      return this.control(request, response);
    }
    if (!this.lets(request, response)) {
      return;
    }
    const body = await read(request);
    const format = formatOf(path);
    const seen = { method: request.method, path: request.url, format, headers: request.headers, body: parsed(body), aborted: false };
    this.requests.push(seen);
    response.on("close", () => {
      seen.aborted = !response.writableFinished;
    });
    if (this.settings.key && keyOf(request) !== this.settings.key) {
      const { status, body } = refusal(format, keyOf(request));
      return send(response, format, { status, body }, { streamed: false });
    }
    if (request.method === "GET") {
      return send(response, format, { body: models(format, this.settings.models) }, { streamed: false });
    }
    const reply = this.next(body);
    const streamed = seen.body?.stream === true || path.endsWith(":streamGenerateContent");
    await send(response, format, replyOf(format, reply, seen.body, streamed), { streamed });
  }

  /** The reply to a request with this body. */
  next(body) {
    const rule = this.settings.rules.find(({ when }) => body.includes(when));
    return rule?.reply ?? this.settings.script.shift() ?? this.settings.otherwise;
  }

  /** Sets what lets pages in; answers preflights itself, and says so. */
  lets(request, response) {
    const isPreflight = request.method === "OPTIONS";
    if (this.settings.cors !== "none" && !(isPreflight && this.settings.cors === "no-preflight")) {
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-methods", "GET, POST, OPTIONS");
      response.setHeader("access-control-allow-headers", allowedHeaders(request));
      response.setHeader("access-control-expose-headers", this.settings.exposes ?? "");
    }
    if (isPreflight) {
      response.writeHead(204).end();
    }
    return !isPreflight;
  }

  async control(request, response) {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-methods", "GET, PUT, DELETE");
    response.setHeader("access-control-allow-headers", "content-type");
    if (request.method === "PUT") {
      this.tell(JSON.parse(await read(request)));
    } else if (request.method === "DELETE") {
      this.reset();
    }
    const state = { requests: this.requests, left: this.settings.script.length };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(state));
  }
}

/** Mistral lets pages send these headers and no others. */
function allowedHeaders(request) {
  if (formatOf(request.url) === "mistral") {
    return "authorization, content-type, accept";
  }
  return request.headers["access-control-request-headers"] ?? "*";
}

function keyOf({ headers }) {
  const bearer = headers.authorization?.replace(/^Bearer /, "");
  return bearer ?? headers["x-api-key"] ?? headers["x-goog-api-key"] ?? "";
}

async function read(request) {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const place = process.argv.indexOf("--port");
  const provider = await startProvider({ port: place > 0 ? Number(process.argv[place + 1]) : 0 });
  console.log(JSON.stringify({ url: provider.url }));
}
