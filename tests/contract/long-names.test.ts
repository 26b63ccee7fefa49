import { expect, it } from "vitest";
import { testServer } from "../harness/server.ts";
import { rawClient } from "../harness/raw-client.ts";

const held = testServer();
const long = "x".repeat(5000);

/** Names in headers have the same limit as names in URLs. */
it.each([
  ["blob", "/new?restype=container&comp=rename", "x-ms-source-container-name"],
  ["blob", "/new?restype=container&comp=undelete", "x-ms-deleted-container-name"],
  ["file", "/new?restype=share&comp=undelete", "x-ms-deleted-share-name"],
] as const)("%s %s rejects a %s that is too long", async (service, path, name) => {
  const client = rawClient(held.server.urls[service] ?? "");
  const version = "01D64EB9886F00C4";
  const headers = {
    [name]: long,
    "x-ms-deleted-container-version": version,
    "x-ms-deleted-share-version": version,
  };
  const answer = await client.send({ method: "PUT", path, headers });
  expect([answer.status, answer.code]).toEqual([400, "InvalidHeaderValue"]);
});
