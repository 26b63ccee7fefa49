import type { RegisterInput } from "../registers.ts";
import { headerOf, type Sent } from "../wire.ts";
import { insist } from "../workload.ts";
import { registerWorkload } from "./register.ts";

const table = "verifyregisters";

export const entityRegister = registerWorkload({
  name: "entity register",
  service: "table",
  setUp: ({ wire }) => insist(() => wire.send(newTable(table)), 201, 409),
  async perform({ wire }, key, input) {
    const answer = await wire.send(requestOf(key, input));
    const etag = headerOf(answer, "etag");
    const seen = input.action === "read" && answer.status === 200;
    return {
      status: answer.status,
      ...(etag === "" ? {} : { etag }),
      ...(seen ? { value: (JSON.parse(answer.text) as { value: string }).value } : {}),
    };
  },
});

export function newTable(name: string): Sent {
  const body = JSON.stringify({ TableName: name });
  return { service: "table", method: "POST", path: "/Tables", body };
}

function requestOf(key: string, input: RegisterInput): Sent {
  const on = { service: "table", path: `/${table}(PartitionKey='p',RowKey='${key}')` } as const;
  const put = { ...on, method: "PUT" } as const;
  switch (input.action) {
    case "read":
      return { ...on, method: "GET" };
    case "write":
      return { ...put, body: JSON.stringify({ value: input.value }) };
    case "create": {
      const entity = { PartitionKey: "p", RowKey: key, value: input.value };
      return { service: "table", method: "POST", path: `/${table}`, body: JSON.stringify(entity) };
    }
    case "swap": {
      const headers = { "if-match": input.etag };
      return { ...put, headers, body: JSON.stringify({ value: input.value }) };
    }
    case "remove":
      return { ...on, method: "DELETE", headers: { "if-match": "*" } };
    case "removeMatch":
      return { ...on, method: "DELETE", headers: { "if-match": input.etag } };
  }
}
