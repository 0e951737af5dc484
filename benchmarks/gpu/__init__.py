"""Measurements that need a GPU: `bash benchmarks/gpu.sh OUT` runs all of them in five minutes."""
