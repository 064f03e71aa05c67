"""Steps of training that change variables: a state that goes in and comes out in JAX.

For torch the whole step is compiled: faster than its own optimizers after a compiled loss.
"""

from __future__ import annotations

from benchmarks.programs.program import Program, Text

_TF_ADAM = """
m1 = [tf.Variable(tf.zeros_like(w)) for w in weights]
m2 = [tf.Variable(tf.zeros_like(w)) for w in weights]
count = tf.Variable(0.0)
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(x, y)
    grads = tape.gradient(loss, weights)
    count.assign_add(1.0)
    rate = 0.001 * tf.sqrt(1.0 - tf.pow(0.999, count)) / (1.0 - tf.pow(0.9, count))
    for w, g, a, b in zip(weights, grads, m1, m2):
        a.assign(0.9 * a + 0.1 * g)
        b.assign(0.999 * b + 0.001 * g * g)
        w.assign_sub(rate * a / (tf.sqrt(b) + 1e-8))
    return loss
"""
_JAX_ADAM = """
m1, m2 = [[jnp.zeros_like(w) for w in weights] for _ in range(2)]
count = jnp.float32(0)
def update(weights, m1, m2, count, x, y):
    value, grads = jax.value_and_grad(loss_of)(weights, x, y)
    count = count + 1
    rate = 0.001 * jnp.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
    m1 = [0.9 * a + 0.1 * g for a, g in zip(m1, grads)]
    m2 = [0.999 * b + 0.001 * g * g for b, g in zip(m2, grads)]
    weights = [w - rate * a / (jnp.sqrt(b) + 1e-8) for w, a, b in zip(weights, m1, m2)]
    return weights, m1, m2, count, value
update = jax.jit(update, donate_argnums=(0, 1, 2, 3))
def step(x, y):
    global weights, m1, m2, count
    weights, m1, m2, count, value = jax.block_until_ready(update(weights, m1, m2, count, x, y))
    return value
"""
_TORCH_ADAM = """
m1, m2 = [[torch.zeros_like(w) for w in weights] for _ in range(2)]
count = torch.tensor(0.0)
@torch.compile
def step(x, y):
    grads, loss = torch.func.grad_and_value(loss_of)(weights, x, y)
    count.add_(1)
    rate = 0.001 * torch.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
    for w, g, a, b in zip(weights, grads, m1, m2):
        a.mul_(0.9).add_(0.1 * g)
        b.mul_(0.999).add_(0.001 * g * g)
        w.sub_(rate * a / (torch.sqrt(b) + 1e-8))
    return loss
"""

_MLP = """
sizes = [13, 32, 32, 1]
arrays = [
    v for n, m in zip(sizes, sizes[1:]) for v in (f32(n, m) / n ** 0.5, np.zeros(m, 'float32'))
]
"""
MLP = Program(
    key="mlp",
    title="MLP 13-32-32-1, one sample, Adam step",
    data=_MLP + "sample, target = f32(1, 13), f32(1, 1)",
    tf=Text(
        """
weights = [tf.Variable(v) for v in arrays]
x, y = tf.constant(sample), tf.constant(target)
def loss_of(x, y):
    h = x
    for i in range(0, 6, 2):
        h = tf.matmul(h, weights[i]) + weights[i + 1]
        if i < 4:
            h = tf.nn.relu(h)
    return tf.reduce_mean(tf.square(h - y))
"""
        + _TF_ADAM,
        "step(x, y)",
    ),
    jax=Text(
        """
weights = [jnp.asarray(v) for v in arrays]
x, y = jnp.asarray(sample), jnp.asarray(target)
def loss_of(weights, x, y):
    h = x
    for i in range(0, 6, 2):
        h = h @ weights[i] + weights[i + 1]
        if i < 4:
            h = jax.nn.relu(h)
    return jnp.mean((h - y) ** 2)
"""
        + _JAX_ADAM,
        "step(x, y)",
    ),
    torch=Text(
        """
weights = [torch.tensor(v) for v in arrays]
x, y = torch.tensor(sample), torch.tensor(target)
def loss_of(weights, x, y):
    h = x
    for i in range(0, 6, 2):
        h = h @ weights[i] + weights[i + 1]
        if i < 4:
            h = F.relu(h)
    return ((h - y) ** 2).mean()
"""
        + _TORCH_ADAM,
        "step(x, y)",
    ),
    state="weights",
)

DIGITS = Program(
    key="digits",
    title="MLP 784-256-10, batch of 64, Adam step",
    data="""
arrays = [f32(784, 256) / 28, np.zeros(256, 'float32'), f32(256, 10) / 16, np.zeros(10, 'float32')]
images, classes = f32(64, 784), rng.integers(0, 10, 64)
""",
    tf=Text(
        """
weights = [tf.Variable(v) for v in arrays]
x, y = tf.constant(images), tf.constant(classes)
def loss_of(x, y):
    h = tf.nn.relu(tf.matmul(x, weights[0]) + weights[1])
    logits = tf.matmul(h, weights[2]) + weights[3]
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
"""
        + _TF_ADAM,
        "step(x, y)",
    ),
    jax=Text(
        """
weights = [jnp.asarray(v) for v in arrays]
x, y = jnp.asarray(images), jnp.asarray(classes)
def loss_of(weights, x, y):
    h = jax.nn.relu(x @ weights[0] + weights[1])
    logits = h @ weights[2] + weights[3]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(64), y])
"""
        + _JAX_ADAM,
        "step(x, y)",
    ),
    torch=Text(
        """
weights = [torch.tensor(v) for v in arrays]
x, y = torch.tensor(images), torch.tensor(classes)
def loss_of(weights, x, y):
    h = F.relu(x @ weights[0] + weights[1])
    return F.cross_entropy(h @ weights[2] + weights[3], y)
"""
        + _TORCH_ADAM,
        "step(x, y)",
    ),
    state="weights",
)

MANY = Program(
    key="many",
    title="300 small variables updated",
    data="",
    tf=Text(
        """
variables = [tf.Variable(tf.ones([7])) for _ in range(300)]
scale = tf.constant(1e-6)
@tf.function
def step(scale):
    for v in variables:
        v.assign_sub(scale * v * 0.1)
""",
        "step(scale)",
    ),
    jax=Text(
        """
variables = [jnp.ones(7) for _ in range(300)]
scale = jnp.float32(1e-6)
update = jax.jit(lambda s, vs: [v - s * v * 0.1 for v in vs], donate_argnums=1)
def step(scale):
    global variables
    variables = jax.block_until_ready(update(scale, variables))
""",
        "step(scale)",
    ),
    torch=Text(
        """
variables = [torch.ones(7) for _ in range(300)]
scale = torch.tensor(1e-6)
@torch.compile
def step(scale):
    for v in variables:
        v.sub_(scale * v * 0.1)
""",
        "step(scale)",
    ),
    state="[(v - 1.0) * 1e6 for v in variables]",  # the change is small
)
