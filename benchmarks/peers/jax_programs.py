"""For JAX."""

_START = """
import numpy as np, jax, jax.numpy as jnp
from jax import lax
rng = np.random.default_rng(0)
f32 = lambda *shape: jnp.asarray(rng.normal(size=shape).astype('float32'))
"""

PROGRAMS = {
    "W1": (
        _START
        + """
data, mu, log_sigma = f32(10000), jnp.float32(0.1), jnp.float32(0.2)
def loss(mu, log_sigma, data):
    z = (data - mu) / jnp.exp(log_sigma)
    return jnp.mean(0.5 * z * z + log_sigma)
step = jax.jit(jax.value_and_grad(loss, (0, 1)))
""",
        "jax.block_until_ready(step(mu, log_sigma, data))",
    ),
    "W3": (
        _START
        + """
sizes = [13, 32, 32, 1]
weights = [v for n, m in zip(sizes, sizes[1:]) for v in (f32(n, m), jnp.zeros(m))]
m1 = [jnp.zeros_like(w) for w in weights]; m2 = [jnp.zeros_like(w) for w in weights]
count, x, y = jnp.float32(0), f32(1, 13), f32(1, 1)
def loss(weights, x, y):
    h = x
    for i in range(0, 6, 2):
        h = h @ weights[i] + weights[i + 1]
        if i < 4:
            h = jax.nn.relu(h)
    return jnp.mean((h - y) ** 2)
def step(weights, m1, m2, count, x, y):
    value, grads = jax.value_and_grad(loss)(weights, x, y)
    count = count + 1
    rate = 0.001 * jnp.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
    m1 = [0.9 * a + 0.1 * g for a, g in zip(m1, grads)]
    m2 = [0.999 * b + 0.001 * g * g for b, g in zip(m2, grads)]
    weights = [w - rate * a / (jnp.sqrt(b) + 1e-7) for w, a, b in zip(weights, m1, m2)]
    return weights, m1, m2, count, value
step = jax.jit(step, donate_argnums=(0, 1, 2, 3))
state = (weights, m1, m2, count)
def run():
    global state
    *new, value = step(*state, x, y)
    state = tuple(new)
    value.block_until_ready()
""",
        "run()",
    ),
    "W4": (
        _START + "step = jax.jit(lambda x: x + 1.0); x = jnp.float32(2)",
        "step(x).block_until_ready()",
    ),
    "W7": (
        _START
        + """
x = jnp.ones(16, 'float32')
def loop(x):
    body = lambda c: (c[0] + 1, jnp.tanh(c[1]) * 1.01)
    return lax.while_loop(lambda c: c[0] < 1000, body, (0, x))[1]
step = jax.jit(loop)
""",
        "step(x).block_until_ready()",
    ),
    "W8": (
        _START
        + """
x = f32(1000000)
step = jax.jit(lambda x: jnp.sum(jnp.exp(x) * jnp.sin(x) + jnp.tanh(x) * jnp.log(jnp.abs(x) + 1)))
""",
        "step(x).block_until_ready()",
    ),
    "W9": (
        _START
        + """
xs, w, u, b = f32(50, 8, 16), f32(16, 32) / 4, f32(32, 32) / 6, jnp.zeros(32)
def loss(w, u, b, xs):
    h, _ = lax.scan(lambda h, x: (jnp.tanh(x @ w + h @ u + b), None), jnp.zeros((8, 32)), xs)
    return jnp.sum(h * h)
step = jax.jit(jax.value_and_grad(loss, (0, 1, 2)))
""",
        "jax.block_until_ready(step(w, u, b, xs))",
    ),
    "300 variables": (
        _START
        + """
state = [jnp.ones(7) for _ in range(300)]
step = jax.jit(lambda s, vs: [v - s * v * 0.1 for v in vs], donate_argnums=1)
scale = jnp.float32(1e-6)
def run():
    global state
    state = step(scale, state)
    jax.block_until_ready(state)
""",
        "run()",
    ),
    "transformer": (
        _START
        + """
d, heads = 128, 4
x = f32(4, 128, d)
p = [f32(d, 3 * d) / 11, f32(d, d) / 11, f32(d, 4 * d) / 11, f32(4 * d, d) / 22]
def norm(x):
    m = jnp.mean(x, -1, keepdims=True)
    v = jnp.mean((x - m) ** 2, -1, keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-5)
def loss(p, x):
    q, k, v = jnp.split(norm(x) @ p[0], 3, -1)
    cut = lambda t: jnp.transpose(jnp.reshape(t, (4, 128, heads, d // heads)), (0, 2, 1, 3))
    q, k, v = cut(q), cut(k), cut(v)
    a = jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / 5.656854, -1)
    o = jnp.reshape(jnp.transpose(a @ v, (0, 2, 1, 3)), (4, 128, d))
    h = x + o @ p[1]
    h = h + jax.nn.relu(norm(h) @ p[2]) @ p[3]
    return jnp.mean(h * h)
step = jax.jit(jax.value_and_grad(loss))
""",
        "jax.block_until_ready(step(p, x))",
    ),
}
