import type { Frame } from "./call-tree.ts";

export interface Hot {
  readonly where: string;
  readonly share: number;
}

/** The functions with the most self time, over all callers. */
export function hotFunctions(root: Frame, count: number): readonly Hot[] {
  const own = new Map<string, number>();
  const waiting = [root];
  for (let frame = waiting.pop(); frame !== undefined; frame = waiting.pop()) {
    let left = frame.microseconds;
    for (const called of frame.called.values()) {
      left -= called.microseconds;
      waiting.push(called);
    }
    const where = `${frame.name} ${frame.place}`.trim();
    own.set(where, (own.get(where) ?? 0) + left);
  }
  return [...own]
    .map(([where, microseconds]) => ({ where, share: microseconds / root.microseconds }))
    .toSorted((a, b) => b.share - a.share)
    .slice(0, count);
}
