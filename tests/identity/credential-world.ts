import { rmSync } from "node:fs";
import type { AccessToken, DefaultAzureCredential } from "@azure/identity";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient, type StoragePipelineOptions } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, afterEach, expect } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import type { EtagereServer } from "../../src/index.ts";
import { makeCertificate } from "../https/certificate.ts";

const names = ["IDENTITY_ENDPOINT", "IDENTITY_HEADER"];

/** A server that verifies tokens, and clients with a credential. */
export function credentialWorld() {
  const { folder, cert, key, ca } = makeCertificate();
  const options = { port: 0, cert, key, inMemoryPersistence: true, oauth: "verify" } as const;
  const trusting = { tlsOptions: { ca } } as object as StoragePipelineOptions;
  afterEach(() => {
    for (const name of names) Reflect.deleteProperty(process.env, name);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    options,
    trusting,
    clientsOf: (server: EtagereServer, credential: Credential) =>
      clientsOf(server, credential, trusting),
  };
}

type Credential = Pick<DefaultAzureCredential, "getToken">;

/** A credential that asks the endpoint of the environment each time. `DefaultAzureCredential`
 *  caches tokens per process, and the test files of a process share it: only one file can use
 *  it. */
export function endpointCredential(): Credential {
  const getToken = async (scopes: string | string[]): Promise<AccessToken> => {
    const [scope = ""] = [scopes].flat();
    const url = new URL(process.env["IDENTITY_ENDPOINT"] ?? "");
    url.searchParams.set("api-version", "2019-08-01");
    url.searchParams.set("resource", scope.replace(/\/\.default$/, ""));
    const secret = process.env["IDENTITY_HEADER"] ?? "";
    const response = await fetch(url, { headers: { "x-identity-header": secret } });
    const { access_token: token } = (await response.json()) as { access_token: string };
    return { token, expiresOnTimestamp: Date.now() + 60_000 };
  };
  return { getToken };
}

/** Sets what `etagere env` prints. `headers`: of a caller that may ask for it. */
export async function setEnvironment(
  { adminUrl }: EtagereServer,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const url = `${adminUrl}/admin/v1/identity/environment`;
  const response = await fetch(url, { headers: { "x-etagere-admin": "1", ...headers } });
  const { variables } = (await response.json()) as { variables: Record<string, string> };
  expect(Object.keys(variables)).toEqual(names);
  Object.assign(process.env, variables);
}

function clientsOf(
  { urls }: EtagereServer,
  credential: Credential,
  trusting: StoragePipelineOptions,
) {
  const address = (url: string | undefined): string => `${url}/${developmentAccountName}`;
  // The libraries' types of the same options differ.
  const others = trusting as object;
  return {
    blobs: new BlobServiceClient(address(urls.blob), credential, trusting),
    queues: new QueueServiceClient(address(urls.queue), credential, others),
    table: new TableClient(address(urls.table), "things", credential, others),
  };
}
