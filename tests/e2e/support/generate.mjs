// A local server with SGLang's /generate endpoint. Its tokens are bytes and the delimiters of ChatML, as in
// `byteTokenizer` of tokens.mjs.
//
// `script` is consumed in order. A turn is a text, a function from the prompt to a text, or a fault:
//   {html: true}, {body: ""}, {status: 503}, {abort: "why"}, {text, finish: "length"}, {text, ids: [..]}

import { once } from "node:events";
import { createServer } from "node:http";

import { encode } from "./tokens.mjs";

const END = "<|im_end|>";
const PAGE = "<!doctype html><title>Sign in</title><h1>Sign in</h1>";

/** A tool call as Qwen2.5 writes it. */
export const call = (name, args) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

/** The text of the last tool response in a prompt. */
export const lastResponse = (prompt) => prompt.split("<tool_response>\n").at(-1).split("\n</tool_response>")[0];

export class GenerateServer {
  requests = [];
  script = [];
  #server;

  async listen() {
    this.#server = createServer((request, response) => this.#handle(request, response));
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${this.#server.address().port}`;
  }

  async close() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  reset(...script) {
    this.requests = [];
    this.script = script;
  }

  async #handle(request, response) {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-allow-methods", "GET, POST, OPTIONS");
    response.setHeader("access-control-allow-headers", "authorization, content-type");
    if (request.method === "OPTIONS") return response.writeHead(204).end();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const json = (body) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url === "/v1/models") return json({ object: "list", data: [{ id: "Qwen/Qwen2.5-7B-Instruct" }] });
    if (request.url !== "/generate") return response.writeHead(404).end("Not Found");
    const body = JSON.parse(Buffer.concat(chunks).toString());
    this.requests.push(body);
    const turn = this.script.shift() ?? "Nothing is left in the script.";
    const said = typeof turn === "function" ? turn(body.text) : turn;
    const { text, ids, finish = "stop", ...fault } = typeof said === "string" ? { text: said + END } : said;
    if (fault.html) return response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
    if (fault.body !== undefined) return response.writeHead(200, { "content-type": "application/json" }).end(fault.body);
    if (fault.status) return response.writeHead(fault.status).end("failed");
    const sampled = ids ?? encode(text ?? "");
    const reasons = {
      stop: { type: "stop", matched: 257 },
      length: { type: "length", length: sampled.length },
    };
    json({
      text: text ?? "",
      output_ids: sampled,
      meta_info: {
        id: "r",
        finish_reason: fault.abort ? { type: "abort", message: fault.abort, status_code: 503 } : reasons[finish],
        prompt_tokens: body.input_ids?.length ?? encode(body.text).length,
        completion_tokens: sampled.length,
        cached_tokens: 0,
        weight_version: "w1",
        output_token_logprobs: body.return_logprob ? sampled.map((id) => [-0.25, id, null]) : undefined,
      },
    });
  }
}
