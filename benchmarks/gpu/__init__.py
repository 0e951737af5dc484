"""What needs a GPU: `bash benchmarks/gpu.sh OUT` runs all of it in five minutes."""
