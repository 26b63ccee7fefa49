import { byKey, type Operation } from "./history.ts";

/** `time`: one returned before the other was called. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly kind: "ww" | "wr" | "rw" | "time";
}

const reportedMax = 5;

/** Cycles in the dependency graph, by their names in the literature. */
export function findCycles(
  dependencies: readonly Edge[],
  operations: readonly Operation<unknown, unknown>[],
): readonly string[] {
  const plain = shortestCycles(dependencies);
  const cycles = plain.length > 0 ? plain : shortestCycles(withTime(dependencies, operations));
  return cycles.slice(0, reportedMax).map((cycle) => `${nameOf(cycle)}: ${describe(cycle)}`);
}

function nameOf(cycle: readonly Edge[]): string {
  const count = (kind: Edge["kind"]): number => cycle.filter((edge) => edge.kind === kind).length;
  if (count("time") > 0) return "stale, against real time";
  if (count("rw") > 1) return "long fork or write skew (G2)";
  if (count("rw") === 1) return "read skew (G-single)";
  return count("wr") > 0 ? "circular information flow (G1c)" : "dirty write (G0)";
}

function describe(cycle: readonly Edge[]): string {
  const steps = cycle.filter(({ from }) => !isMoment(from));
  return steps.map(({ from, kind }) => `${from} -${kind}->`).join(" ") + ` ${steps[0]?.from ?? ""}`;
}

const isMoment = (node: string): boolean => node.startsWith("moment ");

/**
 * Real-time order as a chain of points, one per return: an operation leads to the point of its
 * return, and the last point before its call leads to it. This represents all pairs with few edges.
 */
function withTime(
  dependencies: readonly Edge[],
  operations: readonly Operation<unknown, unknown>[],
): readonly Edge[] {
  const ended = operations
    .filter(({ returned }) => returned !== Infinity)
    .toSorted((one, other) => one.returned - other.returned);
  const edges: Edge[] = [...dependencies];
  const add = (from: string, to: string): void => void edges.push({ from, to, kind: "time" });
  for (const [index, { id }] of ended.entries()) {
    add(id, `moment ${index}`);
    if (index > 0) add(`moment ${index - 1}`, `moment ${index}`);
  }
  let passed = 0;
  for (const { id, called } of operations.toSorted((one, other) => one.called - other.called)) {
    while (passed < ended.length && ended[passed]!.returned < called) passed += 1;
    if (passed > 0) add(`moment ${passed - 1}`, id);
  }
  return edges;
}

/** One cycle per strongly connected component that has any, through its first operation. */
function shortestCycles(edges: readonly Edge[]): readonly (readonly Edge[])[] {
  const outgoing = byKey(edges.map((edge) => ({ ...edge, key: edge.from })));
  const left = trimmed(edges, outgoing);
  const covered = new Set<string>();
  const cycles: (readonly Edge[])[] = [];
  for (const node of left) {
    if (covered.has(node) || isMoment(node) || cycles.length >= reportedMax) continue;
    const cycle = shortestCycle(node, outgoing, left);
    if (cycle === undefined) continue;
    cycles.push(cycle);
    for (const { from } of cycle) covered.add(from);
  }
  return cycles;
}

/**
 * Repeatedly removes operations without predecessors: this keeps all cycles and, without cycles,
 * leaves nothing.
 */
function trimmed(
  edges: readonly Edge[],
  outgoing: ReadonlyMap<string, readonly Edge[]>,
): ReadonlySet<string> {
  const incoming = new Map<string, number>();
  for (const { from, to } of edges) {
    incoming.set(to, (incoming.get(to) ?? 0) + 1);
    incoming.set(from, incoming.get(from) ?? 0);
  }
  const free = [...incoming].flatMap(([node, count]) => (count === 0 ? [node] : []));
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    incoming.delete(node);
    for (const { to } of outgoing.get(node) ?? []) {
      const count = (incoming.get(to) ?? 0) - 1;
      incoming.set(to, count);
      if (count === 0) free.push(to);
    }
  }
  return new Set(incoming.keys());
}

function shortestCycle(
  start: string,
  outgoing: ReadonlyMap<string, readonly Edge[]>,
  within: ReadonlySet<string>,
): readonly Edge[] | undefined {
  const arrivedBy = new Map<string, Edge>();
  let frontier = [start];
  while (frontier.length > 0) {
    const next: string[] = [];
    for (const edge of frontier.flatMap((node) => outgoing.get(node) ?? [])) {
      if (!within.has(edge.to) || arrivedBy.has(edge.to)) continue;
      arrivedBy.set(edge.to, edge);
      if (edge.to === start) return pathTo(start, arrivedBy);
      next.push(edge.to);
    }
    frontier = next;
  }
  return undefined;
}

function pathTo(start: string, arrivedBy: ReadonlyMap<string, Edge>): readonly Edge[] {
  const path: Edge[] = [];
  let node = start;
  do {
    const edge = arrivedBy.get(node);
    if (edge === undefined) break;
    path.unshift(edge);
    node = edge.from;
  } while (node !== start);
  return path;
}
