import { expect, it } from "vitest";
import { rawClient, type RawCall } from "../harness/raw-client.ts";
import { freshName, testServer } from "../harness/server.ts";

const held = testServer({ enableHierarchicalNamespace: true });
const send = (call: RawCall) => rawClient(held.server.urls["dfs"] ?? "").send(call);
const writers = 32;
const filesEach = 3;

async function newFilesystem(): Promise<string> {
  const name = `/${freshName("lake")}`;
  await send({ method: "PUT", path: `${name}?resource=filesystem` });
  return name;
}

/** Files whose content is the name of their writer. */
async function writeResults(directory: string, text: string): Promise<void> {
  for (let at = 0; at < filesEach; at += 1) {
    const path = `${directory}/part${at}`;
    await send({ method: "PUT", path: `${path}?resource=file` });
    const append = `${path}?action=append&position=0&flush=true`;
    await send({ method: "PATCH", path: append, body: text });
  }
}

function rename(from: string, to: string, headers: Record<string, string> = {}) {
  const source = { "x-ms-rename-source": from, ...headers };
  return send({ method: "PUT", path: `${to}?mode=legacy`, headers: source });
}

async function list(filesystem: string): Promise<readonly string[]> {
  const path = `${filesystem}?resource=filesystem&recursive=true`;
  const { body } = await send({ method: "GET", path });
  const { paths } = JSON.parse(body.toString()) as { readonly paths: readonly { name: string }[] };
  return paths.map(({ name }) => name);
}

it("32 writers that rename to one path: exactly one succeeds", async () => {
  const filesystem = await newFilesystem();
  const names = Array.from({ length: writers }, (_, index) => `w${index}`);
  await Promise.all(names.map((name) => writeResults(`${filesystem}/${name}`, name)));
  const free = { "if-none-match": "*" };
  const answers = await Promise.all(
    names.map((name) => rename(`${filesystem}/${name}`, `${filesystem}/result`, free)),
  );
  const winners = answers.flatMap(({ status }, index) => (status === 201 ? [names[index]] : []));
  expect(winners).toHaveLength(1);
  const codes = new Set(answers.filter(({ status }) => status !== 201).map(({ code }) => code));
  expect([...codes]).toEqual(["PathAlreadyExists"]);
  for (let at = 0; at < filesEach; at += 1) {
    const { body } = await send({ method: "GET", path: `${filesystem}/result/part${at}` });
    expect(body.toString()).toBe(winners[0]);
  }
  const listed = await list(filesystem);
  expect(listed).toHaveLength(writers * (filesEach + 1));
  expect(listed).not.toContain(winners[0]);
});

it("a listing shows a renamed directory whole, in one place", async () => {
  const filesystem = await newFilesystem();
  await writeResults(`${filesystem}/a`, "x");
  const [renamesMin, renamesMax] = [100, 10_000];
  const state = { isOver: false };
  const seen = new Set<string>();
  const renaming = (async () => {
    // Further renames until listings have shown both places.
    const isEnough = (turn: number) => turn >= renamesMin && seen.size > 1;
    for (let turn = 0; turn < renamesMax && !isEnough(turn); turn += 1) {
      const [from, to] = turn % 2 === 0 ? ["a", "b"] : ["b", "a"];
      expect((await rename(`${filesystem}/${from}`, `${filesystem}/${to}`)).status).toBe(201);
    }
    state.isOver = true;
  })();
  const listing = async (): Promise<void> => {
    while (!state.isOver) seen.add((await list(filesystem)).join());
  };
  await Promise.all([renaming, listing(), listing()]);
  const whole = (name: string) =>
    [name, ...Array.from({ length: filesEach }, (_, at) => `${name}/part${at}`)].join();
  expect([...seen].filter((each) => each !== whole("a") && each !== whole("b"))).toEqual([]);
  expect(seen.size).toBe(2);
});
