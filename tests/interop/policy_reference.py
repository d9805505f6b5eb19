"""The network of crates/policy in PyTorch: the loss and all gradients of fixed weights, as JSON on standard output.

`crates/policy/golden/gradients.json` is this output, which the crate's tests compare with their own:

    python tests/interop/policy_reference.py > crates/policy/golden/gradients.json

PyTorch differentiates by itself, so an error in the hand-written backward pass cannot be repeated here. It is no part of
the requirements, because it is large; tests/interop/test_policy.py runs where it is installed.
"""

import json

import torch
import torch.nn.functional as F

VOCABULARY, CONTEXT, WIDTH, HEADS, LAYERS = 11, 9, 16, 2, 2
TEMPERATURE = 0.8
SEQUENCES = [[1, 2, 3, 4, 10], [5, 5], [0, 9, 8, 7, 6, 5, 4, 3, 2, 1]]


def shapes():
    yield "token_embedding", (VOCABULARY, WIDTH)
    yield "position_embedding", (CONTEXT, WIDTH)
    for layer in range(LAYERS):
        yield f"layers.{layer}.attention_norm", (WIDTH,)
        yield f"layers.{layer}.query_key_value", (WIDTH, 3 * WIDTH)
        yield f"layers.{layer}.attention_output", (WIDTH, WIDTH)
        yield f"layers.{layer}.feed_forward_norm", (WIDTH,)
        yield f"layers.{layer}.up", (WIDTH, 4 * WIDTH)
        yield f"layers.{layer}.down", (4 * WIDTH, WIDTH)
    yield "output_norm", (WIDTH,)


def weights():
    """Weights that are computed from their number, so that no file has to hold them."""
    named, start = {}, 0
    for name, shape in shapes():
        count = torch.Size(shape).numel()
        numbers = torch.arange(start, start + count, dtype=torch.int64)
        values = (numbers * 7919 % 2003).double() / 2003 - 0.5
        values = 1 + values * 0.5 if name.endswith("norm") else values
        named[name] = values.reshape(shape).requires_grad_()
        start += count
    return named


def norm(x, gain):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * gain


def logits(w, tokens):
    n = len(tokens)
    x = w["token_embedding"][tokens] + w["position_embedding"][:n]
    for layer in range(LAYERS):
        at = lambda name, layer=layer: w[f"layers.{layer}.{name}"]
        parts = (norm(x, at("attention_norm")) @ at("query_key_value")).split(WIDTH, -1)
        q, k, v = (part.view(n, HEADS, -1).transpose(0, 1) for part in parts)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + attended.transpose(0, 1).reshape(n, WIDTH) @ at("attention_output")
        x = x + F.relu(norm(x, at("feed_forward_norm")) @ at("up")) @ at("down")
    return norm(x, w["output_norm"]) @ w["token_embedding"].T


def reference():
    w = weights()
    log_probs = []
    for sequence in SEQUENCES:
        tokens = torch.tensor(sequence)
        rows = F.log_softmax(logits(w, tokens[:-1]) / TEMPERATURE, -1)
        log_probs.append(rows.gather(1, tokens[1:, None])[:, 0])
    log_probs = torch.cat(log_probs)
    factors = torch.tensor([(i * 5 % 7 - 3) / 3 for i in range(len(log_probs))], dtype=torch.float64)
    loss = (log_probs * factors).sum()
    loss.backward()
    rounded = lambda values: [float(f"{value:.6g}") for value in values.flatten().tolist()]
    return {
        "log_probs": rounded(log_probs.detach()),
        "factors": factors.tolist(),
        "loss": loss.item(),
        "gradients": {name: rounded(value.grad) for name, value in w.items()},
    }


if __name__ == "__main__":
    print(json.dumps(reference(), separators=(",", ":")))
