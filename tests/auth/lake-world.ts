import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  DataLakeSASPermissions,
  DirectorySASPermissions,
  FileSystemSASPermissions,
  generateAccountSASQueryParameters,
  generateDataLakeSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-file-datalake";
import type { AccountKeys } from "../../src/account/settings.ts";
import {
  accountDefaults,
  developmentAccountKey,
  developmentAccountName,
} from "../../src/account/settings.ts";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { blobService } from "../../src/blob/service.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import type { AuthOptions, AuthRequest } from "../../src/http/auth/request.ts";
import { compileRoutes } from "../../src/http/request/routing.ts";
import { keyPrincipal, type Principal } from "../../src/protocol/principal.ts";
import { ok, type Result } from "../../src/protocol/result.ts";
import type { RawCall } from "../harness/raw-client.ts";
import {
  sendThrough,
  simService,
  type SimResponse,
  type SimService,
} from "../harness/sim-service.ts";

/** Represents a signature with the account key, and the token of a caller. */
export const byKey = "by the account key";
const callers: Readonly<Record<string, Principal>> = {
  [byKey]: keyPrincipal,
  "as me": { kind: "bearer", objectId: "me", tenantId: "t" },
};

class NamedAuthenticator extends Authenticator {
  override authenticate(
    request: AuthRequest,
    keys: AccountKeys,
    options: AuthOptions,
  ): Result<Principal> {
    const known = callers[request.header("authorization") ?? ""];
    return known === undefined ? super.authenticate(request, keys, options) : ok(known);
  }
}

export const otherName = "otheraccount";

/** Two accounts with the same containers and files, and real authentication. */
export interface LakeWorld extends SimService {
  /** Sends the call as the holder of the account key, unless it says otherwise. */
  call(request: RawCall, authorization?: string): Promise<SimResponse>;
  /** As `sendAs`, by the Blob API. */
  sendToBlob(request: RawCall): Promise<SimResponse>;
  must(request: RawCall): Promise<SimResponse>;
  /** All paths of the account, after their containers. */
  listed(account: string): Promise<readonly string[]>;
}

export async function lakeWorld(hierarchicalNamespace = true): Promise<LakeWorld> {
  const settings = { ...accountDefaults, hierarchicalNamespace };
  const otherAccount = { ...settings, name: otherName, keys: [developmentAccountKey] as const };
  const sim = await simService(dfsService, {
    account: { hierarchicalNamespace },
    otherAccounts: [otherAccount],
    authenticator: new NamedAuthenticator(),
  });
  const router = compileRoutes(blobService.operations);
  const blob = { ...sim.http, service: blobService, router };
  const call = async (request: RawCall, authorization = byKey) => {
    const headers = { authorization, ...request.headers };
    return sim.sendAs({ ...request, headers });
  };
  const must = async (request: RawCall): Promise<SimResponse> => {
    const answer = await call(request);
    const { status, body } = answer;
    if (status >= 300) throw new Error(`${request.method} ${request.path}: ${status} ${body}`);
    return answer;
  };
  const listed = async (account: string): Promise<readonly string[]> => {
    const names: string[] = [];
    for (const container of containers) {
      const path = `/${container}?resource=filesystem&recursive=true`;
      const { body } = await call({ method: "GET", path, account });
      const { paths } = JSON.parse(body) as { paths: { name: string }[] };
      names.push(...paths.map(({ name }) => `${container}/${name}`));
    }
    return names;
  };
  for (const account of [developmentAccountName, otherName]) {
    for (const name of containers) {
      await must({ method: "PUT", path: `/${name}?resource=filesystem`, account });
      for (const file of ["from/file", "to/old"]) {
        await must({ method: "PUT", path: `/${name}/${file}?resource=file`, account });
      }
    }
  }
  return { ...sim, call, must, listed, sendToBlob: (request) => sendThrough(blob, request) };
}

const containers = ["aaa", "bbb"] as const;

const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);
const times = { startsOn: new Date("2020-01-01"), expiresOn: new Date("2099-01-01") };

export function accountToken(sp: string): string {
  const values = {
    ...times,
    permissions: AccountSASPermissions.parse(sp),
    services: AccountSASServices.parse("b").toString(),
    resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
  };
  return generateAccountSASQueryParameters(values, credential).toString();
}

/** Response headers that a token replaces. */
interface Overrides {
  readonly cacheControl?: string;
  readonly contentType?: string;
}

export function filesystemToken(fileSystemName: string, sp: string, replaced: Overrides = {}) {
  const permissions = FileSystemSASPermissions.parse(sp);
  const values = { ...times, permissions, fileSystemName, ...replaced };
  return generateDataLakeSASQueryParameters(values, credential).toString();
}

export function fileToken(fileSystemName: string, pathName: string, sp: string): string {
  const permissions = DataLakeSASPermissions.parse(sp);
  const values = { ...times, permissions, fileSystemName, pathName };
  return generateDataLakeSASQueryParameters(values, credential).toString();
}

export function directoryToken(fileSystemName: string, pathName: string, sp: string): string {
  const permissions = DirectorySASPermissions.parse(sp);
  const depth = pathName.split("/").length;
  const directory = { pathName, isDirectory: true, directoryDepth: depth };
  const values = { ...times, permissions, fileSystemName, ...directory };
  return generateDataLakeSASQueryParameters(values, credential).toString();
}
