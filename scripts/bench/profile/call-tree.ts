/** The used part of V8's CPU profile format; times in microseconds. */
export interface CpuProfile {
  readonly startTime: number;
  readonly nodes: readonly ProfileNode[];
  /** Ids of the sampled nodes, and the time since the previous sample. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

/** A function and its callees, with the total time. */
export interface Frame {
  readonly name: string;
  /** Source position, for example `http/pipeline.js:20`; empty for V8's own work. */
  readonly place: string;
  microseconds: number;
  readonly called: Map<string, Frame>;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

const idle = new Set(["(idle)", "(root)"]);

/** Samples of one time span merged by call path, without idle time. */
export function callTreeOf(profile: CpuProfile, { from, to }: Span): Frame {
  const root: Frame = { name: "all", place: "", microseconds: 0, called: new Map() };
  const paths = pathsOf(profile);
  let now = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    now += profile.timeDeltas[index] ?? 0;
    const path = paths.get(id) ?? [];
    const last = path.at(-1);
    if (last === undefined || idle.has(last.callFrame.functionName)) continue;
    if (now < from || now > to) continue;
    add(root, path, profile.timeDeltas[index + 1] ?? 0);
  }
  return root;
}

function add(root: Frame, path: readonly ProfileNode[], microseconds: number): void {
  let frame = root;
  frame.microseconds += microseconds;
  for (const { callFrame } of path) {
    const name = callFrame.functionName === "" ? "(anonymous)" : callFrame.functionName;
    const place = placeOf(callFrame.url, callFrame.lineNumber);
    const key = `${name} ${place}`;
    const next = frame.called.get(key) ?? { name, place, microseconds: 0, called: new Map() };
    next.microseconds += microseconds;
    frame.called.set(key, next);
    frame = next;
  }
}

/** The path from the root to each node. */
function pathsOf({ nodes }: CpuProfile): ReadonlyMap<number, readonly ProfileNode[]> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const paths = new Map<number, readonly ProfileNode[]>();
  const [root] = nodes;
  const waiting: (readonly [ProfileNode, readonly ProfileNode[]])[] = [];
  if (root !== undefined) waiting.push([root, []]);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [node, path] = next;
    paths.set(node.id, path);
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) waiting.push([child, [...path, child]]);
    }
  }
  return paths;
}

function placeOf(url: string, line: number): string {
  if (url === "") return "";
  const path = url.replace(/^file:\/\/.*\/(?:dist|node_modules)\//, (found) =>
    found.endsWith("node_modules/") ? "node_modules/" : "",
  );
  return `${path}:${line + 1}`;
}
