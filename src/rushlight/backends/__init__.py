"""Which libraries this build uses, and PyTorch's switches for those it does not.

Switches keep what they are set to and have no effect.
"""

from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum, quantized

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized"]
