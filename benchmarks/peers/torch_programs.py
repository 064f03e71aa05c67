"""For torch.compile."""

_START = """
import numpy as np, torch
rng = np.random.default_rng(0)
f32 = lambda *shape: torch.tensor(rng.normal(size=shape).astype('float32'))
"""

PROGRAMS = {
    "W1": (
        _START
        + """
data = f32(10000)
mu, log_sigma = [torch.tensor(v, requires_grad=True) for v in (0.1, 0.2)]
@torch.compile
def loss(mu, log_sigma, data):
    z = (data - mu) / torch.exp(log_sigma)
    return torch.mean(0.5 * z * z + log_sigma)
def run():
    value = loss(mu, log_sigma, data)
    return value, torch.autograd.grad(value, [mu, log_sigma])
run()
""",
        "run()",
    ),
    "W4": (
        _START + "step = torch.compile(lambda x: x + 1.0); x = torch.tensor(2.0); step(x)",
        "step(x)",
    ),
    "W8": (
        _START
        + """
x = f32(1000000)
@torch.compile
def step(x):
    return torch.sum(torch.exp(x) * torch.sin(x) + torch.tanh(x) * torch.log(torch.abs(x) + 1))
step(x)
""",
        "step(x)",
    ),
}
