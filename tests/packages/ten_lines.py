"""Ten lines of somebody's: a sum on the simulator, beside numpy's."""
import numpy
import risec

program = risec.compile("entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)", device="sim")
xs = numpy.arange(1000, dtype="float32")
assert program.sum(xs) == xs.sum()
assert program.sum.plan(n=1000).kernels == 1
print("right")
