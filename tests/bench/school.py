# The school's loop in PyTorch on one thread: the same network, warm start, tasks, batch, sampling with a key-value cache, GRPO and
# Adam. `school.py WARM_START UPDATES` prints one JSON object. The environment is a few lines of Python, which costs less than a real
# one, and groups without an advantage are left out of the backward pass, as in Volary.

import json
import random
import re
import struct
import sys
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
ALPHABET = "0123456789+-*?=c)>;a.!"
VOCABULARY, CONTEXT, WIDTH, HEADS, LAYERS = 22, 34, 32, 4, 2
PROMPTS, GROUP = 16, 8
CALL, ANSWER = re.compile(r"c([0-9+\-*]+)\)"), re.compile(r"a(-?[0-9]+)\.")


def shapes():
    yield "token", (VOCABULARY, WIDTH)
    yield "position", (CONTEXT, WIDTH)
    for layer in range(LAYERS):
        yield f"{layer}.norm1", (1, WIDTH)
        yield f"{layer}.qkv", (WIDTH, 3 * WIDTH)
        yield f"{layer}.out", (WIDTH, WIDTH)
        yield f"{layer}.norm2", (1, WIDTH)
        yield f"{layer}.up", (WIDTH, 4 * WIDTH)
        yield f"{layer}.down", (4 * WIDTH, WIDTH)
    yield "norm", (1, WIDTH)


def read(path):
    data = open(path, "rb").read()[16:]
    rows = sum(shape[0] for _, shape in shapes())
    scales = iter(struct.unpack(f"<{rows}f", data[: 4 * rows]))
    place, weights = 4 * rows, {}
    for name, (count, columns) in shapes():
        steps = torch.frombuffer(bytearray(data[place : place + count * columns]), dtype=torch.int8)
        place += count * columns
        scale = torch.tensor([next(scales) for _ in range(count)])
        tensor = steps.reshape(count, columns).float() * scale[:, None]
        weights[name] = tensor.squeeze(0).clone().requires_grad_()
    return weights


def norm(x, gain):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * gain


def attention(q, k, v, is_causal):
    # Debian 12 has torch 1.13, which does not fuse these yet.
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if is_causal:
        n = q.shape[-2]
        scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), float("-inf"))
    return scores.softmax(-1) @ v


def forward(w, tokens, start, cache):
    """Logits of tokens [batch, n] at positions [batch, n]; with a cache, n is 1."""
    batch, n = tokens.shape
    x = w["token"][tokens] + w["position"][start : start + n]
    for layer in range(LAYERS):
        parts = (norm(x, w[f"{layer}.norm1"]) @ w[f"{layer}.qkv"]).view(batch, n, 3, HEADS, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        if cache is not None:
            keys, values = cache[layer]
            keys[:, :, start : start + n], values[:, :, start : start + n] = k, v
            k, v = keys[:, :, : start + n], values[:, :, : start + n]
        attended = attention(q, k, v, n > 1)
        x = x + attended.transpose(1, 2).reshape(batch, n, WIDTH) @ w[f"{layer}.out"]
        x = x + F.relu(norm(x, w[f"{layer}.norm2"]) @ w[f"{layer}.up"]) @ w[f"{layer}.down"]
    return norm(x, w["norm"]) @ w["token"].T


class Episode:
    def __init__(self, prompt, answer):
        self.text, self.answer, self.turn, self.unread = prompt, answer, "", ""
        self.mask, self.reward, self.done = [False] * len(prompt), 0.0, False

    def read(self, character, is_sampled):
        self.text += character
        self.mask.append(is_sampled)
        if is_sampled:
            self.turn += character
            if found := CALL.fullmatch(self.turn):
                try:
                    result = str(eval(found[1]))
                except Exception:
                    result = "!"
                self.unread, self.turn = f">{result if len(result) <= 8 else '!'};", ""
            elif found := ANSWER.fullmatch(self.turn):
                self.reward, self.done = float(int(found[1]) == self.answer), True
            elif not re.fullmatch(r"c[0-9+\-*]*|a[0-9\-]*", self.turn):
                self.done = True
        self.done |= len(self.text) >= CONTEXT


def task(draw):
    number = lambda: draw.randint(0, 9) if draw.random() < 1 / 8 else draw.randint(10, 99)
    expression = f"{number()}{draw.choice('+-*')}{number()}"
    return f"?{expression}=", eval(re.sub(r"\b0+(\d)", r"\1", expression))


@torch.no_grad()
def sample(w, draw):
    episodes = [Episode(*t) for t in (task(draw) for _ in range(PROMPTS)) for _ in range(GROUP)]
    empty = lambda: torch.zeros(len(episodes), HEADS, CONTEXT, WIDTH // HEADS)
    cache = [(empty(), empty()) for _ in range(LAYERS)]
    # All advance together by position; those with a longer prompt read it while others already write.
    prompts = [e.text for e in episodes]
    for e in episodes:
        e.text, e.mask = "", []
    tokens = torch.tensor([ALPHABET.index(p[0]) for p in prompts])
    for e, p in zip(episodes, prompts):
        e.text, e.mask = p[0], [False]
    for position in range(CONTEXT - 1):
        logits = forward(w, tokens[:, None], position, cache)[:, 0]
        drawn = torch.multinomial(logits.softmax(-1), 1)[:, 0].tolist()
        following = []
        for e, p, token in zip(episodes, prompts, drawn):
            if e.done:
                following.append(0)
                continue
            if position + 1 < len(p):
                character, is_sampled = p[position + 1], False
            elif e.unread:
                character, is_sampled = e.unread[0], False
                e.unread = e.unread[1:]
            else:
                character, is_sampled = ALPHABET[token], True
            e.read(character, is_sampled)
            following.append(ALPHABET.index(character))
        if all(e.done for e in episodes):
            break
        tokens = torch.tensor(following)
    return episodes


def update(w, optimizer, draw):
    episodes = sample(w, draw)
    rewards = torch.tensor([e.reward for e in episodes]).view(PROMPTS, GROUP)
    advantages = ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-6)).view(-1)
    total = sum(sum(e.mask) for e in episodes)
    taught = [i for i, e in enumerate(episodes) if advantages[i] != 0]
    optimizer.zero_grad()
    if taught:
        longest = max(len(episodes[i].text) for i in taught)
        tokens = torch.tensor([[ALPHABET.index(c) for c in episodes[i].text.ljust(longest, "!")] for i in taught])
        mask = torch.tensor([episodes[i].mask + [False] * (longest - len(episodes[i].mask)) for i in taught])
        log_probs = forward(w, tokens[:, :-1], 0, None).log_softmax(-1).gather(2, tokens[:, 1:, None])[..., 0]
        ratio = (log_probs - log_probs.detach()).exp()
        a = advantages[taught][:, None]
        loss = -torch.minimum(ratio * a, ratio.clamp(0.8, 1.2) * a)
        (loss * mask[:, 1:]).sum().div(total).backward()
    optimizer.step()
    return sum(e.reward for e in episodes) / len(episodes)


def main(path, updates):
    w, draw = read(path), random.Random(1)
    torch.manual_seed(1)
    optimizer = torch.optim.Adam(w.values(), lr=1e-3)
    update(w, optimizer, draw)
    start = time.perf_counter()
    successes = [update(w, optimizer, draw) for _ in range(updates)]
    seconds = time.perf_counter() - start
    print(json.dumps({"updates_per_second": updates / seconds, "success": successes[-1]}))


main(sys.argv[1], int(sys.argv[2]))
