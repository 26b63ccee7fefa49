import { describe, expect, it } from "vitest";
import { testServer } from "../harness/server.ts";
import { accountUrl, batchOf, tableWire } from "../harness/table-client.ts";

const held = testServer();
const wire = tableWire(() => held.server.urls.table ?? "");
const at = (table: string, rowKey: string) => `/${table}(PartitionKey='p',RowKey='${rowKey}')`;
const keys = { PartitionKey: "p", RowKey: "r" };

describe("4 table conditions", () => {
  it("a stale ETag gets 412, * matches any, none is an upsert, and Delete requires one", async () => {
    const table = await wire.newTable();
    const path = at(table, "r");
    const first = String((await wire.insert(table, keys)).headers["etag"]);
    const put = (headers: Record<string, string>, method = "PUT") =>
      wire.send({ method, path, headers, ...(method !== "DELETE" && { body: "{}" }) });
    const second = String((await put({ "if-match": first })).headers["etag"]);
    expect(second).not.toBe(first);
    for (const method of ["PUT", "MERGE", "PATCH", "DELETE"]) {
      const stale = await put({ "if-match": first }, method);
      expect([stale.status, stale.fault]).toEqual([412, "UpdateConditionNotSatisfied"]);
    }
    expect((await wire.send({ method: "GET", path })).headers["etag"]).toBe(second);
    expect((await put({ "if-match": "*" })).status).toBe(204);
    expect((await put({})).status).toBe(204);
    expect((await put({}, "DELETE")).fault).toBe("MissingRequiredHeader");
    expect((await put({ "if-match": '"0x8D"' })).fault).toBe("InvalidInput");
    expect((await put({ "if-none-match": "*" })).fault).toBe("InvalidInput");
    const old = { "x-ms-version": "2009-09-19", accept: "application/atom+xml" };
    expect((await put(old)).status).toBe(400);
    expect((await put({ "if-match": "*" }, "DELETE")).status).toBe(204);
    expect((await put({ "if-match": "*" })).fault).toBe("ResourceNotFound");
    expect((await put({ "if-match": "*" }, "DELETE")).fault).toBe("ResourceNotFound");
  });

  it("X-HTTP-Method overrides POST", async () => {
    const table = await wire.newTable();
    await wire.insert(table, { ...keys, a: 1 });
    const path = at(table, "r");
    const tunnel = (method: string, asked: string) =>
      wire.send({
        method,
        path,
        headers: { "x-http-method": asked, "if-match": "*" },
        ...(asked !== "DELETE" && { body: '{"b":2}' }),
      });
    expect((await tunnel("POST", "MERGE")).status).toBe(204);
    expect(JSON.parse((await wire.send({ method: "GET", path })).text)).toMatchObject({
      a: 1,
      b: 2,
    });
    expect((await tunnel("PUT", "MERGE")).fault).toBe("XMethodNotUsingPost");
    expect((await tunnel("POST", "BREW")).fault).toBe("XMethodIncorrectValue");
    expect((await tunnel("POST", "DELETE")).status).toBe(204);
  });
});

describe("4 table forms", () => {
  const body = JSON.stringify({
    ...keys,
    text: "x",
    double: 1,
    "double@odata.type": "Edm.Double",
    plain: 2.0,
    long: "5",
    "long@odata.type": "Edm.Int64",
    gone: null,
  });

  it("JSON at each level of metadata", async () => {
    const table = await wire.newTable();
    await wire.send({
      method: "POST",
      path: `/${table}`,
      body: body.replace('"plain":2', '"plain":2.0'),
    });
    const read = async (level: string, query = "") => {
      const accept = `application/json;odata=${level}`;
      const path = `${at(table, "r")}${query}`;
      const answer = await wire.send({ method: "GET", path, headers: { accept } });
      expect(answer.headers["content-type"]).toBe(`${accept};streaming=true;charset=utf-8`);
      return answer.text.replaceAll(/\d{4}-\d\d-\d\dT[\d.:%A]+Z/g, "NOW");
    };
    const url = accountUrl(held.server.urls.table ?? "");
    const values = '"text":"x","double":1.0,"plain":2.0,';
    expect(await read("nometadata")).toBe(
      `{"PartitionKey":"p","RowKey":"r","Timestamp":"NOW",${values}"long":"5"}`,
    );
    const etag = String.raw`"odata.etag":"W/\"datetime'NOW'\""`;
    const metadata = `"odata.metadata":"${url}/$metadata#${table}/@Element"`;
    const typed = `${values}"long@odata.type":"Edm.Int64","long":"5"}`;
    expect(await read("minimalmetadata")).toBe(
      `{${metadata},${etag},"PartitionKey":"p","RowKey":"r","Timestamp":"NOW",${typed}`,
    );
    const link = `${table}(PartitionKey='p',RowKey='r')`;
    expect(await read("fullmetadata")).toBe(
      `{${metadata},"odata.type":"devstoreaccount1.${table}","odata.id":"${url}/${link}",${etag},` +
        `"odata.editLink":"${link}","PartitionKey":"p","RowKey":"r",` +
        `"Timestamp@odata.type":"Edm.DateTime","Timestamp":"NOW",${typed}`,
    );
    expect(await read("nometadata", "?$select=text,nothing")).toBe('{"text":"x","nothing":null}');
  });

  it("Atom, in requests and responses, for old versions only", async () => {
    const table = await wire.newTable();
    const old = { "x-ms-version": "2012-02-12", accept: "application/atom+xml" };
    const entry =
      '<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom" ' +
      'xmlns:m="http://m" xmlns:d="http://d"><content type="application/xml"><m:properties>' +
      "<d:PartitionKey>p</d:PartitionKey><d:RowKey>r</d:RowKey><d:text> a &amp; b </d:text>" +
      '<d:long m:type="Edm.Int64">5</d:long><d:gone m:null="true" />' +
      "</m:properties></content></entry>";
    const atom = { ...old, "content-type": "application/atom+xml" };
    const inserted = await wire.send({
      method: "POST",
      path: `/${table}`,
      headers: atom,
      body: entry,
    });
    expect(inserted.status).toBe(201);
    const list = await wire.send({ method: "GET", path: `/${table}()`, headers: old });
    expect(list.headers["content-type"]).toContain("application/atom+xml;type=feed");
    expect(list.text).toContain('<d:text xml:space="preserve"> a &amp; b </d:text>');
    expect(list.text).toContain('<d:long m:type="Edm.Int64">5</d:long>');
    const missing = await wire.send({ method: "GET", path: at(table, "x"), headers: old });
    expect(missing.text).toContain("<m:code>ResourceNotFound</m:code>");
    const today = { accept: "application/atom+xml" };
    const late = await wire.send({ method: "GET", path: `/${table}()`, headers: today });
    expect(late.status).toBe(415);
  });
});

describe("4 table transactions", () => {
  it("one partition, no entity twice, in order, all or nothing", async () => {
    const table = await wire.newTable();
    const post = (PartitionKey: string, RowKey: string) =>
      ({ method: "POST", path: `/${table}`, entity: { PartitionKey, RowKey } }) as const;
    const apart = await wire.transact([post("p", "1"), post("q", "1")]);
    expect([apart.status, apart.statuses]).toEqual([202, [400]]);
    expect(apart.fault).toBe("CommandsInBatchActOnDifferentPartitions");
    expect(apart.text).toContain('"1:All commands');
    const twice = await wire.transact([
      post("p", "1"),
      { method: "DELETE", path: at(table, "1"), headers: { "if-match": "*" } },
    ]);
    expect(twice.fault).toBe("InvalidDuplicateRow");
    const wrong = await wire.transact([post("p", "1"), { ...post("p", "2"), entity: { a: 1 } }]);
    expect(wrong.fault).toBe("PropertiesNeedValue");
    expect((await wire.transact([])).statuses).toEqual([]);
    const none = await wire.send({ method: "GET", path: `/${table}()` });
    expect(none.text).toBe('{"value":[]}');
    expect((await wire.transact([post("p", "1"), post("p", "2")])).statuses).toEqual([201, 201]);
  });

  // Its parts have no credentials of their own, but are not anonymous.
  it("reports the invalid name of a table", async () => {
    const change = { method: "PUT", path: "/1table(PartitionKey='p',RowKey='r')", entity: keys };
    const { fault } = await wire.transact([change]);
    expect(fault).toBe("InvalidResourceName");
  });

  it("may contain a single query", async () => {
    const table = await wire.newTable();
    await wire.insert(table, keys);
    const url = accountUrl(held.server.urls.table ?? "");
    const accept = "accept: application/json;odata=nometadata";
    const get = `GET ${url}/${table}() HTTP/1.1\r\n${accept}\r\n\r\n`;
    const body = `--b\r\nContent-Type: application/http\r\n\r\n${get}\r\n--b--\r\n`;
    const headers = { "content-type": "multipart/mixed; boundary=b" };
    const answer = await wire.send({ method: "POST", path: "/$batch", headers, body });
    expect(answer.status).toBe(202);
    expect(answer.text).toContain('"RowKey":"r"');
  });
});

describe("4 malformed table requests", () => {
  it("are rejected with an error code, change nothing and never get 500", async () => {
    const table = await wire.newTable();
    const path = at(table, "r");
    await wire.insert(table, keys);
    const before = (await wire.send({ method: "GET", path })).text;
    const post = (body: string, contentType = "application/json") => ({
      method: "POST",
      path: `/${table}`,
      body,
      headers: { "content-type": contentType },
    });
    const patch = (body: string) => ({ method: "PATCH", path, body, headers: { "if-match": "*" } });
    const multipart = { "content-type": "multipart/mixed; boundary=b" };
    const calls = [
      post(""),
      post("{"),
      post("[]"),
      post("null"),
      post("[".repeat(100_000)),
      post('{"PartitionKey":1,"RowKey":"x"}'),
      post('{"PartitionKey":"p","RowKey":"x","a":{}}'),
      post('{"PartitionKey":"p","RowKey":"x","a":1,"a":2}'),
      post('{"PartitionKey":"p","RowKey":"x"}', "text/plain"),
      post("<entry>", "application/atom+xml"),
      patch('{"a":12345678901}'),
      patch('{"a":"x","a@odata.type":"Edm.Guid"}'),
      patch('{"a":"x","a@odata.type":"Edm.What"}'),
      patch('{"a":"1600-01-01T00:00:00Z","a@odata.type":"Edm.DateTime"}'),
      patch('{"PartitionKey":"other"}'),
      { method: "GET", path: `/${table}(PartitionKey='p)` },
      { method: "GET", path: `/${table}(RowKey='p')` },
      { method: "GET", path: `/${table}()?$top=-1` },
      { method: "GET", path: `/${table}()?$top=1001` },
      { method: "GET", path: `/${table}()?$filter=a%20eq%20%27` },
      { method: "GET", path: `/${table}()?$filter=contains(a,'b')` },
      { method: "GET", path: `/${table}()`, headers: { accept: "image/png" } },
      { method: "GET", path: `/${table}(PartitionKey='${"k".repeat(6000)}',RowKey='')` },
      { method: "GET", path: `/${table}()?NextPartitionKey=${"k".repeat(6000)}` },
      { method: "GET", path: `/Tables?NextTableName=${"k".repeat(6000)}` },
      { method: "DELETE", path: `/Tables('${"k".repeat(6000)}')` },
      { method: "PUT", path: "/Tables" },
      { method: "POST", path: "/$batch", body: "x", headers: multipart },
      { method: "POST", path: "/$batch", body: "x" },
      { method: "POST", path: "/$batch", body: "--b\r\n\r\nx\r\n--b--", headers: multipart },
      { method: "POST", path: "/$batch", ...batchOf(["GET /x HTTP/1.1\r\n\r\n"]) },
      { method: "POST", path: "/Tables", body: '{"TableName":5}' },
      { method: "POST", path: "/Tables", body: "{}" },
    ];
    for (const call of calls) {
      const answer = await wire.send(call);
      const refused = answer.status === 202 ? 400 : answer.status;
      expect([400, 404, 405, 415, 501], JSON.stringify(call)).toContain(refused);
      expect(answer.fault ?? answer.code, JSON.stringify(call)).toBeDefined();
    }
    const longest = `/${table}()?$filter=PartitionKey%20lt%20'${"k".repeat(6000)}'`;
    expect((await wire.send({ method: "GET", path: longest })).status).toBe(200);
    expect((await wire.send({ method: "GET", path })).text).toBe(before);
    const all = JSON.parse((await wire.send({ method: "GET", path: `/${table}()` })).text) as {
      value: unknown[];
    };
    expect(all.value).toHaveLength(1);
  });
});
