import { developmentAccountName } from "../../../src/account/settings.ts";
import { accountSas } from "../../harness/raw-client.ts";
import { must, textOf, type Clients, type KillWorkload } from "../kill-workload.ts";

const share = "/kills-files";
const fileBytes = 40_000;
const places = ["here", "there"] as const;
type Place = (typeof places)[number];

/**
 * Files that are written and moved between two directories; a state is `place:version`, with no
 * version for a file of zeros.
 */
export const files: KillWorkload = {
  name: "file",
  async setUp({ file }) {
    await must(file, { method: "PUT", path: `${share}?restype=share` }, 201);
    for (const place of places) {
      await must(file, { method: "PUT", path: `${share}/${place}?restype=directory` }, 201);
    }
  },
  next(key, state, turn) {
    const [place, version = ""] = (state?.split(":") ?? []) as [Place?, string?];
    if (place === undefined) return create(key);
    if (turn % 4 === 0) return rename(key, place, version);
    if (turn % 13 === 0) return remove(`${share}/${place}/${key}`);
    return write(key, place, String(turn));
  },
  async look(clients, key) {
    const here = await read(clients, "here", key);
    const there = await read(clients, "there", key);
    return (state) => {
      const [place, version = ""] = (state?.split(":") ?? []) as [Place?, string?];
      const wanted = place === undefined ? undefined : bodyOf(key, version);
      return (
        here === (place === "here" ? wanted : undefined) &&
        there === (place === "there" ? wanted : undefined)
      );
    };
  },
};

function create(key: string) {
  const headers = { "x-ms-type": "file", "x-ms-content-length": String(fileBytes) };
  return {
    state: "here:",
    writes: 1,
    async send({ file }: Clients) {
      await must(file, { method: "PUT", path: `${share}/here/${key}`, headers }, 201);
    },
  };
}

function write(key: string, place: Place, version: string) {
  const headers = { "x-ms-write": "update", "x-ms-range": `bytes=0-${fileBytes - 1}` };
  const body = bodyOf(key, version);
  return {
    state: `${place}:${version}`,
    writes: 1,
    async send({ file }: Clients) {
      const path = `${share}/${place}/${key}?comp=range`;
      await must(file, { method: "PUT", path, headers, body }, 201);
    },
  };
}

function rename(key: string, from: Place, version: string) {
  const to = from === "here" ? "there" : "here";
  return {
    state: `${to}:${version}`,
    writes: 1,
    async send({ file, fileUrl }: Clients) {
      const source = `${fileUrl}/${developmentAccountName}${share}/${from}/${key}`;
      const headers = { "x-ms-file-rename-source": `${source}?${accountSas()}` };
      await must(file, { method: "PUT", path: `${share}/${to}/${key}?comp=rename`, headers }, 200);
    },
  };
}

function remove(path: string) {
  return {
    state: undefined,
    writes: 1,
    async send({ file }: Clients) {
      await must(file, { method: "DELETE", path }, 202);
    },
  };
}

async function read({ file }: Clients, place: Place, key: string): Promise<string | undefined> {
  const call = { method: "GET", path: `${share}/${place}/${key}` };
  const { status, body } = await must(file, call, 200, 404);
  return status === 404 ? undefined : body.toString();
}

function bodyOf(key: string, version: string): string {
  return version === "" ? "\0".repeat(fileBytes) : textOf(key, version, fileBytes);
}
