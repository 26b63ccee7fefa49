import type { Lie, Passed, Passing } from "./lying-proxy.ts";
import type { PlantedBug } from "./planted-bugs.ts";

/** Bugs of servers that store paths by their whole names. */

const filesystem = "/verify-trees";

/** Milliseconds between two steps of a change that should be one. */
const gap = 10;

function wait(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, gap));
}

/** The path and query of a request for another path, with the same signature. */
function at({ path }: Passing, name: string, query: string): string {
  const account = path.slice(0, path.indexOf(filesystem));
  const signature = path.slice(path.indexOf("sv="));
  return `${account}${name}?${query}${query === "" ? "" : "&"}${signature}`;
}

async function namesBelow(
  passing: Passing,
  name: string,
  forward: (changed: Passing) => Promise<Passed>,
): Promise<readonly string[]> {
  const query = `resource=filesystem&recursive=true&directory=${name.slice(filesystem.length + 1)}`;
  const path = at(passing, filesystem, query);
  const headers = { "x-ms-version": "2023-11-03" };
  const { status, body } = await forward({
    ...passing,
    method: "GET",
    path,
    headers,
    body: nothing,
  });
  if (status !== 200) return [];
  const { paths } = JSON.parse(body.toString()) as { readonly paths: readonly { name: string }[] };
  return paths.map((each) => `${filesystem}/${each.name}`);
}

const nothing = Buffer.alloc(0);

/** A directory is renamed in two steps, and has neither name in between. */
function renameInTwoSteps(): Lie {
  return async (passing, forward) => {
    const source = passing.headers["x-ms-rename-source"];
    if (typeof source !== "string" || passing.headers["if-none-match"] !== undefined) {
      return forward(passing);
    }
    const between = `${source.slice(0, source.indexOf("/", filesystem.length + 1))}-between`;
    const first = await forward({ ...passing, path: at(passing, between, "mode=legacy") });
    if (first.status >= 300) return first;
    await wait();
    const headers = { ...passing.headers, "x-ms-rename-source": between };
    const second = await forward({ ...passing, headers });
    if (second.status < 300) return second;
    const back = { ...passing.headers, "x-ms-rename-source": between };
    await forward({ ...passing, path: at(passing, source, "mode=legacy"), headers: back });
    return second;
  };
}

/** A directory is deleted one path after the other. */
function deleteOneByOne(): Lie {
  return async (passing, forward) => {
    if (passing.method !== "DELETE" || !passing.path.includes("recursive=true")) {
      return forward(passing);
    }
    const name = passing.path.slice(passing.path.indexOf(filesystem), passing.path.indexOf("?"));
    for (const below of (await namesBelow(passing, name, forward)).toReversed()) {
      await forward({ ...passing, path: at(passing, below, "recursive=true") });
      await wait();
    }
    return forward(passing);
  };
}

/** Appended data is visible before it is flushed. */
function appendWithoutFlush(): Lie {
  return async (passing, forward) => {
    const isStaged = passing.path.includes("action=append") && !passing.path.includes("flush=");
    if (!isStaged) return forward(passing);
    const passed = await forward(passing);
    const end = Number(/position=(\d+)/.exec(passing.path)?.[1]) + passing.body.length;
    const path = passing.path.replace(/action=append&position=\d+/, `action=flush&position=${end}`);
    await forward({ ...passing, path, body: nothing });
    return passed;
  };
}

/** A rename replaces what has the new path, although the client required that nothing has. */
function renameOverOthers(): Lie {
  return (passing, forward) => {
    if (passing.headers["x-ms-rename-source"] === undefined) return forward(passing);
    const { "if-none-match": _condition, ...headers } = passing.headers;
    return forward({ ...passing, headers });
  };
}

const said = /no order explains/;

export const plantedTreeBugs: readonly PlantedBug[] = [
  { bug: "rename in two steps", workload: "tree", said, lie: renameInTwoSteps },
  { bug: "delete in pieces", workload: "tree", said, lie: deleteOneByOne },
  { bug: "append without flush", workload: "tree", said, lie: appendWithoutFlush },
  { bug: "rename that overwrites", workload: "tree", said, lie: renameOverOthers },
];
