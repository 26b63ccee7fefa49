import { beforeAll, describe, expect, it } from "vitest";
import type {
  SameCredentialsResource,
  LinkedResource,
  NamedResource,
} from "../../src/protocol/named-resource.ts";
import type { Address, Operation } from "../../src/operation/operation.ts";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { services } from "../../src/data/services.ts";
import { samples, type NamedSample } from "./named-samples.ts";
import {
  accountKey,
  accountToken,
  bearer,
  namedWorld,
  resourceToken,
  urlOf,
  type NamedWorld,
  type WorldCall,
} from "./named-world.ts";

/**
 * Every operation that names a second resource, with every kind of credential. The expected result
 * follows from the declaration: the permission for the second resource, and whether the request's
 * credentials must cover it or its URL carries its own.
 */

let world: NamedWorld;
let count = 0;

beforeAll(async () => {
  world = await namedWorld();
});

interface Row<R> {
  readonly title: string;
  readonly operation: Operation;
  readonly named: R;
}

type Named = NamedResource<Address, object>;

function rowsOf<K extends Named["kind"]>(kind: K): readonly Row<Extract<Named, { kind: K }>>[] {
  const isKind = (named: Named): named is Extract<Named, { kind: K }> => named.kind === kind;
  return services.flatMap(({ operations }) =>
    operations.flatMap((operation) =>
      (operation.namedResources ?? []).filter(isKind).map((named) => {
        const by = "parameter" in named ? named.parameter : "body";
        return { title: `${operation.name}: ${by}`, operation, named };
      }),
    ),
  );
}

function newSample(title: string): Promise<NamedSample> {
  const make = samples[title];
  if (make === undefined) throw new Error(`no sample of "${title}"`);
  count += 1;
  return make(world, `aa${count}`);
}

/** Every permission letter of container and share tokens. */
const allLetters = { blob: "racwdl", file: "rcwdl" } as Record<string, string>;
const objectLetters = { blob: "racwd", file: "rcwd" } as Record<string, string>;

interface Credential<R> {
  readonly name: string;
  readonly apply: (sample: NamedSample, row: Row<R>) => WorldCall;
  readonly expected: (sample: NamedSample, row: Row<R>) => boolean;
}

const isOpenToSas = ({ operation, named }: Row<{ permission: Operation["permission"] }>) =>
  operation.permission.sas === undefined && named.permission.sas === undefined;

/** The request's credentials must cover the target and the named resource. */
const covering: readonly Credential<SameCredentialsResource<Address, object>>[] = [
  {
    name: "the account key",
    apply: ({ call }) => ({ ...call, authorization: accountKey }),
    expected: () => true,
  },
  {
    name: "a bearer token",
    apply: ({ call }) => ({ ...call, authorization: bearer }),
    expected: () => true,
  },
  {
    name: "an account SAS",
    apply: ({ call }) => ({ ...call, token: accountToken() }),
    expected: () => true,
  },
  {
    name: "a SAS for the container or share",
    apply: ({ call, service, owner }) => ({
      ...call,
      token: resourceToken({ service, name: owner }, allLetters[service] ?? ""),
    }),
    expected: (_, row) => isOpenToSas(row),
  },
  {
    name: "a SAS for the container or share without the second resource's permission",
    apply: ({ call, service, owner }, { named }) => ({
      ...call,
      token: resourceToken(
        { service, name: owner },
        without(service, named.permission.letters ?? ""),
      ),
    }),
    expected: () => false,
  },
  {
    name: "a SAS for the target alone",
    apply: ({ call, service, owner, first, snapshot }) => ({
      ...call,
      token: resourceToken(
        { service, name: owner, path: first ?? "b", ...(snapshot && { snapshot }) },
        objectLetters[service] ?? "",
      ),
    }),
    // The token does not cover another snapshot or another path.
    expected: ({ first, second, snapshot }, row) =>
      isOpenToSas(row) && first !== undefined && first === second && snapshot === undefined,
  },
  {
    name: "a SAS for another container or share",
    apply: ({ call, service }) => ({
      ...call,
      token: resourceToken({ service, name: "other" }, allLetters[service] ?? ""),
    }),
    expected: () => false,
  },
  { name: "nothing", apply: ({ call }) => call, expected: () => false },
];

function without(service: string, letters: string): string {
  return (allLetters[service] ?? "")
    .split("")
    .filter((letter) => !letters.includes(letter))
    .join("");
}

/** The credentials of the source URL, while a SAS for the container or share allows the write. */
const linking: readonly Credential<LinkedResource>[] = [
  {
    name: "nothing",
    apply: (sample) => linked(sample, urlOf(pathOf(sample))),
    expected: () => false,
  },
  {
    name: "nothing, on a request signed with the account key",
    apply: (sample) => ({
      ...linked(sample, urlOf(pathOf(sample))),
      token: undefined as never,
      authorization: accountKey,
    }),
    // Content is fetched by an unsigned request of its own.
    expected: (_, { operation }) => operation.body.kind !== "source",
  },
  {
    name: "nothing, on a request with an account SAS",
    apply: (sample) => ({ ...linked(sample, urlOf(pathOf(sample))), token: accountToken() }),
    expected: () => false,
  },
  {
    name: "an account SAS",
    apply: (sample) => linked(sample, urlOf(pathOf(sample), accountToken())),
    expected: () => true,
  },
  {
    name: "a SAS for its container or share",
    apply: (sample, { named }) => {
      const { service, owner } = sample;
      const token = resourceToken({ service, name: owner }, named.permission.letters ?? "");
      return linked(sample, urlOf(pathOf(sample), token));
    },
    expected: () => true,
  },
  {
    name: "a SAS for itself",
    apply: (sample, { named }) => {
      const { service, owner, second = "" } = sample;
      const scope = { service, name: owner, path: second };
      return linked(
        sample,
        urlOf(pathOf(sample), resourceToken(scope, named.permission.letters ?? "")),
      );
    },
    expected: () => true,
  },
  {
    name: "a SAS for itself without the permission",
    apply: (sample, { named }) => {
      const { service, owner, second = "" } = sample;
      const letters = (objectLetters[service] ?? "")
        .split("")
        .filter((letter) => !named.permission.letters?.includes(letter));
      const token = resourceToken({ service, name: owner, path: second }, letters.join(""));
      return linked(sample, urlOf(pathOf(sample), token));
    },
    expected: () => false,
  },
  {
    name: "a SAS for the target",
    apply: (sample) => {
      const { service, owner, first = "" } = sample;
      const token = resourceToken({ service, name: owner, path: first }, "rw");
      return linked(sample, urlOf(pathOf(sample), token));
    },
    expected: () => false,
  },
  {
    name: "a bearer token",
    apply: (sample) => {
      const call = linked(sample, urlOf(pathOf(sample)));
      const beside = {
        "x-ms-copy-source-authorization": bearer,
        "x-ms-file-request-intent": "backup",
      };
      return { ...call, headers: { ...call.headers, ...beside } };
    },
    expected: () => true,
  },
];

function pathOf({ source }: NamedSample): string {
  if (source === undefined) throw new Error("the sample has no source");
  return source.path;
}

function linked(sample: NamedSample, url: string): WorldCall {
  const { service, owner, call, source } = sample;
  const token = resourceToken({ service, name: owner }, allLetters[service] ?? "");
  return { ...call, token, headers: { ...call.headers, [source?.header ?? ""]: url } };
}

async function verdictOf(sample: NamedSample, call: WorldCall): Promise<boolean> {
  const { status, body } = await world.send(sample.service, call);
  if (status < 300) return true;
  // A response other than an authorization error would prove nothing.
  expect([401, 403, 404], body).toContain(status);
  return false;
}

describe("a resource that the request's credentials must cover", () => {
  describe.each(rowsOf("same-credentials"))("$title", (row) => {
    it.each(covering)("by $name", async ({ apply, expected }) => {
      const sample = await newSample(row.title);
      expect(await verdictOf(sample, apply(sample, row))).toBe(expected(sample, row));
    });
  });
});

describe("a resource that a URL names", () => {
  describe.each(rowsOf("linked"))("$title", (row) => {
    it.each(linking)("by $name", async ({ apply, expected }) => {
      const sample = await newSample(row.title);
      expect(await verdictOf(sample, apply(sample, row))).toBe(expected(sample, row));
    });

    it("in a container with public access", async () => {
      const sample = await newSample(row.title);
      if (sample.service === "blob") await open(sample.owner);
      const isOpen = sample.service === "blob" && row.named.permission.publicRead !== undefined;
      expect(await verdictOf(sample, linked(sample, urlOf(pathOf(sample))))).toBe(isOpen);
    });
  });
});

async function open(container: string): Promise<void> {
  const path = `/${container}?restype=container&comp=acl`;
  const headers = { "x-ms-blob-public-access": "blob" };
  await world.send("blob", { method: "PUT", path, headers, authorization: accountKey });
}

/** Parameters that name one resource in a request for another. */
const naming =
  /copy-source$|rename-source$|target-file$|undelete-source$|source-container-name$|deleted-.*-name$|^prev|previous/;

describe("declarations", () => {
  it("define the required permission for every parameter that names a resource", () => {
    const undeclared = [...services, dfsService].flatMap(({ operations }) =>
      operations.flatMap((operation) => {
        const { params, route, namedResources = [], body } = operation;
        const parameters = Object.values(params).flatMap(({ sources }) => sources);
        const all = [...parameters, ...Object.keys(route.headers ?? {})];
        if (body.kind === "source") all.push("x-ms-copy-source");
        if (body.kind === "transaction") all.push("body");
        const declared = new Set(
          namedResources.map((one) => ("parameter" in one ? one.parameter : "body")),
        );
        const isNaming = (name: string) => naming.test(name) || name === "body";
        return all
          .filter((name) => isNaming(name) && !declared.has(name))
          .filter((name) => route.headers?.[name] !== false)
          .map((name) => `${operation.name}: ${name}`);
      }),
    );
    expect(undeclared).toEqual([]);
  });

  it("have exactly one sample each", () => {
    const titles = [...rowsOf("same-credentials"), ...rowsOf("linked")].map(({ title }) => title);
    expect(Object.keys(samples).toSorted()).toEqual([...new Set(titles)].toSorted());
  });
});
