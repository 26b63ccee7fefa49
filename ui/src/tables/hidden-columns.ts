import { useState } from "preact/hooks";
import type { TableAddress } from "../rest/table.ts";

/** Properties of a table without a column; kept in the browser. */
export function useHiddenColumns({
  account,
  table,
}: TableAddress): readonly [ReadonlySet<string>, (hidden: ReadonlySet<string>) => void] {
  const key = `etagere-hidden-columns ${account}/${table}`;
  const [hidden, setHidden] = useState(() => read(key));
  const change = (next: ReadonlySet<string>): void => {
    setHidden(next);
    localStorage.setItem(key, JSON.stringify([...next]));
  };
  return [hidden, change];
}

function read(key: string): ReadonlySet<string> {
  try {
    const names: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return new Set(Array.isArray(names) ? names.map(String) : []);
  } catch {
    return new Set();
  }
}
