import { must, textOf, type KillWorkload } from "../kill-workload.ts";

const table = "killsentity";
const lengths = [10, 2000, 30_000];
const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };

/** Single entities that are replaced, merged and deleted. */
export const entity: KillWorkload = {
  name: "entity",
  async setUp({ table: client }) {
    const body = JSON.stringify({ TableName: table });
    await must(client, { method: "POST", path: "/Tables", headers: json, body }, 201);
  },
  next(key, state, turn) {
    const path = pathOf(key);
    if (state !== undefined && turn % 5 === 0) {
      const headers = { ...json, "if-match": "*" };
      return {
        state: undefined,
        writes: 1,
        async send({ table: client }) {
          await must(client, { method: "DELETE", path, headers }, 204);
        },
      };
    }
    const version = String(turn);
    const body = JSON.stringify({ version, text: bodyOf(key, version) });
    const method = turn % 2 === 0 ? "PUT" : "MERGE";
    return {
      state: version,
      writes: 1,
      async send({ table: client }) {
        await must(client, { method, path, headers: json, body }, 204);
      },
    };
  },
  async look({ table: client }, key) {
    const call = { method: "GET", path: pathOf(key), headers: json };
    const { status, body } = await must(client, call, 200, 404);
    const found = JSON.parse(body.toString()) as { version?: string; text?: string };
    return (state) =>
      state === undefined
        ? status === 404
        : status === 200 && found.version === state && found.text === bodyOf(key, state);
  },
};

function pathOf(key: string): string {
  return `/${table}(PartitionKey='p',RowKey='${key}')`;
}

function bodyOf(key: string, version: string): string {
  return textOf(key, version, lengths[Number(version) % lengths.length]!);
}
