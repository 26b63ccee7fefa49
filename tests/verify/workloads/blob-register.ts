import type { RegisterInput } from "../registers.ts";
import { headerOf, type Sent } from "../wire.ts";
import { insist } from "../workload.ts";
import { registerWorkload } from "./register.ts";

const container = "/verify-registers";
/** Some are stored inline, some in extents. */
const lengths = [40, 900, 5_000, 70_000];

export const blobRegister = registerWorkload({
  name: "blob register",
  service: "blob",
  setUp: ({ wire }) =>
    insist(
      () => wire.send({ service: "blob", method: "PUT", path: `${container}?restype=container` }),
      201,
      409,
    ),
  async perform({ wire }, key, input) {
    const answer = await wire.send(requestOf(`${container}/${key}`, input));
    const etag = headerOf(answer, "etag");
    const seen = input.action === "read" && answer.status === 200;
    return {
      status: answer.status,
      ...(etag === "" ? {} : { etag }),
      ...(seen ? { value: valueIn(answer.text) } : {}),
    };
  },
});

function requestOf(path: string, input: RegisterInput): Sent {
  const on = { service: "blob", path } as const;
  const put = { ...on, method: "PUT" } as const;
  const type = { "x-ms-blob-type": "BlockBlob" };
  switch (input.action) {
    case "read":
      return { ...on, method: "GET" };
    case "write":
      return { ...put, headers: type, body: bodyOf(input.value) };
    case "create":
      return { ...put, headers: { ...type, "if-none-match": "*" }, body: bodyOf(input.value) };
    case "swap":
      return { ...put, headers: { ...type, "if-match": input.etag }, body: bodyOf(input.value) };
    case "remove":
      return { ...on, method: "DELETE" };
    case "removeMatch":
      return { ...on, method: "DELETE", headers: { "if-match": input.etag } };
  }
}

/** The value repeated, so that a mixture of two is detected. */
function bodyOf(value: string): string {
  const length = lengths[Number(value.slice(-1)) % lengths.length] ?? 0;
  return `${value}|`.repeat(Math.ceil(length / value.length));
}

function valueIn(text: string): string {
  const value = text.slice(0, text.indexOf("|"));
  return text === bodyOf(value) ? value : `torn ${text.length} bytes of ${value}`;
}
