// What a reply says, in the words of each format.
//
// A reply: {text, thinking, signature, calls: [{id, name, arguments}], refusal, finish, usage: {prompt, completion,
// cached, reasoning}, model} plus what faults.mjs reads. `arguments` may be a text that is no JSON; `id` and
// `name` may be null, then they are left out. `finish` is "stop", "calls", "length" or "filter"; without it, it
// follows from the calls. `piece` is how many characters a delta has (4). `raw` is sent as it is instead.

/** The format that is spoken at a path. */
export function formatOf(path) {
  if (path.startsWith("/mistral")) return "mistral";
  if (path.startsWith("/anthropic") || path.includes("/messages")) return "anthropic";
  if (path.startsWith("/gemini") || path.includes("/v1beta/")) return "gemini";
  return path.includes("/responses") ? "responses" : "chat";
}

/** A reply with what it is to send: `body` if whole, `events` (objects or texts) if streamed. */
export function replyOf(format, reply, request, streamed) {
  if (reply.raw !== undefined || reply.body !== undefined || reply.status >= 400) {
    return { ...reply, body: reply.body ?? reply.raw ?? errorBody(format, reply) };
  }
  const said = {
    text: reply.text ?? null,
    thinking: reply.thinking ?? null,
    signature: reply.signature ?? "c2lnbmF0dXJl",
    refusal: reply.refusal ?? null,
    calls: (reply.calls ?? []).map((call, place) => ({
      id: call.id === undefined ? madeId(format, place) : call.id,
      name: call.name,
      arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {}),
    })),
    usage: { prompt: 20, completion: 10, cached: 0, reasoning: 0, ...reply.usage },
    model: reply.model ?? request?.model ?? "mock-model",
    choices: reply.choices ?? 1,
    piece: reply.piece ?? 4,
  };
  said.finish = reply.finish ?? (said.calls.length > 0 ? "calls" : "stop");
  const speak = FORMATS[format];
  return { ...reply, ...(streamed ? { events: speak.events(said) } : { body: speak.whole(said) }) };
}

let made = 0;

function madeId(format, place) {
  made += 1;
  const number = String(made * 10 + place);
  return format === "mistral" ? number.padStart(9, "m") : `call_${number}`;
}

/** A text in pieces. Characters beyond the first plane are not cut: JSON could not hold half of one. */
function pieces(text, length) {
  const characters = [...(text ?? "")];
  const found = [];
  for (let start = 0; start < characters.length; start += length) {
    found.push(characters.slice(start, start + length).join(""));
  }
  return found;
}

function object(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Without the fields that are null or undefined. */
function given(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

const CHAT_FINISH = { stop: "stop", calls: "tool_calls", length: "length", filter: "content_filter" };

/** Chat Completions; Mistral's differ in the form of thinking and in naming no refusal. */
function chat(isMistral) {
  const usage = (said) => ({
    prompt_tokens: said.usage.prompt,
    completion_tokens: said.usage.completion,
    total_tokens: said.usage.prompt + said.usage.completion,
    prompt_tokens_details: { cached_tokens: said.usage.cached },
    completion_tokens_details: { reasoning_tokens: said.usage.reasoning },
  });
  const thinks = (thinking) =>
    isMistral
      ? { content: [{ type: "thinking", thinking: [{ type: "text", text: thinking }] }] }
      : { reasoning_content: thinking };
  const head = (said, kind) => ({ id: "chatcmpl-mock", object: kind, created: 1794787200, model: said.model });
  const call = (call, index) => ({
    ...given({ id: call.id }),
    index,
    type: "function",
    function: given({ name: call.name, arguments: call.arguments }),
  });
  return {
    whole(said) {
      let content = said.text;
      if (isMistral && said.thinking) {
        content = [...thinks(said.thinking).content, { type: "text", text: said.text ?? "" }];
      }
      const message = {
        role: "assistant",
        content,
        ...(said.thinking && !isMistral ? thinks(said.thinking) : {}),
        ...given({ refusal: said.refusal }),
        ...(said.calls.length > 0 ? { tool_calls: said.calls.map(call) } : {}),
      };
      const choice = (index) => ({ index, message, finish_reason: CHAT_FINISH[said.finish] ?? said.finish });
      const choices = Array.from({ length: said.choices }, (_, index) => choice(index));
      return { ...head(said, "chat.completion"), choices, usage: usage(said) };
    },
    events(said) {
      const chunk = (delta, finish_reason = null, more = {}) => ({
        ...head(said, "chat.completion.chunk"),
        choices: Array.from({ length: said.choices }, (_, index) => ({ index, delta, finish_reason })),
        ...more,
      });
      const events = [chunk({ role: "assistant", content: "" })];
      events.push(...pieces(said.thinking, said.piece).map((piece) => chunk(thinks(piece))));
      events.push(...pieces(said.text, said.piece).map((piece) => chunk({ content: piece })));
      events.push(...pieces(said.refusal, said.piece).map((piece) => chunk({ refusal: piece })));
      said.calls.forEach((called, index) => {
        events.push(chunk({ tool_calls: [call({ ...called, arguments: "" }, index)] }));
        for (const piece of pieces(called.arguments, said.piece)) {
          events.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
        }
      });
      events.push(chunk({}, CHAT_FINISH[said.finish] ?? said.finish));
      events.push({ ...head(said, "chat.completion.chunk"), choices: [], usage: usage(said) });
      return [...events, "[DONE]"];
    },
  };
}

const responses = {
  output(said) {
    const message = (part) => ({ id: "msg_mock", type: "message", role: "assistant", status: "completed", content: [part] });
    const items = [];
    if (said.thinking) {
      const summary = [{ type: "summary_text", text: said.thinking }];
      items.push({ id: "rs_mock", type: "reasoning", summary, encrypted_content: said.signature });
    }
    if (said.text) items.push(message({ type: "output_text", text: said.text, annotations: [] }));
    if (said.refusal) items.push(message({ type: "refusal", refusal: said.refusal }));
    said.calls.forEach((call, place) => {
      const fields = given({ call_id: call.id, name: call.name, arguments: call.arguments });
      items.push({ id: `fc_mock${place}`, type: "function_call", status: "completed", ...fields });
    });
    return items;
  },
  whole(said) {
    const cut = { length: "max_output_tokens", filter: "content_filter" }[said.finish];
    return {
      id: "resp_mock",
      object: "response",
      created_at: 1794787200,
      status: cut ? "incomplete" : "completed",
      error: null,
      incomplete_details: cut ? { reason: cut } : null,
      model: said.model,
      output: responses.output(said),
      usage: {
        input_tokens: said.usage.prompt,
        input_tokens_details: { cached_tokens: said.usage.cached },
        output_tokens: said.usage.completion,
        output_tokens_details: { reasoning_tokens: said.usage.reasoning },
        total_tokens: said.usage.prompt + said.usage.completion,
      },
    };
  },
  events(said) {
    const events = [];
    const add = (type, fields) => events.push({ type, sequence_number: events.length, ...fields });
    const whole = responses.whole(said);
    add("response.created", { response: { ...whole, status: "in_progress", output: [], usage: null } });
    responses.output(said).forEach((item, output_index) => {
      const at = { item_id: item.id, output_index };
      add("response.output_item.added", { output_index, item: { ...item, arguments: item.arguments && "" } });
      const stream = (type, text, more) => {
        pieces(text, said.piece).forEach((delta) => add(type, { ...at, ...more, delta }));
      };
      if (item.type === "reasoning") stream("response.reasoning_summary_text.delta", said.thinking, { summary_index: 0 });
      if (item.content?.[0].text) stream("response.output_text.delta", item.content[0].text, { content_index: 0 });
      if (item.content?.[0].refusal) stream("response.refusal.delta", said.refusal, { content_index: 0 });
      if (item.type === "function_call") stream("response.function_call_arguments.delta", item.arguments);
      add("response.output_item.done", { output_index, item });
    });
    add(`response.${whole.status}`, { response: whole });
    return events;
  },
};

const ANTHROPIC_FINISH = { stop: "end_turn", calls: "tool_use", length: "max_tokens", filter: "refusal" };

const anthropic = {
  usage: (said) => ({
    input_tokens: said.usage.prompt - said.usage.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: said.usage.cached,
    output_tokens: said.usage.completion,
  }),
  whole(said) {
    const content = [];
    if (said.thinking) content.push({ type: "thinking", thinking: said.thinking, signature: said.signature });
    if (said.text ?? said.refusal) content.push({ type: "text", text: said.text ?? said.refusal });
    content.push(...said.calls.map((call) => ({ type: "tool_use", ...given({ id: call.id, name: call.name }), input: object(call.arguments) })));
    const stop_reason = ANTHROPIC_FINISH[said.finish] ?? said.finish;
    const head = { id: "msg_mock", type: "message", role: "assistant", model: said.model };
    return { ...head, content, stop_reason, stop_sequence: null, usage: anthropic.usage(said) };
  },
  events(said) {
    const whole = anthropic.whole(said);
    const started = { ...whole, content: [], stop_reason: null, usage: { ...whole.usage, output_tokens: 1 } };
    const events = [{ type: "message_start", message: started }, { type: "ping" }];
    let called = 0;
    whole.content.forEach((block, index) => {
      const deltas = [];
      let start = block;
      if (block.type === "text") {
        start = { ...block, text: "" };
        deltas.push(...pieces(block.text, said.piece).map((text) => ({ type: "text_delta", text })));
      } else if (block.type === "thinking") {
        start = { ...block, thinking: "", signature: "" };
        deltas.push(...pieces(block.thinking, said.piece).map((thinking) => ({ type: "thinking_delta", thinking })));
        deltas.push({ type: "signature_delta", signature: block.signature });
      } else {
        start = { ...block, input: {} };
        const text = said.calls[called++].arguments;
        deltas.push(...pieces(text, said.piece).map((partial_json) => ({ type: "input_json_delta", partial_json })));
      }
      events.push({ type: "content_block_start", index, content_block: start });
      events.push(...deltas.map((delta) => ({ type: "content_block_delta", index, delta })));
      events.push({ type: "content_block_stop", index });
    });
    const { stop_reason, stop_sequence, usage } = whole;
    events.push({ type: "message_delta", delta: { stop_reason, stop_sequence }, usage });
    return [...events, { type: "message_stop" }];
  },
};

const GEMINI_FINISH = { stop: "STOP", calls: "STOP", length: "MAX_TOKENS", filter: "SAFETY" };

const gemini = {
  answer(said, parts, finish) {
    const candidate = (index) => ({
      content: { role: "model", parts },
      index,
      ...(finish ? { finishReason: GEMINI_FINISH[finish] ?? finish } : {}),
    });
    return {
      candidates: Array.from({ length: said.choices }, (_, index) => candidate(index)),
      usageMetadata: {
        promptTokenCount: said.usage.prompt,
        candidatesTokenCount: said.usage.completion - said.usage.reasoning,
        thoughtsTokenCount: said.usage.reasoning,
        cachedContentTokenCount: said.usage.cached,
        totalTokenCount: said.usage.prompt + said.usage.completion,
      },
      modelVersion: said.model,
    };
  },
  calls: (said) =>
    said.calls.map((call, place) => ({
      functionCall: { ...given({ id: call.id, name: call.name }), args: object(call.arguments) },
      ...(place === 0 ? { thoughtSignature: said.signature } : {}),
    })),
  whole(said) {
    const parts = [];
    if (said.thinking) parts.push({ text: said.thinking, thought: true });
    if (said.text ?? said.refusal) parts.push({ text: said.text ?? said.refusal });
    return gemini.answer(said, [...parts, ...gemini.calls(said)], said.finish);
  },
  events(said) {
    const parts = [
      ...pieces(said.thinking, said.piece).map((text) => ({ text, thought: true })),
      ...pieces(said.text ?? said.refusal, said.piece).map((text) => ({ text })),
      ...gemini.calls(said),
    ];
    return [...parts.map((part) => gemini.answer(said, [part])), gemini.answer(said, [{ text: "" }], said.finish)];
  },
};

const FORMATS = { chat: chat(false), mistral: chat(true), responses, anthropic, gemini };

/** The body of an error: {status, message, code}. */
export function errorBody(format, { status, message = "A fault was asked for.", code = "fault" }) {
  if (format === "anthropic") return { type: "error", error: { type: code, message }, request_id: "req_mock" };
  if (format === "gemini") return { error: { code: status, message, status: code } };
  if (format === "mistral") return { object: "error", message, type: code, param: null, code: null };
  return { error: { message, type: code, param: null, code } };
}

/** How a format's provider refuses a key. */
export function refusal(format, key) {
  const gives = (status, message, code) => ({ status, body: errorBody(format, { status, message, code }) });
  if (format === "gemini") return gives(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT");
  if (format === "anthropic") return gives(401, "invalid x-api-key", "authentication_error");
  if (format === "mistral") return { status: 401, body: { detail: "Unauthorized" } };
  return gives(401, `Incorrect API key provided: ${key}.`, "invalid_api_key");
}

/** A list of models. */
export function models(format, names) {
  if (format === "gemini") {
    return { models: names.map((name) => ({ name: `models/${name}`, supportedGenerationMethods: ["generateContent"] })) };
  }
  return { object: "list", data: names.map((id) => ({ id, object: "model", type: "model" })) };
}
