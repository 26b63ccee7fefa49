import type { Param } from "../../src/protocol/params.ts";
import type { Result } from "../../src/protocol/result.ts";

/** Test helper: parses a parameter from a query string. */
export function parseQueueParam<T>(
  param: Param<T>,
  query: string,
  version = "2023-11-03",
): Result<T> {
  const values = new URLSearchParams(query);
  return param.parse({
    version,
    header: () => undefined,
    query: (name) => values.get(name) ?? undefined,
    headersWith: () => [],
  });
}
