import type { RawCall, RawClient } from "../../harness/raw-client.ts";
import { must, textOf, type Clients, type KillWorkload, type State } from "../kill-workload.ts";

const filesystem = "/kills-paths";
/** Of the files in a directory: some are stored in the record, some in extents. */
const lengths = [100, 3000, 70_000];
const places = ["here", "there"] as const;
type Place = (typeof places)[number];

/**
 * Directories of files that appear by a rename, as jobs commit their results, are moved and are
 * deleted as a whole. A state is `place:version`. Data that is appended and not flushed does not
 * change it.
 */
export const paths: KillWorkload = {
  name: "paths",
  async setUp({ tree }) {
    await must(tree, { method: "PUT", path: `${filesystem}?resource=filesystem` }, 201);
    for (const place of places) {
      const path = `${filesystem}/${place}?resource=directory`;
      await must(tree, { method: "PUT", path }, 201);
    }
  },
  next(key, state, turn) {
    const [place, version] = partsOf(state);
    if (place === undefined) return commit(key, String(turn));
    if (turn % 11 === 0) return remove(key, place);
    if (turn % 2 === 0) return move(key, place, version);
    return appendOnly(key, place, version);
  },
  async look(clients, key) {
    const found = await Promise.all(places.map((place) => read(clients, place, key)));
    return (state) => {
      const [wanted, version] = partsOf(state);
      return places.every((place, at) => {
        const bodies = lengths.map((_, number) => bodyOf(key, version, number));
        const expected = place === wanted ? bodies : [];
        return JSON.stringify(found[at]) === JSON.stringify(expected);
      });
    };
  },
};

function partsOf(state: State): [place: Place | undefined, version: string] {
  const [place, version = ""] = state?.split(":") ?? [];
  return [place as Place | undefined, version];
}

function bodyOf(key: string, version: string, number: number): string {
  return textOf(`${key}/${number}`, version, lengths[number] ?? 0);
}

/** Files are written beside their place; the rename makes all of them visible. */
function commit(key: string, version: string) {
  const from = `${filesystem}/work/${key}-${version}`;
  return {
    state: `here:${version}`,
    writes: 1,
    async send({ tree }: Clients) {
      await Promise.all(
        lengths.map((_, number) => write(tree, `${from}/${number}`, bodyOf(key, version, number))),
      );
      await must(tree, rename(from, `${filesystem}/here/${key}`), 201);
    },
  };
}

/** In any order, visible with the flush. */
async function write(tree: RawClient, path: string, body: string): Promise<void> {
  const half = Math.ceil(body.length / 2);
  await must(tree, { method: "PUT", path: `${path}?resource=file` }, 201);
  await Promise.all([
    must(tree, append(path, half, body.slice(half)), 202),
    must(tree, append(path, 0, body.slice(0, half)), 202),
  ]);
  const flush = `${path}?action=flush&position=${body.length}`;
  await must(tree, { method: "PATCH", path: flush }, 200);
}

function move(key: string, from: Place, version: string) {
  const to = from === "here" ? "there" : "here";
  return {
    state: `${to}:${version}`,
    writes: 1,
    async send({ tree }: Clients) {
      const call = rename(`${filesystem}/${from}/${key}`, `${filesystem}/${to}/${key}`);
      await must(tree, call, 201);
    },
  };
}

function remove(key: string, place: Place) {
  return {
    state: undefined,
    writes: 1,
    async send({ tree }: Clients) {
      const path = `${filesystem}/${place}/${key}?recursive=true`;
      await must(tree, { method: "DELETE", path }, 200);
    },
  };
}

function appendOnly(key: string, place: Place, version: string) {
  return {
    state: `${place}:${version}`,
    writes: lengths.length,
    async send({ tree }: Clients) {
      const at = `${filesystem}/${place}/${key}`;
      await Promise.all(
        lengths.map((length, number) => {
          const body = "not flushed".repeat(number * 500 + 1);
          return must(tree, append(`${at}/${number}`, length, body), 202);
        }),
      );
    },
  };
}

function append(path: string, position: number, body: string): RawCall {
  return { method: "PATCH", path: `${path}?action=append&position=${position}`, body };
}

function rename(from: string, to: string): RawCall {
  const headers = { "x-ms-rename-source": from };
  return { method: "PUT", path: `${to}?mode=legacy`, headers };
}

/** The contents of all files of a directory, by the Blob API; none if it does not exist. A listing
 *  that shows other files than the reads do is reported as a file. */
async function read({ tree }: Clients, place: Place, key: string): Promise<readonly string[]> {
  const directory = `${place}/${key}`;
  const query = `resource=filesystem&recursive=true&directory=${directory}`;
  const listing = await must(tree, { method: "GET", path: `${filesystem}?${query}` }, 200, 404);
  const listed =
    listing.status === 404
      ? []
      : (JSON.parse(listing.body.toString()) as { paths: { name: string }[] }).paths;
  const bodies: string[] = [];
  for (const number of lengths.keys()) {
    const call = { method: "GET", path: `${filesystem}/${directory}/${number}` };
    const { status, body } = await must(tree, call, 200, 404);
    if (status === 200) bodies.push(body.toString());
  }
  return listed.length === bodies.length ? bodies : [...bodies, `${listed.length} listed`];
}
