import { beforeAll, describe, expect, it } from "vitest";
import { declaredRoutes } from "../admin/admin-routes.ts";
import { adminHeaders } from "../admin/admin-server.ts";
import { fixtures } from "../fuzz/fixture.ts";
import { hostileEscapes, hostileTexts } from "../harness/hostile-texts.ts";
import { rawClient, type RawCall } from "../harness/raw-client.ts";
import { testServer } from "../harness/server.ts";
import { expectWellFormed, rawOf, sendStrictly } from "../harness/strict-client.ts";

const held = testServer();
const url = (service: "blob" | "queue" | "table" | "file") => held.server.urls[service] ?? "";
const block = { "x-ms-blob-type": "BlockBlob" };
const json = { "content-type": "application/json", accept: "application/json" };

beforeAll(async () => {
  for (const name of ["blob", "queue", "table", "file"] as const) {
    const client = rawClient(url(name));
    for (const call of fixtures[name]) await client.send(call);
  }
});

const expectAll = (service: Parameters<typeof url>[0], calls: readonly RawCall[]) =>
  expectWellFormed(url(service), calls.map(rawOf));

/** Character references, also of characters that XML cannot represent. */
function references(text: string): string {
  return Array.from(text, (character) => `&#x${character.codePointAt(0)!.toString(16)};`).join("");
}

describe("stored text", () => {
  it("in blob names leaves listings well-formed, and the name can be read from them", async () => {
    const names = hostileTexts.map((text, index) => `n${index}${text}`);
    const put = (name: string) => ({
      method: "PUT",
      path: `/fuzz/${encodeURIComponent(name)}`,
      headers: { ...block, "x-ms-tags": "a=b" },
    });
    await expectAll("blob", names.map(put));
    const list = "/fuzz?restype=container&comp=list";
    const { body } = await sendStrictly(url("blob"), rawOf({ method: "GET", path: list }));
    const listed = [...body.toString().matchAll(/<Name( Encoded="true")?>([^<]*)<\/Name>/g)]
      .filter(([, , name]) => /^n\d/.test(name!))
      .map(([, isEncoded, name]) => (isEncoded === undefined ? name! : decodeURIComponent(name!)));
    expect(listed).toContain("n1a\u0001b");
    expect(listed).toContain("n11a\uffff");
    const prefixes = names.map((name) => `${list}&prefix=${encodeURIComponent(name)}`);
    const delimiters = hostileTexts.map((text) => `${list}&delimiter=${encodeURIComponent(text)}`);
    const where = encodeURIComponent(`"a"='b'`);
    const calls = [...prefixes, ...delimiters, `/?comp=blobs&where=${where}`];
    await expectAll(
      "blob",
      calls.map((path) => ({ method: "GET", path })),
    );
  });

  it("in entities leaves JSON and Atom well-formed", async () => {
    const value = (text: string, index: number) => ({
      method: "POST",
      path: "/fuzztable",
      headers: json,
      body: JSON.stringify({ PartitionKey: "q", RowKey: `${index}`, a: text, b: "\ud800" }),
    });
    const name = (text: string, index: number) => ({
      method: "POST",
      path: "/fuzztable",
      headers: json,
      body: JSON.stringify({ PartitionKey: "n", RowKey: `${index}`, [`a${text}`]: 1 }),
    });
    await expectAll("table", [...hostileTexts.map(value), ...hostileTexts.map(name)]);
    const accepted = ["nometadata", "minimalmetadata", "fullmetadata"].map(
      (level) => `application/json;odata=${level}`,
    );
    const get = { method: "GET", path: "/fuzztable()" };
    await expectAll("table", [
      ...accepted.map((accept) => ({ ...get, headers: { accept } })),
      { ...get, headers: { accept: "application/atom+xml", "x-ms-version": "2013-08-15" } },
      { ...get, headers: { "x-ms-version": "2011-08-18" } },
    ]);
  });

  it("in messages, policies, rules and tags leaves documents well-formed", async () => {
    const message = (text: string) =>
      `<QueueMessage><MessageText>${text}</MessageText></QueueMessage>`;
    const policy = (text: string) =>
      `<SignedIdentifiers><SignedIdentifier><Id>${text}</Id><AccessPolicy><Permission>${text}` +
      "</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>";
    const rule = (text: string) =>
      `<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>${text}</AllowedOrigins>` +
      "<AllowedMethods>GET</AllowedMethods><AllowedHeaders>*</AllowedHeaders>" +
      "<ExposedHeaders>*</ExposedHeaders><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors>" +
      "</StorageServiceProperties>";
    const tags = (text: string) =>
      `<Tags><TagSet><Tag><Key>k</Key><Value>${text}</Value></Tag></TagSet></Tags>`;
    for (const text of hostileTexts.flatMap((each) => [references(each), each])) {
      const documents: readonly (readonly [Parameters<typeof url>[0], RawCall, string])[] = [
        ["queue", { method: "POST", path: "/fuzz/messages", body: message(text) }, ""],
        ["queue", { method: "PUT", path: "/fuzz?comp=acl", body: policy(text) }, "/fuzz?comp=acl"],
        [
          "blob",
          { method: "PUT", path: "/fuzz?restype=container&comp=acl", body: policy(text) },
          "/fuzz?restype=container&comp=acl",
        ],
        [
          "file",
          { method: "PUT", path: "/?restype=service&comp=properties", body: rule(text) },
          "/?restype=service&comp=properties",
        ],
        [
          "blob",
          { method: "PUT", path: "/fuzz/block?comp=tags", body: tags(text) },
          "/fuzz/block?comp=tags",
        ],
      ];
      for (const [service, call, read] of documents) {
        await expectAll(service, [call]);
        if (read !== "") await expectAll(service, [{ method: "GET", path: read }]);
      }
    }
    await expectAll("queue", [{ method: "GET", path: "/fuzz/messages?numofmessages=32" }]);
  });
});

describe("text in the parts of a batch", () => {
  const boundary = "multipart/mixed; boundary=b";
  const texts = [...hostileTexts, "1\rx-injected: 1", "1\r\rHTTP/1.1 200 OK", "\u0000"];

  it("leaves the response of a blob batch well-formed", async () => {
    const part = (id: string, target: string, header: string) =>
      `--b\r\nContent-Type: application/http\r\nContent-ID: ${id}\r\n\r\n` +
      `DELETE ${target} HTTP/1.1\r\nx-ms-client-request-id: ${header}\r\n\r\n`;
    const body = (parts: string) => ({
      method: "POST",
      path: "/?comp=batch",
      headers: { "content-type": boundary },
      body: `${parts}--b--\r\n`,
    });
    const target = (text: string) => `/devstoreaccount1/fuzz/${text}`;
    await expectAll("blob", [
      ...texts.map((text) => body(part(text, target("x"), "1"))),
      ...texts.map((text) => body(part("1", target("x"), text))),
      ...texts.map((text) => body(part("1", target(text), "1"))),
      ...texts.map((text) => body(part("1", target(encodeURIComponent(text)), "1"))),
      ...hostileEscapes.map((text) => body(part("1", target(text), "1"))),
    ]);
  });

  it("leaves the response of a table transaction well-formed", async () => {
    const change = (id: string, target: string, header: string, value: string) =>
      "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n" +
      `Content-Type: application/http\r\nContent-ID: ${id}\r\n\r\n` +
      `POST http://x/devstoreaccount1/${target} HTTP/1.1\r\nContent-Type: application/json\r\n` +
      `Prefer: ${header}\r\nContent-ID: ${id}\r\n\r\n${value}\r\n--c--\r\n--b--\r\n`;
    const body = (text: string) => ({
      method: "POST",
      path: "/$batch",
      headers: { "content-type": boundary },
      body: text,
    });
    const entity = (text: string) => JSON.stringify({ PartitionKey: text, RowKey: text });
    await expectAll("table", [
      ...texts.map((text) => body(change(text, "fuzztable", "x", entity("a")))),
      ...texts.map((text) => body(change("1", "fuzztable", text, entity("a")))),
      ...texts.map((text) => body(change("1", text, "x", entity("a")))),
      ...texts.map((text) => body(change("1", `none${text}`, "x", entity("a")))),
      ...texts.map((text) => body(change("1", "fuzztable", "return-content", entity(text)))),
      ...texts.map((text) => body(change("1", "fuzztable", "return-no-content", entity(text)))),
    ]);
  });
});

it("hostile text in requests of the admin API leaves responses well-formed", async () => {
  const texts = [...hostileTexts.map((text) => encodeURIComponent(text)), ...hostileEscapes];
  const headers = Object.entries({ ...adminHeaders, "content-length": "0" });
  const requests = declaredRoutes()
    .filter(({ path, method }) => !/feed|reset/.test(path) && method === "GET")
    .flatMap(({ path }) =>
      texts.flatMap((text) => {
        const target = path.replaceAll(/:\w+|\*/g, text);
        const queries = ["", `?prefix=${text}&after=${text}&account=${text}&limit=${text}`];
        return queries.map((query) => ({
          method: "GET",
          target: `${target}${query}`,
          headers,
          body: Buffer.alloc(0),
        }));
      }),
    );
  await expectWellFormed(held.server.adminUrl, requests);
});
