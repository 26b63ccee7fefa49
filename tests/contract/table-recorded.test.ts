import { beforeAll, describe, expect, it } from "vitest";
import { tableService } from "../../src/table/service.ts";
import type { RawCall } from "../harness/raw-client.ts";
import { simService, type SimService } from "../harness/sim-service.ts";
import { batchOf } from "../harness/table-client.ts";
import { unsignedToken } from "../identity/unsigned-token.ts";

/** Facts from recordings of the service, one row each. */

const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };
const atom = { "content-type": "application/atom+xml", accept: json.accept };
const entityPath = "/things(PartitionKey='p',RowKey='r')";
const mebibyte = 1024 * 1024;

let sim: SimService;

beforeAll(async () => {
  sim = await simService(tableService);
  const body = JSON.stringify({ TableName: "things" });
  await sim.send({ method: "POST", path: "/Tables", headers: json, body });
  await put({});
});

function put(properties: object, headers: Readonly<Record<string, string>> = {}) {
  return putBody(JSON.stringify({ PartitionKey: "p", RowKey: "r", ...properties }), {
    ...json,
    ...headers,
  });
}

function putBody(body: string, headers: Readonly<Record<string, string>>) {
  return sim.send({ method: "PUT", path: entityPath, headers, body });
}

function get(path: string) {
  return sim.send({ method: "GET", path, headers: json });
}

async function stored(): Promise<Record<string, unknown>> {
  return JSON.parse((await get(entityPath)).body) as Record<string, unknown>;
}

function transaction(bytes: number): RawCall {
  const { body, headers } = batchOf(["GET /things() HTTP/1.1\r\n\r\n"]);
  return { method: "POST", path: "/$batch", headers, body: body + "x".repeat(bytes - body.length) };
}

describe("an entity group transaction", () => {
  it("over 4 MiB is 413 RequestBodyTooLarge", async () => {
    const answer = await sim.send(transaction(4 * mebibyte + 1));
    expect(answer.status).toBe(413);
    expect(answer.body).toContain("RequestBodyTooLarge");
    expect(answer.body).toContain(
      "The request body is too large and exceeds the maximum permissible limit.",
    );
  });

  it("of 4 MiB is accepted", async () => {
    expect((await sim.send(transaction(4 * mebibyte))).status).not.toBe(413);
  });
});

describe("If-Match", () => {
  it.each([
    [`W/"datetime'2020-01-01T00%3A00%3A00Z'"`, 412, "UpdateConditionNotSatisfied"],
    [`W/"0x8D1234567890123"`, 412, "UpdateConditionNotSatisfied"],
    [`W/"*"`, 412, "UpdateConditionNotSatisfied"],
    [`W/""`, 412, "UpdateConditionNotSatisfied"],
    [`W/"datetime'yesterday'"`, 412, "UpdateConditionNotSatisfied"],
    [`"0x8D1234567890123"`, 400, "InvalidInput"],
    [`W/"unfinished`, 400, "InvalidInput"],
    [`W/"a",W/"b"`, 400, "InvalidInput"],
  ])("%s is %d %s", async (etag, status, code) => {
    const answer = await put({ Changed: true }, { "if-match": etag });
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(`"code":"${code}"`);
    expect(await stored()).not.toHaveProperty("Changed");
  });
});

describe("a Timestamp from the client is ignored", () => {
  it.each<[string, object]>([
    ["a date", { Timestamp: "1999-01-01T00:00:00Z", "Timestamp@odata.type": "Edm.DateTime" }],
    ["a text", { Timestamp: "yesterday" }],
    ["a text said to be a date", { Timestamp: "x", "Timestamp@odata.type": "Edm.DateTime" }],
    ["of a type that there is not", { Timestamp: "x", "Timestamp@odata.type": "Edm.Nothing" }],
    ["a number", { Timestamp: 1e300 }],
    ["a long number", { Timestamp: 12_345_678_901 }],
    ["null", { Timestamp: null }],
  ])("%s", async (_, properties) => {
    expect((await put({ ...properties, Kept: 1 })).status).toBe(204);
    const entity = await stored();
    expect(entity["Kept"]).toBe(1);
    expect(Date.parse(String(entity["Timestamp"]))).toBeGreaterThan(Date.parse("2000-01-01"));
  });

  it("in Atom", async () => {
    const start = '<entry xmlns:d="d" xmlns:m="m"><content><m:properties>';
    const property = '<d:Timestamp m:type="Edm.DateTime">yesterday</d:Timestamp>';
    const body = `${start}${property}</m:properties></content></entry>`;
    expect((await putBody(body, atom)).status).toBe(204);
  });
});

describe("Edm.DateTime", () => {
  const second = "2020-02-03T04:05:06";
  const rows: readonly [string, string | undefined][] = [
    [`${second}.123456712Z`, `${second}.1234567Z`],
    [`${second}.123456789Z`, `${second}.1234568Z`],
    [`${second}.12345675Z`, `${second}.1234568Z`],
    [`${second}.12345665Z`, `${second}.1234566Z`],
    [`${second}.999999999Z`, "2020-02-03T04:05:07Z"],
    [`${second}.123456712`, `${second}.1234567Z`],
    [`${second}.123456712+01:00`, "2020-02-03T03:05:06.1234567Z"],
    [`${second}.1234567Z`, `${second}.1234567Z`],
    [`${second}.1234567123Z`, undefined],
    ["9999-12-31T23:59:59.999999999Z", undefined],
  ];

  it.each(rows)("%s is stored as %s", async (text, expected) => {
    await put({});
    const answer = await put({ At: text, "At@odata.type": "Edm.DateTime" });
    expect(answer.status).toBe(expected === undefined ? 400 : 204);
    expect((await stored())["At"]).toBe(expected);
  });

  it.each(rows)("%s in a filter is %s", async (text, expected) => {
    await put({ At: expected ?? `${second}Z`, "At@odata.type": "Edm.DateTime" });
    const filter = encodeURIComponent(`At eq datetime'${text}'`);
    const answer = await get(`/things()?$filter=${filter}`);
    expect(answer.status).toBe(expected === undefined ? 400 : 200);
    if (expected !== undefined) expect(answer.body).toContain('"RowKey":"r"');
  });
});

describe("$top", () => {
  it.each([
    ["/things()?$top=0", 200],
    ["/Tables?$top=0", 200],
    ["/things()?$top=1001", 400],
    ["/things()?$top=-1", 400],
    ["/things()?$top=x", 400],
  ])("%s is %d", async (path, status) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    if (status !== 200) return;
    expect(JSON.parse(answer.body)).toEqual({ value: [] });
    expect(Object.keys(answer.headers).join()).not.toContain("x-ms-continuation");
  });
});

describe("Prefer: return-no-content", () => {
  const prefer = { prefer: "return-no-content" };
  it.each(["PUT", "MERGE", "PATCH"])("%s applies it, with and without If-Match", async (method) => {
    const body = JSON.stringify({ Changed: method });
    for (const match of [{}, { "if-match": "*" }]) {
      const headers = { ...json, ...prefer, ...match, "x-ms-version": "2018-03-28" };
      const answer = await sim.send({ method, path: entityPath, headers, body });
      expect(answer.status).toBe(204);
      expect(answer.headers["preference-applied"]).toBe("return-no-content");
    }
    const plain = await sim.send({ method, path: entityPath, headers: json, body });
    expect(plain.headers["preference-applied"]).toBeUndefined();
  });
});

describe("the Content-Type of a fault", () => {
  it.each([
    ["application/json;odata=nometadata", "nometadata"],
    ["application/json; odata=fullmetadata", "fullmetadata"],
    ["application/json;odata=minimalmetadata", "minimalmetadata"],
    ["application/json", "minimalmetadata"],
  ])("to a client that accepts %s says %s", async (accept, level) => {
    const path = "/things(PartitionKey='p',RowKey='missing')";
    const answer = await sim.send({ method: "GET", path, headers: { accept } });
    expect(answer.status).toBe(404);
    expect(answer.headers["content-type"]).toContain(`odata=${level}`);
  });
});

describe("a fault of a missing or misnamed table", () => {
  it.each([
    ["2018-03-28", "TableNotFound"],
    ["2019-02-02", "ResourceNotFound"],
  ])("Set Table ACL in %s: %s", async (version, code) => {
    const authorization = `Bearer ${unsignedToken("o1")}`;
    const headers = { "x-ms-version": version, "content-length": "21", authorization };
    const call = { method: "PUT", path: "/missing?comp=acl", headers };
    const bearers = await simService(tableService, { http: { oauth: "basic" } });
    const answer = await bearers.sendAs({ ...call, body: "<SignedIdentifiers />" }, true);
    expect(answer.status).toBe(404);
    expect(answer.code).toBe(code);
  });

  it("a request without credentials gets 404 whatever the name is", async () => {
    const headers = { accept: "application/json", "x-ms-version": "2019-02-02" };
    for (const path of ["/my_table(PartitionKey='p',RowKey='r')", "/Tables('my_table')"]) {
      const answer = await sim.sendAs({ method: "DELETE", path, headers });
      expect(answer.status).toBe(404);
      expect(answer.body).toContain("ResourceNotFound");
    }
    const known = { method: "DELETE", path: "/my_table(PartitionKey='p',RowKey='r')" };
    expect((await sim.send({ ...known, headers: { ...json, "if-match": "*" } })).status).toBe(400);
  });
});

describe("keys with an annotated type", () => {
  const keys = {
    PartitionKey: "2024-01-02T03:04:05.000000Z",
    "PartitionKey@odata.type": "Edm.DateTime",
    RowKey: "c9da6455-213d-42c9-9a79-3e9149a57833",
    "RowKey@odata.type": "Edm.Guid",
  };
  const path = `/things(PartitionKey='${keys.PartitionKey}',RowKey='${keys.RowKey}')`;
  const body = JSON.stringify({ ...keys, Data: true });

  it.each(["PUT", "PATCH", "MERGE"])("%s compares their text with the address", async (method) => {
    for (const match of [{}, { "if-match": "*" }]) {
      const headers = { ...json, ...match };
      expect((await sim.send({ method, path, headers, body })).status).toBe(204);
      const elsewhere = await sim.send({ method, path: entityPath, headers, body });
      expect([elsewhere.status, elsewhere.body]).toEqual([
        400,
        expect.stringContaining("InvalidInput"),
      ]);
    }
    expect(JSON.parse((await get(path)).body)).toMatchObject({ RowKey: keys.RowKey, Data: true });
  });

  it("Insert Entity rejects them", async () => {
    const fresh = JSON.stringify({ ...keys, RowKey: "c9da6455-213d-42c9-9a79-3e9149a57834" });
    const answer = await sim.send({ method: "POST", path: "/things", headers: json, body: fresh });
    expect(answer.status).toBe(400);
    expect(answer.body).toContain("One of the request inputs is not valid.");
  });
});
