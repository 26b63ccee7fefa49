import { randomBytes } from "node:crypto";
import type { Target } from "../target.ts";
import { createContainer } from "./blobs.ts";
import type { Scenario, Site, Step } from "./scenario.ts";

const block = randomBytes(1024 * 1024);
const blocksOfBlob = 256;
/** Number of blobs that are overwritten in turn, so that a run does not fill the disk. */
const names = 4;
const list = `<?xml version="1.0" encoding="utf-8"?><BlockList>${Array.from(
  { length: blocksOfBlob },
  (_, index) => `<Latest>${blockId(index)}</Latest>`,
).join("")}</BlockList>`;

/** Each step uploads a block; the last block of a blob also commits the list. */
function uploading({ name }: Site): Step {
  let next = 0;
  const arrived = new Map<number, number>();
  return async ({ client }) => {
    const turn = next++;
    const number = Math.floor(turn / blocksOfBlob);
    const path = `${name}/o${number % names}`;
    const id = encodeURIComponent(blockId(turn % blocksOfBlob));
    const put = { method: "PUT", path: `${path}?comp=block&blockid=${id}`, body: block };
    await client.send({ ...put, expect: 201 });
    const count = (arrived.get(number) ?? 0) + 1;
    arrived.set(number, count);
    if (count < blocksOfBlob) return;
    arrived.delete(number);
    const commit = { method: "PUT", path: `${path}?comp=blocklist`, body: list };
    await client.send({ ...commit, expect: 201 });
  };
}

function blockId(index: number): string {
  return Buffer.from(String(index).padStart(6, "0")).toString("base64");
}

export const blockScenarios: readonly Scenario[] = [
  {
    name: "blocks-256m",
    title: "1 MiB blocks, committed as 256 MiB",
    service: "blob",
    azurite: true,
    stored: 0,
    mebibytes: 1,
    fill: createContainer,
    start: async (_: Target, site: Site) => ({ step: uploading(site) }),
  },
];
