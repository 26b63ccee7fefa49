import { createHmac } from "node:crypto";
import {
  BlobSASPermissions,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { blobService } from "../../src/blob/service.ts";
import type { Service } from "../../src/operation/service.ts";
import { queueService } from "../../src/queue/service.ts";
import { tableService } from "../../src/table/service.ts";
import type { RawCall } from "../harness/raw-client.ts";
import { simService, type SimService } from "../harness/sim-service.ts";
import { batchOf } from "../harness/table-client.ts";

interface Entry {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const account = developmentAccountName;
const ownKey = Buffer.from("a key of this account").toString("base64");
const quiet = () => {};

async function debugged(service: Service): Promise<{ sim: SimService; entries: Entry[] }> {
  const entries: Entry[] = [];
  const debug = (fields: object, message: string) =>
    void entries.push({ message, fields: fields as Entry["fields"] });
  const log = { verbose: true, debug, info: quiet, warn: quiet, error: quiet };
  return { sim: await simService(service, { log, account: { keys: [ownKey] } }), entries };
}

const hmac = (text: string, key = Buffer.from(ownKey, "base64")) =>
  createHmac("sha256", key).update(text, "utf8").digest("base64");

const date = "Mon, 01 Jan 2024 00:00:00 GMT";
const version = "2023-11-03";

/**
 * The string to sign for a GET of `/con/a%20b?comp=metadata&timeout=5`, in parts that rows replace.
 */
interface Pieces {
  head: string;
  headers: string;
  resource: string;
}
const pieces: Pieces = {
  head: `GET${"\n".repeat(12)}`,
  headers: `x-ms-date:${date}\nx-ms-meta-a:1\nx-ms-version:${version}\n`,
  resource: `/${account}/${account}/con/a%20b\ncomp:metadata\ntimeout:5`,
};
const whole = ({ head, headers, resource }: Pieces) => head + headers + resource;
const textWith = (changed: Partial<Pieces>) => whole({ ...pieces, ...changed });

function signed(signature: string): RawCall {
  return {
    method: "GET",
    path: "/con/a%20b?comp=metadata&timeout=5",
    headers: {
      "x-ms-date": date,
      "x-ms-meta-a": "1",
      "x-ms-version": version,
      "content-length": "0",
      authorization: `SharedKey ${account}:${signature}`,
    },
  };
}

function last(entries: readonly Entry[]): Entry["fields"] {
  return entries.at(-1)?.fields ?? {};
}

const root = `/${account}/${account}`;

describe("the debug log of a wrong account key signature", () => {
  it("has no entry for a valid signature", async () => {
    const { sim, entries } = await debugged(blobService);
    const answer = await sim.sendAs(signed(hmac(whole(pieces))));
    expect(answer.code).toBe("ContainerNotFound");
    expect(last(entries)).not.toHaveProperty("signature");
  });

  const rows: readonly [difference: string, signature: string][] = [
    [
      "the client did not sign the header x-ms-meta-a",
      hmac(textWith({ headers: pieces.headers.replace("x-ms-meta-a:1\n", "") })),
    ],
    [
      "the client signed x-ms-version: 2021-06-08",
      hmac(textWith({ headers: pieces.headers.replace(version, "2021-06-08") })),
    ],
    [
      "the client signed the decoded path",
      hmac(textWith({ resource: pieces.resource.replace("%20", " ") })),
    ],
    [
      "the client signed the path encoded twice",
      hmac(textWith({ resource: pieces.resource.replace("%20", "%2520") })),
    ],
    [
      "the client signed the account once; the path names it as well",
      hmac(textWith({ resource: pieces.resource.replace(root, `/${account}`) })),
    ],
    ["the client signed no query parameters", hmac(textWith({ resource: `${root}/con/a%20b` }))],
    [
      "the client did not sign the query parameter timeout",
      hmac(textWith({ resource: `${root}/con/a%20b\ncomp:metadata` })),
    ],
    [
      "the client's text has a newline too few at line 2",
      hmac(textWith({ head: `GET${"\n".repeat(11)}` })),
    ],
    [
      "the client's text has a newline too many at line 2",
      hmac(textWith({ head: `GET${"\n".repeat(13)}` })),
    ],
    ["the client's text ends in a newline", hmac(`${whole(pieces)}\n`)],
    ["the client signed a length of 0", hmac(textWith({ head: `GET\n\n\n0${"\n".repeat(9)}` }))],
    [
      "the client signed the text of SharedKeyLite",
      hmac(`GET\n\n\n\n${pieces.headers}${root}/con/a%20b?comp=metadata`),
    ],
    [
      "the key of the development account was used",
      hmac(whole(pieces), Buffer.from(developmentAccountKey, "base64")),
    ],
    [
      "the key was used as text, without decoding base64",
      hmac(whole(pieces), Buffer.from(ownKey, "utf8")),
    ],
    ["the signature is percent-encoded once too often", encodeURIComponent(hmac(whole(pieces)))],
  ];

  it.each(rows)("%s", async (difference, signature) => {
    const { sim, entries } = await debugged(blobService);
    const answer = await sim.sendAs(signed(signature));
    expect(answer.code).toBe("AuthenticationFailed");
    expect(last(entries)["signature"]).toEqual({ stringToSign: whole(pieces), difference });
    const logged = JSON.stringify(entries);
    expect(logged).not.toContain(hmac(whole(pieces)));
    expect(logged).not.toContain(signature);
    expect(logged).not.toContain(ownKey);
  });

  it("reports a signature that no known mistake explains", async () => {
    const { sim, entries } = await debugged(blobService);
    await sim.sendAs(signed(hmac("something else")));
    expect(last(entries)["signature"]).toMatchObject({ stringToSign: whole(pieces) });
    expect(JSON.stringify(entries)).toContain("no common mistake explains");
  });
});

describe("the debug log of a wrong SAS", () => {
  const credential = new StorageSharedKeyCredential(account, ownKey);
  const expiresOn = new Date("2030-01-01");
  const forBlob = (permissions: string) => ({
    containerName: "con",
    blobName: "a b",
    permissions: BlobSASPermissions.parse(permissions),
    expiresOn,
  });
  const forContainer = {
    containerName: "con",
    permissions: ContainerSASPermissions.parse("r"),
    expiresOn,
  };
  const blob = generateBlobSASQueryParameters(forBlob("rw"), credential).toString();
  const container = generateBlobSASQueryParameters(forContainer, credential).toString();

  it.each<[difference: string, query: string]>([
    ["the client did not sign sp", "sp-unsigned"],
    ["the client signed sp as rw", blob.replace("sp=rw", "sp=wr")],
    ["the client signed sr=c", container.replace("sr=c", "sr=b")],
    ["the client signed the path instead of the container or share", "path-signed"],
  ])("%s", async (difference, query) => {
    const { sim, entries } = await debugged(blobService);
    const sent = made(query);
    const answer = await sim.sendAs({ method: "GET", path: `/con/a%20b?${sent}` });
    expect(answer.code).toBe("AuthenticationFailed");
    expect(last(entries)["signature"]).toMatchObject({ difference });
    const signature = new URLSearchParams(sent).get("sig") ?? "";
    expect(signature).not.toBe("");
    const logged = JSON.stringify(entries);
    for (const text of [signature, encodeURIComponent(signature), ownKey]) {
      expect(logged).not.toContain(text);
    }
  });

  /** Signed by hand, because the libraries make none of these mistakes. */
  function made(query: string): string {
    const isUnsigned = query === "sp-unsigned";
    if (!isUnsigned && query !== "path-signed") return query;
    const se = "2030-01-01T00:00:00Z";
    const sr = isUnsigned ? "b" : "c";
    const resource = `/blob/${account}/con/a b`;
    const fields = [isUnsigned ? "" : "r", "", se, resource, "", "", "", version, sr, "", ""];
    const sig = hmac([...fields, "", "", "", "", ""].join("\n"));
    return new URLSearchParams({ sv: version, sr, sp: "r", se, sig }).toString();
  }
});

describe("the debug log names the cause", () => {
  const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };
  const entity = (properties: object): RawCall => ({
    method: "PUT",
    path: "/things(PartitionKey='p',RowKey='r')",
    headers: json,
    body: JSON.stringify(properties),
  });
  const policies =
    "<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Start>soon</Start>" +
    "</AccessPolicy></SignedIdentifier></SignedIdentifiers>";

  it.each<[string, Service, RawCall, object]>([
    [
      "a property of the wrong type",
      tableService,
      entity({ Age: "x", "Age@odata.type": "Edm.Int32" }),
      { code: "InvalidInput", about: "property Age" },
    ],
    [
      "a property of no type",
      tableService,
      entity({ Age: "x", "Age@odata.type": "Edm.Nothing" }),
      { about: "annotation Age@odata.type" },
    ],
    [
      "a property's name",
      tableService,
      entity({ "a b": 1 }),
      { code: "PropertyNameInvalid", about: "property a b" },
    ],
    [
      "a property that is too long",
      tableService,
      entity({ Text: "x".repeat(40_000) }),
      { code: "PropertyValueTooLarge", about: "property Text" },
    ],
    [
      "a query option",
      tableService,
      { method: "GET", path: "/things()?$top=x", headers: json },
      { code: "InvalidInput", about: "?$top" },
    ],
    [
      "a query parameter",
      queueService,
      { method: "GET", path: "/things/messages?numofmessages=99" },
      {
        about: "?numofmessages",
        details: {
          QueryParameterName: "numofmessages",
          QueryParameterValue: "99",
          MinimumAllowed: "1",
          MaximumAllowed: "32",
        },
      },
    ],
    [
      "a header",
      blobService,
      { method: "PUT", path: "/things/b", headers: { "x-ms-blob-type": "Square" } },
      { details: { HeaderName: "x-ms-blob-type", HeaderValue: "Square" } },
    ],
    [
      "a condition",
      blobService,
      { method: "DELETE", path: "/things?restype=container", headers: { "if-match": '"0x1"' } },
      { code: "ConditionNotMet", about: "If-Match" },
    ],
  ])("%s", async (_, service, call, expected) => {
    const { sim, entries } = await debugged(service);
    await create(sim, service);
    const answer = await sim.sendAs(keyed(call));
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(last(entries)).toMatchObject(expected);
    expect(answer.body).not.toContain("property Age");
  });

  it("of a wrong XML element", async () => {
    const { sim, entries } = await debugged(blobService);
    await create(sim, blobService);
    const path = "/things?restype=container&comp=acl";
    await sim.sendAs(keyed({ method: "PUT", path, body: policies }));
    expect(last(entries)).toMatchObject({ code: "InvalidXmlNodeValue", about: "Start" });
  });

  it("in a part of a transaction", async () => {
    const { sim, entries } = await debugged(tableService);
    await create(sim, tableService);
    const lines = Object.entries(json).map(([name, value]) => `${name}: ${value}`);
    const insert = (properties: object) =>
      [
        `POST http://127.0.0.1/${account}/things HTTP/1.1`,
        ...lines,
        "",
        JSON.stringify({ PartitionKey: "p", ...properties }),
      ].join("\r\n");
    const wrong = { RowKey: "b", Age: "x", "Age@odata.type": "Edm.Int32" };
    const { body, headers } = batchOf([insert({ RowKey: "a" }), insert(wrong)]);
    const answer = await sim.sendAs(keyed({ method: "POST", path: "/$batch", body, headers }));
    expect(answer.status).toBe(202);
    const refused = entries.find(({ message }) => message === "transaction rejected");
    expect(refused?.fields).toMatchObject({ index: 1, about: "property Age" });
  });

  it("without secrets", async () => {
    const { sim, entries } = await debugged(blobService);
    await create(sim, blobService);
    const key = "c2VjcmV0";
    const source = "http://127.0.0.1/a/b?sv=1&sig=c2lnbmF0dXJl&x=y";
    const headers = {
      "x-ms-blob-type": "BlockBlob",
      "x-ms-encryption-key": key,
      "x-ms-encryption-algorithm": "AES256",
      "x-ms-copy-source": source,
      "x-ms-copy-source-authorization": "Bearer secret-token",
    };
    const call = keyed({ method: "PUT", path: "/things/b", headers });
    await sim.sendAs(call);
    await sim.sendAs({ ...call, headers: { ...call.headers, "x-ms-meta-added": "later" } });
    expect(last(entries)["signature"]).toMatchObject({
      difference: "the client did not sign the header x-ms-meta-added",
    });
    const logged = JSON.stringify(entries);
    for (const secret of [key, "c2lnbmF0dXJl", "secret-token"])
      expect(logged).not.toContain(secret);
  });

  async function create(sim: SimService, { name }: Service): Promise<void> {
    const calls: Readonly<Record<string, RawCall>> = {
      blob: { method: "PUT", path: "/things?restype=container" },
      queue: { method: "PUT", path: "/things" },
      table: { method: "POST", path: "/Tables", headers: json, body: '{"TableName":"things"}' },
    };
    expect((await sim.sendAs(keyed(calls[name]!))).status).toBe(201);
  }
});

/** SharedKeyLite for tables, SharedKey elsewhere. */
function keyed(call: RawCall): RawCall {
  const [path = "", query = ""] = call.path.split("?");
  const parameters = [...new URLSearchParams(query)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const length = Buffer.byteLength(call.body ?? "");
  const headers: Record<string, string> = {
    "x-ms-date": date,
    "x-ms-version": version,
    "content-length": String(length),
    ...call.headers,
  };
  const isTable = path.startsWith("/Tables") || path.startsWith("/things(") || path === "/$batch";
  const lines = Object.keys(headers)
    .filter((name) => name.startsWith("x-ms-"))
    .toSorted()
    .map((name) => `${name}:${headers[name]}\n`);
  const at = (name: string) => headers[name] ?? "";
  const size = length === 0 ? "" : String(length);
  const head = [
    call.method,
    "",
    "",
    size,
    "",
    at("content-type"),
    "",
    "",
    at("if-match"),
    "",
    "",
    "",
  ];
  const resource = parameters.map(([name, value]) => `\n${name}:${value}`).join("");
  const text = isTable
    ? `${date}\n${root}${path}`
    : `${head.join("\n")}\n${lines.join("")}${root}${path}${resource}`;
  const scheme = isTable ? "SharedKeyLite" : "SharedKey";
  const authorization = `${scheme} ${account}:${hmac(text)}`;
  return { ...call, headers: { ...headers, authorization } };
}
