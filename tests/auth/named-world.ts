import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  BlobSASPermissions,
  ContainerSASPermissions,
  generateAccountSASQueryParameters,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import {
  FileSASPermissions,
  generateFileSASQueryParameters,
  ShareSASPermissions,
  StorageSharedKeyCredential as FileCredential,
} from "@azure/storage-file-share";
import { ensureAccountRecords } from "../../src/account/account-records.ts";
import {
  accountsOf,
  developmentAccount,
  developmentAccountKey,
  developmentAccountName,
  type AccountKeys,
} from "../../src/account/settings.ts";
import { noMeter } from "../../src/protocol/meter.ts";
import type { ServiceName } from "../../src/protocol/names.ts";
import { keyPrincipal, type Principal } from "../../src/protocol/principal.ts";
import { ok, type Result } from "../../src/protocol/result.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import type { AuthOptions, AuthRequest } from "../../src/http/auth/request.ts";
import { newProcessingLimits } from "../../src/http/limits/processing-limits.ts";
import type { HttpService } from "../../src/http/http-service.ts";
import { compileRoutes } from "../../src/http/request/routing.ts";
import { serveRequest } from "../../src/http/pipeline.ts";
import { bufferBody, type WireResponse } from "../../src/http/wire.ts";
import { openDataStores } from "../../src/data/data-stores.ts";
import { services } from "../../src/data/services.ts";
import { RequestIds } from "../../src/http/render.ts";
import { simWorld } from "../harness/sim-world.ts";
import { simSources } from "../harness/sim-sources.ts";

/** All services over TLS, in memory, with real authentication. */
export interface NamedWorld {
  send(service: ServiceName, call: WorldCall): Promise<WorldAnswer>;
}

export interface WorldCall {
  readonly method: string;
  /** Below the account, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The query of a token or the value of `Authorization`; undefined: anonymous. */
  readonly token?: string;
  readonly authorization?: string;
}

export interface WorldAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const host = "127.0.0.1:10000";
const version = "2025-05-05";
const name = developmentAccountName;

/** Represents a signature with the account key, which covers the whole account. */
export const accountKey = "by the account key";

class KeyedAuthenticator extends Authenticator {
  override authenticate(
    request: AuthRequest,
    keys: AccountKeys,
    options: AuthOptions,
  ): Result<Principal> {
    if (request.header("authorization") === accountKey) return ok(keyPrincipal);
    return super.authenticate(request, keys, options);
  }
}

export async function namedWorld(): Promise<NamedWorld> {
  const { clock, random, log } = simWorld(1);
  const nowhere = { storeUrl: undefined, contentUrl: undefined, memoryBytesMax: 2 ** 24 };
  const parts = { ...nowhere, location: undefined, services, clock, random, log };
  const { store, content } = await openDataStores(parts);
  await ensureAccountRecords(store, [{ name, hierarchicalNamespace: false }], random);
  const settings = { ...developmentAccount(), publicAccess: true, containerSoftDeleteDays: 7 };
  const accounts = accountsOf([{ ...settings, shareSoftDeleteDays: 7 }]);
  const httpServices = new Map<ServiceName, HttpService>();
  for (const service of services) {
    const http: HttpService = {
      service,
      router: compileRoutes(service.operations),
      runtime: { store, content, random, clock },
      accounts,
      authenticator: new KeyedAuthenticator(),
      requestIds: new RequestIds(random),
      sources: simSources(service.name, (request) => serveRequest(http, request)),
      clock,
      log,
      meter: noMeter,
      processing: newProcessingLimits(clock),
      options: { versions: "later", productStyle: true, oauth: "basic" },
    };
    httpServices.set(service.name, http);
  }
  return { send: (service, call) => send(httpServices.get(service)!, call) };
}

async function send(http: HttpService, call: WorldCall): Promise<WorldAnswer> {
  const { method, path, token, authorization, body = "" } = call;
  const bytes = Buffer.from(body);
  const headers: Record<string, string> = {
    host,
    "x-ms-version": version,
    "content-length": String(bytes.length),
    ...(authorization !== undefined && { authorization, "x-ms-file-request-intent": "backup" }),
    ...call.headers,
  };
  const signed = token === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}${token}`;
  const reply = await serveRequest(http, {
    method,
    target: `/${name}${signed}`,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    body: (async function* () {
      if (bytes.length > 0) yield bytes;
    })(),
    secure: true,
    remoteAddress: "127.0.0.1",
    proceed: () => {},
  });
  return { status: reply.status, headers: reply.headers, body: await textOf(reply) };
}

async function textOf({ body }: WireResponse): Promise<string> {
  if (body === undefined) return "";
  if (body.kind !== "stream") return Buffer.from(bufferBody(body)).toString();
  const chunks: Buffer[] = [];
  for await (const chunk of body.reader.read(body.from, body.length))
    chunks.push(Buffer.from(chunk));
  body.reader.close();
  return Buffer.concat(chunks).toString();
}

/** The URL of a resource, as headers name it. */
export function urlOf(path: string, token?: string): string {
  const query = token === undefined ? "" : `${path.includes("?") ? "&" : "?"}${token}`;
  return `https://${host}/${name}${path}${query}`;
}

const claims = {
  iss: "https://sts.windows.net/22222222-2222-2222-2222-222222222222/",
  aud: "https://storage.azure.com",
  exp: Date.UTC(2099, 0, 1) / 1000,
  oid: "11111111-1111-1111-1111-111111111111",
  tid: "22222222-2222-2222-2222-222222222222",
};
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
export const bearer = `Bearer ${part({ alg: "none" })}.${part(claims)}.${part({})}`;

const times = { startsOn: new Date("2020-01-01"), expiresOn: new Date("2099-01-01") };
const credential = new StorageSharedKeyCredential(name, developmentAccountKey);

export function accountToken(): string {
  const values = {
    ...times,
    permissions: AccountSASPermissions.parse("rwdlacuptfxiy"),
    services: AccountSASServices.parse("bqtf").toString(),
    resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
  };
  return generateAccountSASQueryParameters(values, credential).toString();
}

export interface TokenScope {
  readonly service: ServiceName;
  /** The container or share. */
  readonly name: string;
  readonly path?: string;
  readonly snapshot?: string;
}

/** A service SAS for a container, share, blob, blob snapshot or file. */
export function resourceToken({ service, name: owner, path, snapshot }: TokenScope, sp: string) {
  if (service === "file") {
    const permissions =
      path === undefined ? ShareSASPermissions.parse(sp) : FileSASPermissions.parse(sp);
    const values = { ...times, permissions, shareName: owner, ...(path && { filePath: path }) };
    return generateFileSASQueryParameters(
      values,
      new FileCredential(name, developmentAccountKey),
    ).toString();
  }
  const permissions =
    path === undefined ? ContainerSASPermissions.parse(sp) : BlobSASPermissions.parse(sp);
  return generateBlobSASQueryParameters(
    {
      ...times,
      permissions,
      containerName: owner,
      ...(path && { blobName: path }),
      ...(snapshot && { snapshotTime: snapshot }),
    },
    credential,
  ).toString();
}
