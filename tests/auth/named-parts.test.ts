import { AzureNamedKeyCredential, generateTableSas } from "@azure/data-tables";
import { beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { services } from "../../src/data/services.ts";
import {
  accountKey,
  accountToken,
  namedWorld,
  resourceToken,
  urlOf,
  type NamedWorld,
} from "./named-world.ts";

/** Operations whose body contains requests; each part is authorized separately. */

let world: NamedWorld;

beforeAll(async () => {
  world = await namedWorld();
  for (const container of ["one", "two"]) {
    await asOwner("blob", "PUT", `/${container}?restype=container`);
  }
  for (const table of ["mine", "other"]) {
    await asOwner("table", "POST", "/Tables", JSON.stringify({ TableName: table }));
  }
});

async function asOwner(
  service: "blob" | "table" | "file",
  method: string,
  path: string,
  body = "",
) {
  const type = { "content-type": "application/json", accept: "application/json" };
  const headers = { "x-ms-blob-type": "BlockBlob", "x-ms-type": "file", ...type };
  const call = { method, path, body, authorization: accountKey };
  const { status } = await world.send(service, {
    ...call,
    headers: { ...headers, "x-ms-content-length": "0" },
  });
  expect(status).toBeLessThan(300);
}

async function statusOf(path: string): Promise<number> {
  const call = { method: "HEAD", path, authorization: accountKey };
  return (await world.send("blob", call)).status;
}

it("parts of batches that name resources are those tested here", () => {
  const holders = services.flatMap(({ operations }) =>
    operations.filter(({ namedResources = [] }) =>
      namedResources.some(({ kind }) => kind === "parts"),
    ),
  );
  const names = new Set(holders.map(({ name }) => name));
  expect([...names].toSorted()).toEqual(["Blob Batch", "Entity Group Transaction"]);
});

describe("Blob Batch", () => {
  const blobs = "/one/b";
  const rows = [
    ["an account SAS", () => accountToken(), true],
    ["a SAS for its container", () => resourceToken({ service: "blob", name: "one" }, "d"), true],
    [
      "a SAS for itself",
      () => resourceToken({ service: "blob", name: "one", path: "b" }, "d"),
      true,
    ],
    [
      "a SAS for another blob",
      () => resourceToken({ service: "blob", name: "one", path: "a" }, "d"),
      false,
    ],
    [
      "a SAS for another container",
      () => resourceToken({ service: "blob", name: "two" }, "d"),
      false,
    ],
    [
      "a SAS without the permission",
      () => resourceToken({ service: "blob", name: "one" }, "rw"),
      false,
    ],
    ["nothing", () => "", false],
  ] as const;

  it.each(rows)("deletes a blob whose part carries %s", async (_, tokenOf, expected) => {
    await asOwner("blob", "PUT", blobs);
    const part = [
      "--b",
      "Content-Type: application/http",
      "",
      `DELETE ${new URL(urlOf(blobs, tokenOf())).pathname}?${tokenOf()} HTTP/1.1`,
      "",
      "",
    ];
    const { body, status } = await world.send("blob", {
      method: "POST",
      path: "/?comp=batch",
      // The batch request is fully authorized; its parts must not inherit that.
      token: accountToken(),
      headers: { "content-type": "multipart/mixed; boundary=b" },
      body: `${part.join("\r\n")}\r\n--b--\r\n`,
    });
    expect(status, body).toBe(202);
    expect((await statusOf(blobs)) === 404).toBe(expected);
  });
});

describe("Entity Group Transaction", () => {
  const key = new AzureNamedKeyCredential(developmentAccountName, developmentAccountKey);
  const permissions = { query: true, add: true, update: true, delete: true };
  const tokenOf = (table: string, range = {}) =>
    generateTableSas(table, key, { expiresOn: new Date("2099-01-01"), permissions, ...range });
  const within = { startPartitionKey: "p", startRowKey: "b", endPartitionKey: "p", endRowKey: "c" };
  const rows = [
    ["an account SAS", () => accountToken(), "mine", true],
    ["a SAS for its table", () => tokenOf("mine"), "mine", true],
    ["a SAS for another table", () => tokenOf("mine"), "other", false],
    ["a SAS for entities beside it", () => tokenOf("mine", within), "mine", false],
    ["nothing", () => "", "mine", false],
  ] as const;

  it.each(rows)("inserts the entities that %s covers", async (_, token, table, expected) => {
    const row = `a${rows.findIndex(([name]) => name === _)}`;
    const change = [
      "--c",
      "Content-Type: application/http",
      "Content-Transfer-Encoding: binary",
      "",
      `POST ${urlOf(`/${table}`)} HTTP/1.1`,
      "Content-Type: application/json",
      "Accept: application/json;odata=minimalmetadata",
      "",
      JSON.stringify({ PartitionKey: "p", RowKey: row }),
      "--c--",
    ];
    const body = ["--b", "Content-Type: multipart/mixed; boundary=c", "", ...change, "--b--", ""];
    const query = token();
    await world.send("table", {
      method: "POST",
      path: "/$batch",
      ...(query !== "" && { token: query }),
      headers: { "content-type": "multipart/mixed; boundary=b" },
      body: body.join("\r\n"),
    });
    const path = `/${table}(PartitionKey='p',RowKey='${row}')`;
    const headers = { accept: "application/json" };
    const found = await world.send("table", {
      method: "GET",
      path,
      headers,
      authorization: accountKey,
    });
    expect(found.status === 200).toBe(expected);
  });
});

describe("hard and symbolic links", () => {
  beforeAll(async () => {
    const headers = { "x-ms-enabled-protocols": "NFS" };
    const call = { method: "PUT", path: "/files?restype=share", headers };
    await world.send("file", { ...call, authorization: accountKey });
    const made = { "x-ms-type": "file", "x-ms-content-length": "6" };
    const owner = { method: "PUT", authorization: accountKey };
    await world.send("file", { ...owner, path: "/files/secret", headers: made });
    const range = { "x-ms-write": "update", "x-ms-range": "bytes=0-5" };
    const path = "/files/secret?comp=range";
    const { status } = await world.send("file", { ...owner, path, headers: range, body: "secret" });
    expect(status).toBe(201);
  });
  const token = () => resourceToken({ service: "file", name: "files", path: "mine" }, "rcwd");

  it("give no access beyond a SAS for one file", async () => {
    const headers = { "x-ms-type": "file", "x-ms-file-target-file": "secret" };
    const call = { method: "PUT", path: "/files/mine?restype=hardlink", headers, token: token() };
    const linked = await world.send("file", call);
    expect(linked.status).toBe(403);
    expect(linked.headers["x-ms-error-code"]).toBe("AuthorizationFailure");
    const read = await world.send("file", { method: "GET", path: "/files/mine", token: token() });
    expect(read.status).toBe(404);
  });

  it("are not followed if symbolic", async () => {
    const headers = { "x-ms-link-text": "secret" };
    const path = "/files/mine?restype=symboliclink";
    expect(
      (await world.send("file", { method: "PUT", path, headers, token: token() })).status,
    ).toBe(201);
    const read = await world.send("file", { method: "GET", path: "/files/mine", token: token() });
    expect(read.body).toBe("");
  });
});
