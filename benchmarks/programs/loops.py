"""Loops: over time, of a fixed length, and until something has converged."""

from __future__ import annotations

from benchmarks.programs.program import Program, Text

# `torch.compile` unrolls Python's loops, a thousand steps of them for minutes: this is its own one.
WHILE = Program(
    key="while",
    title="while loop, 1,000 steps of tanh on 16 numbers",
    data="",
    tf=Text(
        """
x = tf.ones([16])
@tf.function
def step(x):
    i = tf.constant(0)
    while i < 1000:
        x = tf.tanh(x) * 1.01
        i += 1
    return x
""",
        "step(x)",
    ),
    jax=Text(
        """
x = jnp.ones(16, 'float32')
@jax.jit
def step(x):
    body = lambda c: (c[0] + 1, jnp.tanh(c[1]) * 1.01)
    return lax.while_loop(lambda c: c[0] < 1000, body, (0, x))[1]
""",
        "step(x).block_until_ready()",
    ),
    torch=Text(
        """
from torch._higher_order_ops import while_loop
x = torch.ones(16)
@torch.compile
def step(x):
    body = lambda i, x: (i + 1, torch.tanh(x) * 1.01)
    return while_loop(lambda i, x: i < 1000, body, (torch.tensor(0), x))[1]
""",
        "step(x)",
    ),
)

# JAX has no gradients of while loops backwards: more steps than are needed, the last ones idle.
# A loop that depends on data ends a graph in torch: its step is compiled.
NEWTON = Program(
    key="newton",
    title="Newton iteration on 100 numbers and gradient",
    data="numbers = np.linspace(1, 50, 100).astype('float32')",
    tf=Text(
        """
a = tf.constant(numbers)
@tf.function
def step(a):
    with tf.GradientTape() as tape:
        tape.watch(a)
        x = a
        while tf.reduce_max(tf.abs(x * x - a)) > 1e-3:
            x = 0.5 * (x + a / x)
        loss = tf.reduce_sum(x)
    return tape.gradient(loss, a)
""",
        "step(a)",
    ),
    jax=Text(
        """
a = jnp.asarray(numbers)
def loss(a):
    def body(x, _):
        more = jnp.max(jnp.abs(x * x - a)) > 1e-3
        return jnp.where(more, 0.5 * (x + a / x), x), None
    return jnp.sum(lax.scan(body, a, length=16)[0])
step = jax.jit(jax.grad(loss))
""",
        "step(a).block_until_ready()",
    ),
    torch=Text(
        """
a = torch.tensor(numbers, requires_grad=True)
@torch.compile
def more(x, a):
    return torch.max(torch.abs(x * x - a)) > 1e-3
@torch.compile
def body(x, a):
    return 0.5 * (x + a / x)
def step(a):
    x = a
    while more(x.detach(), a.detach()):
        x = body(x, a)
    return torch.autograd.grad(x.sum(), a)[0]
""",
        "step(a)",
    ),
)

RNN = Program(
    key="rnn",
    title="RNN of 50 steps and gradient",
    data="arrays = f32(50, 8, 16), f32(16, 32) / 4, f32(32, 32) / 6, np.zeros(32, 'float32')",
    tf=Text(
        """
xs = tf.constant(arrays[0])
w, u, b = [tf.Variable(v) for v in arrays[1:]]
@tf.function
def step(xs):
    with tf.GradientTape() as tape:
        h = tf.zeros([8, 32])
        for i in tf.range(50):
            h = tf.tanh(tf.matmul(xs[i], w) + tf.matmul(h, u) + b)
        loss = tf.reduce_sum(h * h)
    return loss, tape.gradient(loss, [w, u, b])
""",
        "step(xs)",
    ),
    jax=Text(
        """
xs, w, u, b = [jnp.asarray(v) for v in arrays]
def loss(w, u, b, xs):
    h, _ = lax.scan(lambda h, x: (jnp.tanh(x @ w + h @ u + b), None), jnp.zeros((8, 32)), xs)
    return jnp.sum(h * h)
step = jax.jit(jax.value_and_grad(loss, (0, 1, 2)))
""",
        "jax.block_until_ready(step(w, u, b, xs))",
    ),
    torch=Text(
        """
xs = torch.tensor(arrays[0])
w, u, b = [torch.tensor(v, requires_grad=True) for v in arrays[1:]]
@torch.compile
def loss(xs):
    h = torch.zeros(8, 32)
    for x in xs:
        h = torch.tanh(x @ w + h @ u + b)
    return (h * h).sum()
def step(xs):
    value = loss(xs)
    return value, torch.autograd.grad(value, [w, u, b])
""",
        "step(xs)",
    ),
)

LSTM = Program(
    key="lstm",
    title="LSTM 20x32, batch of 32, forward and backward",
    data="arrays = f32(20, 32, 16), f32(16, 128) / 4, f32(32, 128) / 6, f32(128) / 10",
    tf=Text(
        """
xs = tf.constant(arrays[0])
w, u, b = [tf.Variable(v) for v in arrays[1:]]
@tf.function
def step(xs):
    with tf.GradientTape() as tape:
        h = c = tf.zeros([32, 32])
        outputs = tf.TensorArray(tf.float32, 20)
        for t in tf.range(20):
            gates = tf.matmul(xs[t], w) + tf.matmul(h, u) + b
            i, f, g, o = tf.split(gates, 4, -1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
            outputs = outputs.write(t, h)
        loss = tf.reduce_mean(outputs.stack() ** 2)
    return loss, tape.gradient(loss, [w, u, b])
""",
        "step(xs)",
    ),
    jax=Text(
        """
xs, w, u, b = [jnp.asarray(v) for v in arrays]
def loss(w, u, b, xs):
    def cell(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zeros = jnp.zeros((32, 32))
    return jnp.mean(lax.scan(cell, (zeros, zeros), xs)[1] ** 2)
step = jax.jit(jax.value_and_grad(loss, (0, 1, 2)))
""",
        "jax.block_until_ready(step(w, u, b, xs))",
    ),
    torch=Text(
        """
xs = torch.tensor(arrays[0])
w, u, b = [torch.tensor(v, requires_grad=True) for v in arrays[1:]]
@torch.compile
def loss(xs):
    h = c = torch.zeros(32, 32)
    outputs = []
    for x in xs:
        i, f, g, o = (x @ w + h @ u + b).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        outputs.append(h)
    return (torch.stack(outputs) ** 2).mean()
def step(xs):
    value = loss(xs)
    return value, torch.autograd.grad(value, [w, u, b])
""",
        "step(xs)",
    ),
)
