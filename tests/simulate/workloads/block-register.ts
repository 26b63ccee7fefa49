import type { RegisterInput } from "../../verify/registers.ts";
import { headerOf, sasOf, account, type Sent } from "../../verify/wire.ts";
import { insist, isFine, type Setting } from "../../verify/workload.ts";
import { registerWorkload } from "../../verify/workloads/register.ts";

const container = "/simulate-parts";
const blocksMax = 4;
const idCharacters = 24;
/** Some blocks are stored inline, some in extents. */
const lengths = [10, 3_000, 20_000];

const setUp = ({ wire }: Setting): Promise<void> =>
  insist(
    () => wire.send({ service: "blob", method: "PUT", path: `${container}?restype=container` }),
    201,
    409,
  );

/** How a kind of write makes a value the content of a blob. */
type Write = (
  setting: Setting,
  path: string,
  input: RegisterInput & { readonly value: string },
) => Promise<Sent | { readonly status: number }>;

/** A register whose writes take several requests, of which the last decides. */
function partRegister(name: string, prefix: string, write: Write) {
  return registerWorkload({
    name,
    service: "blob",
    setUp,
    async perform(setting, key, input) {
      const path = `${container}/${prefix}-${key}`;
      const request = "value" in input ? await write(setting, path, input) : requestOf(path, input);
      if ("status" in request) return request;
      const answer = await setting.wire.send(request);
      const etag = headerOf(answer, "etag");
      const isSeen = input.action === "read" && answer.status === 200;
      // Another commit has discarded the blocks: nothing happened, whatever the condition.
      const isDiscarded = answer.status === 400 && answer.text.includes("InvalidBlockList");
      return {
        status: isDiscarded ? 503 : answer.status,
        ...(etag === "" ? {} : { etag }),
        ...(isSeen ? { value: valueIn(answer.text) } : {}),
      };
    },
  });
}

/** Puts blocks, then commits their list. */
export const blockRegister = partRegister("block register", "b", async (setting, path, input) => {
  const { wire } = setting;
  const parts = partsOf(input.value);
  const ids = parts.map((_, index) => idOf(input.value, index));
  for (const [index, body] of parts.entries()) {
    const query = `comp=block&blockid=${encodeURIComponent(ids[index] ?? "")}`;
    const put: Sent = { service: "blob", method: "PUT", path: `${path}?${query}`, body };
    const { status } = await wire.send(put);
    if (!isFine(status)) return { status };
  }
  const list = ids.map((id) => `<Latest>${id}</Latest>`).join("");
  const body = `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`;
  const headers = conditionsOf(input);
  return { service: "blob", method: "PUT", path: `${path}?comp=blocklist`, headers, body };
});

/** Puts another blob, then copies it. */
export const copyRegister = partRegister("copy register", "c", async (setting, path, input) => {
  const source = `${container}/s-${input.value}`;
  const type = { "x-ms-blob-type": "BlockBlob" };
  const put: Sent = {
    service: "blob",
    method: "PUT",
    path: source,
    headers: type,
    body: partsOf(input.value).join(""),
  };
  const { status } = await setting.wire.send(put);
  if (!isFine(status)) return { status };
  const url = `http://127.0.0.1:10000/${account}${source}?${sasOf(account)}`;
  const headers = { ...type, ...conditionsOf(input), "x-ms-copy-source": url };
  return { service: "blob", method: "PUT", path, headers };
});

function conditionsOf(input: RegisterInput): Record<string, string> {
  if (input.action === "create") return { "if-none-match": "*" };
  return input.action === "swap" ? { "if-match": input.etag } : {};
}

function requestOf(path: string, input: RegisterInput): Sent {
  if (input.action === "read") return { service: "blob", method: "GET", path };
  // Without a condition, a delete also succeeds if there are only uncommitted blocks.
  const headers = { "if-match": input.action === "removeMatch" ? input.etag : "*" };
  return { service: "blob", method: "DELETE", path, headers };
}

/** The parts of a value; each names it, so that a mixture of two values is detected. */
function partsOf(value: string): readonly string[] {
  const count = 1 + (value.length % blocksMax);
  return Array.from({ length: count }, (_, index) => {
    const length = lengths[(value.charCodeAt(value.length - 1) + index) % lengths.length] ?? 0;
    return `${value}:${index}:${".".repeat(length)}|`;
  });
}

function valueIn(text: string): string {
  const value = text.slice(0, text.indexOf(":"));
  return text === partsOf(value).join("") ? value : `torn ${text.length} bytes of ${value}`;
}

/** All ids of a blob have the same length. */
function idOf(value: string, index: number): string {
  return Buffer.from(`${value}-${index}`.padStart(idCharacters, "0")).toString("base64");
}
