"""Single expressions: what counts is the cost of a call, or of one pass over the data."""

from __future__ import annotations

from benchmarks.programs.program import Program, Text

SCALAR = Program(
    key="scalar",
    title="x + 1 on a scalar",
    data="",
    tf=Text("step = tf.function(lambda x: x + 1.0); x = tf.constant(2.0)", "step(x)"),
    jax=Text(
        "step = jax.jit(lambda x: x + 1.0); x = jnp.float32(2)", "step(x).block_until_ready()"
    ),
    torch=Text("step = torch.compile(lambda x: x + 1.0); x = torch.tensor(2.0)", "step(x)"),
)

_NEST = """
d = {'a': [x, x], 'b': (x, x, {'c': x, 'd': x})}
"""
NESTED = Program(
    key="nested",
    title="six nested tensors and a flag",
    data="",
    tf=Text(
        "x = tf.constant(1.0)"
        + _NEST
        + """
@tf.function
def step(d, flag):
    return d['a'][0] + d['b'][2]['d']
""",
        "step(d, flag=True)",
    ),
    jax=Text(
        "x = jnp.float32(1)"
        + _NEST
        + """
step = jax.jit(lambda d, flag: d['a'][0] + d['b'][2]['d'], static_argnames='flag')
""",
        "step(d, flag=True).block_until_ready()",
    ),
    torch=Text(
        "x = torch.tensor(1.0)"
        + _NEST
        + """
@torch.compile
def step(d, flag):
    return d['a'][0] + d['b'][2]['d']
""",
        "step(d, flag=True)",
    ),
)

MILLION = Program(
    key="million",
    title="four functions and a sum, 1,000,000 numbers",
    data="numbers = f32(1000000)",
    tf=Text(
        """
x = tf.constant(numbers)
@tf.function
def step(x):
    return tf.reduce_sum(tf.exp(x) * tf.sin(x) + tf.tanh(x) * tf.math.log(tf.abs(x) + 1.0))
""",
        "step(x)",
    ),
    jax=Text(
        """
x = jnp.asarray(numbers)
@jax.jit
def step(x):
    return jnp.sum(jnp.exp(x) * jnp.sin(x) + jnp.tanh(x) * jnp.log(jnp.abs(x) + 1))
""",
        "step(x).block_until_ready()",
    ),
    torch=Text(
        """
x = torch.tensor(numbers)
@torch.compile
def step(x):
    return torch.sum(torch.exp(x) * torch.sin(x) + torch.tanh(x) * torch.log(torch.abs(x) + 1))
""",
        "step(x)",
    ),
)

NLL = Program(
    key="nll",
    title="Gaussian NLL and gradient, 10,000 points",
    data="points = f32(10000)",
    tf=Text(
        """
data = tf.constant(points)
mu, log_sigma = tf.Variable(0.1), tf.Variable(0.2)
@tf.function
def step():
    with tf.GradientTape() as tape:
        z = (data - mu) / tf.exp(log_sigma)
        loss = tf.reduce_mean(0.5 * z * z + log_sigma)
    return loss, tape.gradient(loss, [mu, log_sigma])
""",
        "step()",
    ),
    jax=Text(
        """
data, mu, log_sigma = jnp.asarray(points), jnp.float32(0.1), jnp.float32(0.2)
def loss(mu, log_sigma, data):
    z = (data - mu) / jnp.exp(log_sigma)
    return jnp.mean(0.5 * z * z + log_sigma)
step = jax.jit(jax.value_and_grad(loss, (0, 1)))
""",
        "jax.block_until_ready(step(mu, log_sigma, data))",
    ),
    torch=Text(
        """
data = torch.tensor(points)
mu, log_sigma = [torch.tensor(v, requires_grad=True) for v in (0.1, 0.2)]
@torch.compile
def loss(mu, log_sigma, data):
    z = (data - mu) / torch.exp(log_sigma)
    return torch.mean(0.5 * z * z + log_sigma)
def step():
    value = loss(mu, log_sigma, data)
    return value, torch.autograd.grad(value, [mu, log_sigma])
""",
        "step()",
    ),
)
