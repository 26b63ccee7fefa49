import type { RegisterInput } from "../../verify/registers.ts";
import { headerOf, type Sent } from "../../verify/wire.ts";
import { insist, isFine, type Setting, type Workload } from "../../verify/workload.ts";
import { registerWorkload } from "../../verify/workloads/register.ts";

const container = "/simulate-large";
/** Lines, by the last digit of a value. The longest are more than an extent, and than what a server
 *  reads at once. */
const lengths = [2_200, 300, 50, 20, 10, 5, 150, 20, 100, 1_400];
const lineCharacters = 1000;
const emptyLine = `${".".repeat(lineCharacters - 1)}\n`;
const blobs = 2;
/** Keys are used so long that most of what is stored is replaced and its space is reclaimed. */
const epochsPerKey = 8;

const register = registerWorkload({
  name: "large register",
  service: "blob",
  setUp: ({ wire }) =>
    insist(
      () => wire.send({ service: "blob", method: "PUT", path: `${container}?restype=container` }),
      201,
      409,
    ),
  perform,
});

async function perform({ wire }: Setting, key: string, input: RegisterInput) {
  const answer = await wire.send(requestOf(`${container}/${key}`, input));
  const { status, bytes } = answer;
  const etag = headerOf(answer, "etag");
  return {
    status,
    ...(etag === "" ? {} : { etag }),
    ...(input.action === "read" && status === 200 ? { value: valueIn(bytes) } : {}),
  };
}

/** Blobs of several extents, which are replaced and deleted while they are read: on slow
 *  connections a read takes longer than it takes to reclaim the space of what it reads. */
export const largeRegister: Workload = {
  ...register,
  client(setting) {
    const etags = new Map<string, string>();
    return async () => {
      const { epoch, random, recorder } = setting;
      const key = `g${Math.floor(epoch() / epochsPerKey)}-${random.below(blobs)}`;
      const input = choose(setting, etags.get(key));
      const called = { workload: register.name, key, input };
      const output = await recorder.record(called, () => perform(setting, key, input));
      if (output?.etag !== undefined && isFine(output.status)) etags.set(key, output.etag);
    };
  },
};

function choose({ random, unique }: Setting, etag: string | undefined): RegisterInput {
  const die = random.below(100);
  if (die < 45) return { action: "read" };
  if (die < 85 || etag === undefined) return { action: "write", value: unique() };
  return die < 95 ? { action: "swap", value: unique(), etag } : { action: "remove" };
}

function requestOf(path: string, input: RegisterInput): Sent {
  const to = { service: "blob", path } as const;
  if (input.action === "read") return { ...to, method: "GET" };
  if (input.action === "remove") return { ...to, method: "DELETE" };
  if (input.action === "removeMatch") {
    return { ...to, method: "DELETE", headers: { "if-match": input.etag } };
  }
  const type = { "x-ms-blob-type": "BlockBlob" };
  const headers = { ...type, ...conditionOf(input) };
  return {
    ...to,
    method: "PUT",
    headers,
    // Made only if there is a server to send it to: while there is none, clients try in vain often.
    get body() {
      return bodyOf(input.value);
    },
  };
}

function conditionOf(input: RegisterInput): Readonly<Record<string, string>> {
  if (input.action === "create") return { "if-none-match": "*" };
  return input.action === "swap" ? { "if-match": input.etag } : {};
}

/** Each line names the value and its place, so that a mixture of two values is detected. */
function bodyOf(value: string): Buffer {
  const lines = lengths[Number(value.at(-1)) % lengths.length] ?? 0;
  const bytes = Buffer.alloc(lines * lineCharacters, emptyLine);
  for (let index = 0; index < lines; index += 1) {
    bytes.write(`${value}:${index}`, index * lineCharacters, "latin1");
  }
  return bytes;
}

function valueIn(bytes: Buffer): string {
  const value = bytes.toString("latin1", 0, Math.max(0, bytes.indexOf(":")));
  return bytes.equals(bodyOf(value)) ? value : `torn ${bytes.length} bytes of ${value}`;
}
