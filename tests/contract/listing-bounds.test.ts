import { expect, it } from "vitest";
import { testServer } from "../harness/server.ts";
import { rawClient } from "../harness/raw-client.ts";

const held = testServer();
const long = "x".repeat(5000);
const parts = Buffer.from(JSON.stringify([long]))
  .toString("base64")
  .replaceAll("=", "-");
const forged = `2!${parts.length}!${parts}`;

/** Markers that no name can produce. */
it.each([
  ["blob", `/?comp=list&prefix=${long}`],
  ["blob", `/?comp=list&marker=/devstoreaccount1/${long}`],
  ["blob", `/any?restype=container&comp=list&prefix=${long}`],
  ["blob", `/any?restype=container&comp=list&marker=${forged}`],
  ["queue", `/?comp=list&prefix=${long}`],
  ["queue", `/?comp=list&marker=/devstoreaccount1/${long}`],
  ["file", `/?comp=list&prefix=${long}`],
  ["file", `/?comp=list&marker=/devstoreaccount1/${long}`],
  ["file", `/any?restype=directory&comp=list&prefix=${long}`],
  ["file", `/any?restype=directory&comp=list&marker=${forged}`],
] as const)("%s listing, case %#: gets a client error", async (service, path) => {
  const client = rawClient(held.server.urls[service] ?? "");
  const isFile = service === "file";
  await client.send({ method: "PUT", path: `/any?restype=${isFile ? "share" : "container"}` });
  expect((await client.send({ method: "GET", path })).status).toBe(400);
});
