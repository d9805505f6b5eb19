// Rollouts of slime with tokens, and a tokenizer for bytes and the delimiters of ChatML.

export const SPECIALS = ["<|im_start|>", "<|im_end|>"];

/** The letters that stand for bytes in byte-level vocabularies. */
function letters() {
  const printable = (byte) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++));
}

/** A `tokenizer.json` whose ids are bytes, moved by `shift`, and 256 and above for the marks. */
export function byteTokenizer(shift = 0) {
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: true };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIALS.map((content, place) => ({
      id: 256 + place,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: "",
      end_of_word_suffix: "",
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries(letters().map((letter, byte) => [letter, (byte + shift) % 256])),
      merges: [],
    },
  };
}

/** The ids of a text. */
export function encode(text) {
  const parts = text.split(/(<\|im_start\|>|<\|im_end\|>)/);
  return parts.flatMap((part) => {
    const special = SPECIALS.indexOf(part);
    return special >= 0 ? [256 + special] : [...Buffer.from(part)];
  });
}

/** A sample of slime, with the header of each turn but the first in its tokens. */
export function rollout(turns) {
  const prompt = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhere is order 7?<|im_end|>\n<|im_start|>assistant\n";
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Where is order 7?" },
  ];
  const [tokens, mask] = [encode(prompt), []];
  const add = (text, trained) => {
    const ids = encode(text);
    tokens.push(...ids);
    mask.push(...ids.map(() => trained));
  };
  turns.forEach(({ says, tool, user }, place) => {
    if (place > 0) add("<|im_start|>assistant\n", 0);
    add(`${says}<|im_end|>\n`, 1);
    messages.push({ role: "assistant", content: says });
    if (tool !== undefined) {
      add(`<|im_start|>user\n<tool_response>\n${tool}\n</tool_response><|im_end|>\n`, 0);
      messages.push({ role: "tool", name: "find", content: tool });
    } else {
      add(`<|im_start|>user\n${user}<|im_end|>\n`, 0);
      messages.push({ role: "user", content: user });
    }
  });
  return {
    index: 7,
    prompt,
    messages,
    response: turns.map(({ says }) => says).join(""),
    tokens,
    loss_mask: mask,
    response_length: mask.length,
    rollout_log_probs: mask.map((trained) => (trained ? -0.25 : 0)),
    reward: 1,
    status: "completed",
  };
}
