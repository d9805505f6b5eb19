// How a reply is sent, and how that can go wrong. A reply may say, beside what formats.mjs reads:
//
// - status, headers, retry_after (a header, in seconds), message, code: an error, or another success;
// - delay: milliseconds before anything is sent; pace: milliseconds between events;
// - hang: "before" (nothing comes, ever), "within" (the first half comes, then nothing);
// - cut: "event" (the connection ends within an event), "character" (within a character of several bytes),
//   "between" (after a whole event), or a number of bytes;
// - duplicate: every event with content comes twice; reorder: neighbours swap places;
// - error: {message, code}: reported in the middle of a stream, or in a whole reply with a success status;
// - html: a web page instead; type: another content type; bytes: so many bytes of text are added;
// - no_end: the mark that ends the stream is left out; comments: comment lines between events;
// - crlf: lines end in CR LF; choices: how many there are (formats.mjs).

import { errorBody } from "./formats.mjs";

const PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>";

/** Sends a reply as it wants to be sent. */
export async function send(response, format, reply, { streamed }) {
  await sleep(reply.delay ?? 0);
  if (reply.hang === "before") {
    return;
  }
  const headers = { ...reply.headers };
  if (reply.retry_after !== undefined) {
    headers["retry-after"] = String(reply.retry_after);
  }
  if (reply.html) {
    response.writeHead(reply.status ?? 200, { "content-type": "text/html", ...headers }).end(PAGE);
    return;
  }
  if (streamed && reply.events) {
    const type = reply.type ?? "text/event-stream; charset=utf-8";
    response.writeHead(reply.status ?? 200, { "content-type": type, "cache-control": "no-store", ...headers });
    return stream(response, format, reply);
  }
  const body = reply.error && !(reply.status >= 400) ? errorBody(format, { status: 500, ...reply.error }) : reply.body;
  const bytes = Buffer.from(padded(typeof body === "string" ? body : JSON.stringify(body), reply.bytes));
  const type = reply.type ?? (typeof body === "string" ? "text/plain" : "application/json");
  response.writeHead(reply.status ?? 200, { "content-type": type, ...headers });
  const end = cutAt(bytes, reply.cut) ?? (reply.hang === "within" ? bytes.length >> 1 : bytes.length);
  await write(response, bytes.subarray(0, end));
  finish(response, reply);
}

async function stream(response, format, reply) {
  const events = arranged(format, reply);
  const half = Math.ceil(events.length / 2);
  const kept = reply.hang === "within" || reply.cut === "between" ? events.slice(0, half) : events;
  const texts = kept.map((event) => framed(format, event, reply));
  if (reply.cut !== undefined && reply.cut !== "between") {
    const bytes = Buffer.from(texts.join(""));
    await write(response, bytes.subarray(0, cutAt(bytes, reply.cut)));
    return finish(response, reply);
  }
  if (reply.bytes) {
    texts.splice(1, 0, ...bulk(format, reply));
  }
  for (const text of texts) {
    if (response.destroyed) {
      return;
    }
    await write(response, text);
    await sleep(reply.pace ?? 0);
  }
  finish(response, reply);
}

/** The events in the order and number in which they are sent. */
function arranged(format, reply) {
  let events = reply.events;
  if (reply.no_end) {
    events = events.filter((event) => event !== "[DONE]" && event.type !== "message_stop");
  }
  const inner = (place) => place > 0 && place < events.length - 3;
  if (reply.duplicate) {
    events = events.flatMap((event, place) => (inner(place) ? [event, event] : [event]));
  }
  if (reply.reorder) {
    events = [...events];
    for (let place = 1; inner(place + 1); place += 2) {
      [events[place], events[place + 1]] = [events[place + 1], events[place]];
    }
  }
  if (reply.error) {
    const error = errorBody(format, { status: 500, ...reply.error });
    const reported = format === "responses" ? { type: "error", ...reply.error } : error;
    events = [...events.slice(0, Math.ceil(events.length / 2)), reported];
  }
  return events;
}

/** An event as it stands in the stream. */
function framed(format, event, reply) {
  const end = reply.crlf ? "\r\n" : "\n";
  const named = ["anthropic", "responses"].includes(format) && event.type;
  const lines = named ? [`event: ${event.type}`] : [];
  lines.push(`data: ${typeof event === "string" ? event : JSON.stringify(event)}`);
  const comment = reply.comments ? `: still here${end}${end}` : "";
  return comment + lines.join(end) + end + end;
}

/** Events that hold so many bytes of text, a megabyte each. */
function bulk(format, reply) {
  const text = "x".repeat(1_000_000);
  const event = {
    chat: { choices: [{ index: 0, delta: { content: text } }] },
    mistral: { choices: [{ index: 0, delta: { content: text } }] },
    responses: { type: "response.output_text.delta", output_index: 0, delta: text },
    anthropic: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    gemini: { candidates: [{ content: { parts: [{ text }] } }] },
  }[format];
  return Array(Math.ceil(reply.bytes / text.length)).fill(framed(format, event, reply));
}

function padded(body, bytes) {
  // White space is JSON, as long as anybody likes to read it.
  return bytes ? `${body.slice(0, 1)}${" ".repeat(bytes)}${body.slice(1)}` : body;
}

/** Where the bytes end. */
function cutAt(bytes, cut) {
  if (typeof cut === "number") {
    return cut;
  }
  if (cut === "character") {
    const place = bytes.findIndex((byte) => byte >= 0xc0);
    if (place < 0) throw new Error("no character of several bytes to cut in");
    return place + 1;
  }
  if (cut === "event") {
    const middle = bytes.indexOf("data: ", bytes.length >> 1);
    return middle < 0 ? bytes.length >> 1 : middle + 12;
  }
  return undefined;
}

function finish(response, reply) {
  if (reply.hang === "within") {
    return;
  }
  if (reply.cut !== undefined) {
    // As a network does: without the end that HTTP has for streams.
    response.socket?.destroySoon();
    return;
  }
  response.end();
}

/** Writes, and waits while nobody reads. */
async function write(response, text) {
  if (!response.write(text)) {
    await new Promise((resolve) => {
      response.once("drain", resolve);
      response.once("close", resolve);
    });
  }
}

function sleep(milliseconds) {
  return milliseconds > 0 ? new Promise((resolve) => setTimeout(resolve, milliseconds)) : undefined;
}
