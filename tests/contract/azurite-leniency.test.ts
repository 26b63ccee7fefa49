import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import type { ServiceName } from "../../src/protocol/names.ts";
import { testServer } from "../harness/server.ts";

const held = testServer();

interface Sent {
  readonly service: ServiceName;
  readonly method: string;
  readonly path: string;
  readonly account?: string;
  readonly body?: string;
  /** The form of an empty body's length in the string to sign. */
  readonly zeroLength?: "" | "0";
}

/** Signs with the account key and sends no x-ms-version. */
async function send({ service, method, path, body = "", zeroLength = "", ...more }: Sent) {
  const account = more.account ?? developmentAccountName;
  const date = new Date().toUTCString();
  const [resource = "", query = ""] = `/${account}/${account}${path}`.split("?");
  const sorted = query === "" ? "" : `\n${query.replace("=", ":")}`;
  const type = body === "" ? "" : "application/json";
  const hasBody = method !== "GET";
  const length = body === "" ? (hasBody ? zeroLength : "") : String(body.length);
  const text =
    service === "table"
      ? `${method}\n\n${type}\n${date}\n${resource}`
      : `${method}\n\n\n${length}\n\n${type}\n\n\n\n\n\n\nx-ms-date:${date}\n${resource}${sorted}`;
  const key = Buffer.from(developmentAccountKey, "base64");
  const signature = createHmac("sha256", key).update(text).digest("base64");
  return fetch(`${held.server.urls[service]}/${account}${path}`, {
    method,
    headers: {
      "x-ms-date": date,
      authorization: `SharedKey ${account}:${signature}`,
      ...(type === "" ? {} : { "content-type": type }),
    },
    ...(body === "" ? {} : { body }),
  });
}

describe("requests that Azurite accepts", () => {
  it.each<[string, Sent, number]>([
    ["queue", { service: "queue", method: "PUT", path: "/first" }, 201],
    ["blob", { service: "blob", method: "PUT", path: "/box?restype=container" }, 201],
    ["file", { service: "file", method: "PUT", path: "/share?restype=share" }, 201],
    ["table", { service: "table", method: "GET", path: "/Tables" }, 200],
  ])("may omit x-ms-version: %s", async (_service, sent, status) => {
    expect((await send(sent)).status).toBe(status);
  });

  it.each(["", "0"] as const)("may sign a content length of zero as %j", async (zeroLength) => {
    const path = zeroLength === "" ? "/empty" : "/zero";
    const answer = await send({ service: "queue", method: "PUT", path, zeroLength });
    expect(answer.status).toBe(201);
  });

  it("may end the path of the table collection with a slash", async () => {
    const body = JSON.stringify({ TableName: "slashed" });
    const created = await send({ service: "table", method: "POST", path: "/Tables/", body });
    expect(created.status).toBe(201);
    const listed = await send({ service: "table", method: "GET", path: "/Tables/" });
    expect(await listed.text()).toContain("slashed");
  });

  it.each<ServiceName>(["blob", "queue", "table", "file"])(
    "for an unknown account are answered with 404: %s",
    async (service) => {
      const answer = await send({ service, method: "GET", path: "/", account: "absent" });
      expect(answer.status).toBe(404);
      expect(answer.headers.get("x-ms-error-code") ?? (await answer.text())).toContain(
        "ResourceNotFound",
      );
    },
  );
});
