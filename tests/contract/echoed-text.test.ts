import { beforeAll, describe, it } from "vitest";
import { dfsService } from "../../src/blob/dfs/service.ts";
import type { Operation } from "../../src/operation/operation.ts";
import { services } from "../../src/data/services.ts";
import { fixtures } from "../fuzz/fixture.ts";
import {
  headerValue,
  hostileEscapes,
  hostileTexts,
  someHostileTexts,
} from "../harness/hostile-texts.ts";
import { rawClient, type RawCall } from "../harness/raw-client.ts";
import { testServer } from "../harness/server.ts";
import { expectWellFormed, rawOf } from "../harness/strict-client.ts";
import { inForm } from "../harness/long-form.ts";

const held = testServer();

beforeAll(async () => {
  for (const { name } of services) {
    const client = rawClient(held.server.urls[name] ?? "");
    for (const call of fixtures[name]) await client.send(call);
  }
});

const expectAll = (url: string, calls: readonly RawCall[]) =>
  expectWellFormed(url, calls.map(rawOf));

const places: Readonly<Record<string, string>> = {
  service: "/",
  container: "/fuzz",
  filesystem: "/fuzz",
  blob: "/fuzz/block",
  path: "/fuzz/block",
  batch: "/",
  queue: "/fuzz",
  messages: "/fuzz/messages",
  message: "/fuzz/messages/11111111-2222-3333-4444-555555555555",
  tables: "/Tables",
  table: "/fuzztable",
  entities: "/fuzztable()",
  entity: "/fuzztable(PartitionKey='p',RowKey='r')",
  share: "/fuzz",
  directory: "/fuzz/folder",
  file: "/fuzz/file",
  entry: "/fuzz/file",
};
const escaped = [...hostileTexts.map((text) => encodeURIComponent(text)), ...hostileEscapes];

const someEscaped = [...someHostileTexts.map((text) => encodeURIComponent(text)), "%ED%A0%80"];

/** One request for each parameter of an operation and each text; in the short form the parameters
 *  take turns with the texts. */
function variantsOf({ route, params }: Operation): readonly RawCall[] {
  const method = typeof route.method === "string" ? route.method : (route.method[0] ?? "GET");
  const place = places[route.resource] ?? "/fuzz/x";
  const fixed = Object.entries(route.query ?? {}).map(([name, value]) => [
    name,
    value === true ? "x" : value,
  ]);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(route.headers ?? {})) {
    if (value !== false) headers[name] = value === true ? "x" : value;
  }
  const pathWith = (more: readonly (readonly string[])[]) =>
    `${place}?${[...fixed, ...more].map((pair) => pair.join("=")).join("&")}`;
  const names = new Set(Object.values(params).flatMap(({ sources }) => sources));
  return [...names].flatMap((name, turn): readonly RawCall[] => {
    if (name.startsWith("?")) {
      return textsOf(someEscaped, turn).map((text) => ({
        method,
        headers,
        path: pathWith([[name.slice(1), text]]),
      }));
    }
    const header = name.replaceAll(/[^\w-]/g, "x");
    return textsOf(someHostileTexts, turn).map((text) => ({
      method,
      path: pathWith([]),
      headers: { ...headers, [header]: headerValue(text) },
    }));
  });
}

function textsOf(texts: readonly string[], turn: number): readonly string[] {
  return inForm(texts.slice(turn % texts.length).slice(0, 1), texts);
}

/** Text in the path of each kind of resource, and in headers that every response may return. */
const paths: Readonly<Record<string, (text: string) => readonly string[]>> = {
  blob: (text) => [
    `/${text}`,
    `/${text}?restype=container`,
    `/fuzz/${text}`,
    `/fuzz/block?${text}`,
  ],
  dfs: (text) => [`/${text}?resource=filesystem`, `/fuzz/${text}`, `/fuzz/${text}?action=${text}`],
  queue: (text) => [`/${text}`, `/fuzz/${text}`, `/fuzz/messages/${text}?popreceipt=${text}`],
  table: (text) => [
    `/${text}`,
    `/Tables('${text}')`,
    `/fuzztable(PartitionKey='${text}',RowKey='${text}')`,
    `/fuzztable()?$filter=${text}`,
    `/fuzztable()?$select=${text}&NextPartitionKey=${text}`,
  ],
  file: (text) => [`/${text}?restype=share`, `/fuzz/${text}`, `/fuzz/${text}?restype=directory`],
};
const echoedHeaders = ["x-ms-client-request-id", "origin", "prefer", "x-ms-version", "accept"];
const atom = { accept: "application/atom+xml", "x-ms-version": "2011-08-18" };

const tested = [...services, dfsService].map(({ operations, api, name }) => ({
  name: api ?? name,
  operations,
}));

describe.each(tested)("responses of the $name service", ({ name, operations }) => {
  const url = () => held.server.urls[name] ?? "";

  it("are well-formed with hostile text in every parameter of every operation", async () => {
    await expectAll(url(), operations.flatMap(variantsOf));
  });

  it("are well-formed with hostile text in the path", async () => {
    const all = escaped.flatMap((text) => paths[name]!(text));
    for (const method of inForm(["GET", "PUT"], ["GET", "HEAD", "DELETE", "PUT"])) {
      await expectAll(
        url(),
        all.map((path) => ({ method, path })),
      );
    }
    await expectAll(
      url(),
      all.map((path) => ({ method: "GET", path, headers: atom })),
    );
  });

  it("are well-formed with hostile text in headers that they return", async () => {
    const preflight = { origin: "x", "access-control-request-method": "GET" };
    const sent = hostileTexts.flatMap((text) =>
      echoedHeaders.flatMap((header): readonly RawCall[] => [
        { method: "GET", path: "/?comp=list", headers: { [header]: headerValue(text) } },
        {
          method: "OPTIONS",
          path: "/fuzz",
          headers: { ...preflight, "access-control-request-headers": headerValue(text) },
        },
      ]),
    );
    await expectAll(url(), sent);
  });
});
