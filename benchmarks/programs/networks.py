"""Layers and networks: products of matrices, convolutions, and their gradients."""

from __future__ import annotations

from benchmarks.programs.program import Program, Text

DENSE = Program(
    key="dense",
    title="dense layer 128x1024 -> 4096, relu",
    data="batch, matrix, bias = f32(128, 1024), f32(1024, 4096), f32(4096)",
    tf=Text(
        """
x, w, b = tf.constant(batch), tf.constant(matrix), tf.constant(bias)
step = tf.function(lambda x: tf.nn.relu(x @ w + b))
""",
        "step(x)",
    ),
    jax=Text(
        """
x, w, b = jnp.asarray(batch), jnp.asarray(matrix), jnp.asarray(bias)
step = jax.jit(lambda x, w, b: jax.nn.relu(x @ w + b))
""",
        "step(x, w, b).block_until_ready()",
    ),
    torch=Text(
        """
x, w, b = torch.tensor(batch), torch.tensor(matrix), torch.tensor(bias)
step = torch.compile(lambda x: F.relu(x @ w + b))
""",
        "step(x)",
    ),
)

TRANSFORMER = Program(
    key="transformer",
    title="transformer block, forward and backward",
    data="""
d, heads = 128, 4
batch = f32(4, 128, d)
matrices = [f32(d, 3 * d) / 11, f32(d, d) / 11, f32(d, 4 * d) / 11, f32(4 * d, d) / 22]
""",
    tf=Text(
        """
x = tf.constant(batch)
p = [tf.Variable(v) for v in matrices]
def norm(x):
    m = tf.reduce_mean(x, -1, keepdims=True)
    v = tf.reduce_mean((x - m) ** 2, -1, keepdims=True)
    return (x - m) * tf.math.rsqrt(v + 1e-5)
def cut(t):
    return tf.transpose(tf.reshape(t, (4, 128, heads, d // heads)), (0, 2, 1, 3))
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        q, k, v = tf.split(tf.matmul(norm(x), p[0]), 3, -1)
        q, k, v = cut(q), cut(k), cut(v)
        a = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 5.656854, -1)
        o = tf.reshape(tf.transpose(tf.matmul(a, v), (0, 2, 1, 3)), (4, 128, d))
        h = x + tf.matmul(o, p[1])
        h = h + tf.matmul(tf.nn.relu(tf.matmul(norm(h), p[2])), p[3])
        loss = tf.reduce_mean(h * h)
    return loss, tape.gradient(loss, p)
""",
        "step(x)",
    ),
    jax=Text(
        """
x = jnp.asarray(batch)
p = [jnp.asarray(v) for v in matrices]
def norm(x):
    m = jnp.mean(x, -1, keepdims=True)
    v = jnp.mean((x - m) ** 2, -1, keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-5)
def cut(t):
    return jnp.transpose(jnp.reshape(t, (4, 128, heads, d // heads)), (0, 2, 1, 3))
def loss(p, x):
    q, k, v = jnp.split(norm(x) @ p[0], 3, -1)
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
    torch=Text(
        """
x = torch.tensor(batch)
p = [torch.tensor(v, requires_grad=True) for v in matrices]
def norm(x):
    m = x.mean(-1, keepdim=True)
    v = ((x - m) ** 2).mean(-1, keepdim=True)
    return (x - m) * torch.rsqrt(v + 1e-5)
def cut(t):
    return t.reshape(4, 128, heads, d // heads).transpose(1, 2)
@torch.compile
def loss(x):
    q, k, v = (norm(x) @ p[0]).chunk(3, -1)
    q, k, v = cut(q), cut(k), cut(v)
    a = torch.softmax(q @ k.transpose(-1, -2) / 5.656854, -1)
    o = (a @ v).transpose(1, 2).reshape(4, 128, d)
    h = x + o @ p[1]
    h = h + F.relu(norm(h) @ p[2]) @ p[3]
    return (h * h).mean()
def step(x):
    value = loss(x)
    return value, torch.autograd.grad(value, p)
""",
        "step(x)",
    ),
)

CONVNET = Program(
    key="convnet",
    title="convnet 28x28, batch of 64, forward and backward",
    data="""
images, classes = f32(64, 28, 28, 1), rng.integers(0, 10, 64)
arrays = [
    f32(3, 3, 1, 16) / 3, f32(16) / 10, f32(3, 3, 16, 32) / 12, f32(32) / 10,
    f32(1568, 10) / 40, f32(10) / 10,
]
""",
    tf=Text(
        """
x, y = tf.constant(images), tf.constant(classes)
p = [tf.Variable(v) for v in arrays]
def layer(x, w, b):
    return tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, 1, 'SAME') + b), 2, 2, 'VALID')
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        h = layer(layer(x, p[0], p[1]), p[2], p[3])
        logits = tf.matmul(tf.reshape(h, (64, 1568)), p[4]) + p[5]
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    return loss, tape.gradient(loss, p)
""",
        "step(x, y)",
    ),
    jax=Text(
        """
x, y = jnp.asarray(images), jnp.asarray(classes)
p = [jnp.asarray(v) for v in arrays]
def layer(x, w, b):
    h = lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
    window = (1, 2, 2, 1)
    return lax.reduce_window(jax.nn.relu(h + b), -jnp.inf, lax.max, window, window, 'VALID')
def loss(p, x, y):
    h = layer(layer(x, p[0], p[1]), p[2], p[3])
    logits = h.reshape(64, 1568) @ p[4] + p[5]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(64), y])
step = jax.jit(jax.value_and_grad(loss))
""",
        "jax.block_until_ready(step(p, x, y))",
    ),
    # Channels come first in torch: the same numbers, at other places.
    torch=Text(
        """
x, y = torch.tensor(images).permute(0, 3, 1, 2).contiguous(), torch.tensor(classes)
arrays[0], arrays[2] = arrays[0].transpose(3, 2, 0, 1), arrays[2].transpose(3, 2, 0, 1)
arrays[4] = arrays[4].reshape(7, 7, 32, 10).transpose(2, 0, 1, 3).reshape(1568, 10)
p = [torch.tensor(v.copy(), requires_grad=True) for v in arrays]
def layer(x, w, b):
    return F.max_pool2d(F.relu(F.conv2d(x, w, b, padding='same')), 2)
@torch.compile
def loss(x, y):
    h = layer(layer(x, p[0], p[1]), p[2], p[3])
    return F.cross_entropy(h.reshape(64, 1568) @ p[4] + p[5], y)
def step(x, y):
    value = loss(x, y)
    return value, torch.autograd.grad(value, p)
""",
        "step(x, y)",
    ),
)
