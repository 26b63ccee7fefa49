import { must, textOf, type Clients, type KillWorkload } from "../kill-workload.ts";

const container = "/kills-block";
/** Some are stored inline, some in packed extents, some in aligned ones. */
const lengths = [100, 1024, 4096, 5000, 70_000, 300_000, 1_200_000];

/** Block blobs that are put, composed from blocks and deleted. */
export const blockBlob: KillWorkload = {
  name: "block blob",
  async setUp({ blob }) {
    await must(blob, { method: "PUT", path: `${container}?restype=container` }, 201);
  },
  next(key, _state, turn) {
    const path = `${container}/${key}`;
    if (turn % 11 === 0) {
      return {
        state: undefined,
        writes: 1,
        async send({ blob }) {
          await must(blob, { method: "DELETE", path }, 202, 404);
        },
      };
    }
    const body = bodyOf(key, String(turn));
    const headers = { "x-ms-blob-type": "BlockBlob" };
    return {
      state: String(turn),
      writes: 1,
      async send(clients) {
        if (turn % 3 === 0) await composeFromBlocks(clients, path, body);
        else await must(clients.blob, { method: "PUT", path, headers, body }, 201);
      },
    };
  },
  async look({ blob }, key) {
    const { status, body } = await blob.send({ method: "GET", path: `${container}/${key}` });
    return (state) =>
      state === undefined
        ? status === 404
        : status === 200 && body.toString() === bodyOf(key, state);
  },
};

function bodyOf(key: string, version: string): string {
  return textOf(key, version, lengths[Number(version) % lengths.length]!);
}

async function composeFromBlocks({ blob }: Clients, path: string, text: string): Promise<void> {
  const half = Math.ceil(text.length / 2);
  const ids = ["a", "b"].map((name) => Buffer.from(name).toString("base64"));
  for (const [index, id] of ids.entries()) {
    const body = text.slice(index * half, (index + 1) * half);
    const block = `${path}?comp=block&blockid=${encodeURIComponent(id)}`;
    await must(blob, { method: "PUT", path: block, body }, 201);
  }
  const list = ids.map((id) => `<Latest>${id}</Latest>`).join("");
  const body = `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`;
  await must(blob, { method: "PUT", path: `${path}?comp=blocklist`, body }, 201);
}
