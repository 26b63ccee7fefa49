import {
  expectStatus,
  isPresent,
  storeMany,
  type AbusiveInput,
  type StallClients,
} from "./stall-client.ts";

const blocksMax = 50_000;
const idOf = (index: number): string =>
  Buffer.from(String(index).padStart(48, "0")).toString("base64");
const listOf = (kind: string, count: number): string => {
  let list = "";
  for (let index = 0; index < count; index += 1) list += `<${kind}>${idOf(index)}</${kind}>`;
  return `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`;
};

const container = (name: string) => ({ method: "PUT", path: `/${name}?restype=container` });

/** Every block is in another extent. */
async function prepareBlocks({ blob, server }: StallClients): Promise<() => Promise<unknown>> {
  await blob.send(container("blocks"));
  await storeMany(server.urls.blob, blocksMax, (index) => ({
    method: "PUT",
    path: `/blocks/b?comp=block&blockid=${encodeURIComponent(idOf(index))}`,
    body: "x",
  }));
  const body = listOf("Uncommitted", blocksMax);
  const call = { method: "PUT", path: "/blocks/b?comp=blocklist", body };
  return () => expectStatus(blob, 201, call);
}

const blocks: readonly AbusiveInput[] = [
  {
    name: "Put Block List of 50,000 blocks",
    isPreparedAgain: true,
    prepare: prepareBlocks,
  },
  {
    name: "Get Block List of 50,000 blocks",
    async prepare({ blob }) {
      const path = "/blocks/b?comp=blocklist&blocklisttype=all";
      return () => expectStatus(blob, 200, { method: "GET", path });
    },
  },
  {
    name: "Put Block List of 50,000 committed blocks",
    async prepare({ blob }) {
      const body = listOf("Committed", blocksMax);
      const call = { method: "PUT", path: "/blocks/b?comp=blocklist", body };
      return () => expectStatus(blob, 201, call);
    },
  },
  {
    name: "Put Block List that names one block 50,000 times",
    async prepare({ blob }) {
      await blob.send(container("blocks"));
      const path = `/blocks/same?comp=block&blockid=${encodeURIComponent(idOf(0))}`;
      await expectStatus(blob, 201, { method: "PUT", path, body: "x".repeat(100) });
      const list = `<Latest>${idOf(0)}</Latest>`.repeat(blocksMax);
      const body = `<BlockList>${list}</BlockList>`;
      const call = { method: "PUT", path: "/blocks/same?comp=blocklist", body };
      return () => expectStatus(blob, 201, call);
    },
  },
  {
    name: "Get Blob of 50,000 blocks",
    async prepare({ blob }) {
      return () => expectStatus(blob, 200, { method: "GET", path: "/blocks/b" });
    },
  },
  {
    name: "Copy Blob of 50,000 blocks",
    async prepare({ blob, server }) {
      const source = new URL(`${server.urls.blob}/devstoreaccount1/blocks/b`);
      const headers = { "x-ms-copy-source": source.href };
      const call = { method: "PUT", path: "/blocks/copy", headers };
      return () => blob.send(call);
    },
  },
  {
    name: "Delete Blob of 50,000 blocks",
    isPreparedAgain: true,
    async prepare(clients) {
      const { blob } = clients;
      if (!(await isPresent(blob, "/blocks/b"))) {
        const putBlockList = await prepareBlocks(clients);
        await putBlockList();
      }
      return () => expectStatus(blob, 202, { method: "DELETE", path: "/blocks/b" });
    },
  },
];

const documents: readonly (readonly [name: string, text: string])[] = [
  ["many elements", "<a/>".repeat(1_500_000)],
  ["deep elements", "<a>".repeat(2_000_000)],
  ["many attributes", `<a ${Array.from({ length: 500_000 }, (_, at) => `a${at}=""`).join(" ")}/>`],
  ["many references", `<Latest>${"&amp;".repeat(1_200_000)}</Latest>`],
  ["one long text", `<Latest>${"x".repeat(6_000_000)}</Latest>`],
  ["many comments", "<!---->".repeat(850_000)],
  ["many lines", "\n".repeat(6_000_000)],
];

const xml: readonly AbusiveInput[] = documents.map(([name, text]) => ({
  name: `XML body of ${name}`,
  async prepare({ blob }: StallClients) {
    await blob.send(container("xml"));
    const body = `<BlockList>${text}</BlockList>`;
    const status = name === "many comments" ? 201 : 400;
    return () => expectStatus(blob, status, { method: "PUT", path: "/xml/b?comp=blocklist", body });
  },
}));

const batchHead = { "content-type": "multipart/mixed; boundary=b" };
const batch = (body: string) => ({
  method: "POST",
  path: "/?comp=batch",
  body,
  headers: batchHead,
});

const oddBatches: readonly (readonly [name: string, body: string])[] = [
  ["60,000 empty parts", "--b\n\n".repeat(60_000)],
  ["half a million boundaries", "\n--b-\n".repeat(580_000)],
  ["one header of blanks", `--b\r\nA: a${"\t".repeat(65_000)}b\r\n\r\n\r\n`],
  ["many headers of blanks", `--b\r\nA: a${"\t".repeat(65_000)}b\r\n\r\n\r\n`.repeat(60)],
  ["blanks after each boundary", `\n--b${" ".repeat(65_000)}x`.repeat(60)],
  ["line feeds", "\n".repeat(4_000_000)],
];

const batches: readonly AbusiveInput[] = [
  {
    name: "Blob Batch of 256 parts with long heads",
    async prepare({ blob }) {
      const lines = Array.from({ length: 50 }, (_, at) => `x-ms-meta-n${at}: ${"v".repeat(200)}`);
      const part = (index: number) =>
        `--b\r\nContent-Type: application/http\r\n\r\nDELETE /devstoreaccount1/c/${index}` +
        ` HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
      const body = `${Array.from({ length: 256 }, (_, at) => part(at)).join("")}\r\n--b--\r\n`;
      return () => expectStatus(blob, 202, batch(body));
    },
  },
  ...oddBatches.map(([name, body]) => ({
    name: `Blob Batch of ${name}`,
    async prepare({ blob }: StallClients) {
      return () => blob.send(batch(`${body}\r\n--b--\r\n`));
    },
  })),
];

/** Long block lists, long documents and malformed multipart bodies. */
export const bodyInputs: readonly AbusiveInput[] = [...xml, ...batches, ...blocks];
