"""polars: eager and lazy reads and writes, globs, delta tables."""

import polars as pl

from example import options

frame = pl.DataFrame({"a": range(1000)})
frame.write_parquet("az://polars/x/one.parquet", storage_options=options)
frame.lazy().sink_parquet("az://polars/x/two.parquet", storage_options=options)
frame.write_csv("az://polars/x/one.csv", storage_options=options)
frame.write_delta("az://polars/delta", storage_options=options)

assert pl.read_parquet("az://polars/x/one.parquet", storage_options=options).equals(frame)
both = pl.scan_parquet("az://polars/x/*.parquet", storage_options=options)
assert both.filter(pl.col("a") >= 500).collect().height == 1000
assert pl.scan_csv("az://polars/x/one.csv", storage_options=options).collect().equals(frame)
assert pl.read_delta("az://polars/delta", storage_options=options).equals(frame)
