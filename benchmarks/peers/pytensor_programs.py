"""For PyTensor."""

_START = """
import numpy as np, pytensor, pytensor.tensor as pt
pytensor.config.floatX = 'float32'
rng = np.random.default_rng(0)
f32 = lambda *shape: rng.normal(size=shape).astype('float32')
"""

PROGRAMS = {
    "nll": (
        _START
        + """
data = pytensor.shared(f32(10000))
mu, log_sigma = [pytensor.shared(np.float32(v)) for v in (0.1, 0.2)]
z = (data - mu) / pt.exp(log_sigma)
loss = pt.mean(np.float32(0.5) * z * z + log_sigma)
step = pytensor.function([], [loss, *pytensor.grad(loss, [mu, log_sigma])])
step()
""",
        "step()",
    ),
    "scalar": (
        _START
        + """
x = pt.scalar('x')
step = pytensor.function([x], x + np.float32(1.0))
two = np.float32(2)
step(two)
""",
        "step(two)",
    ),
    "million": (
        _START
        + """
x = pt.vector('x')
step = pytensor.function(
    [x], pt.sum(pt.exp(x) * pt.sin(x) + pt.tanh(x) * pt.log(pt.abs(x) + np.float32(1)))
)
data = f32(1000000)
step(data)
""",
        "step(data)",
    ),
}
