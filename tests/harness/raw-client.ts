import { Agent, request } from "node:http";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  generateAccountSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";

/** A client that sends exactly the given request, signed with an account SAS. */
export interface RawClient {
  send(call: RawCall): Promise<RawAnswer>;
}

export interface RawCall {
  readonly method: string;
  /** Below the account, with its query, e.g. `/container/blob?comp=metadata`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Only without sockets; the development account unless it is named. */
  readonly account?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly code: string | undefined;
}

export const version = "2023-11-03";

/** Shorter than the time after which servers close idle connections (5 s): a request on a
 *  connection that the server closes at this moment would fail. */
export const idleMillisecondsMax = 2500;
const sharedConnections = new Agent({ keepAlive: true, timeout: idleMillisecondsMax });

/** With an agent of its own a client does not share connections. All accounts have the key of the
 *  development account. */
export function rawClient(
  serviceUrl: string,
  agent = sharedConnections,
  account = developmentAccountName,
): RawClient {
  const base = new URL(serviceUrl);
  const sas = accountSas(account);
  return {
    send: ({ method, path, headers = {}, body }) => {
      const signed = `/${account}${withQuery(path, sas)}`;
      const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
      return new Promise((resolve, reject) => {
        const sent = request(
          {
            host: base.hostname,
            port: base.port,
            method,
            path: signed,
            agent,
            headers: { "x-ms-version": version, "content-length": 0, ...length, ...headers },
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () =>
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                body: Buffer.concat(chunks),
                code: response.headers["x-ms-error-code"] as string | undefined,
              }),
            );
            response.on("error", reject);
          },
        );
        sent.on("error", reject);
        sent.end(body);
      });
    },
  };
}

export function withQuery(path: string, query: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** An account SAS with all permissions. */
export function accountSas(account = developmentAccountName): string {
  const credential = new StorageSharedKeyCredential(account, developmentAccountKey);
  return generateAccountSASQueryParameters(
    {
      permissions: AccountSASPermissions.parse("rwdlacuptfxiy"),
      services: AccountSASServices.parse("bqtf").toString(),
      resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
      expiresOn: new Date("2099-01-01"),
      startsOn: new Date("2020-01-01"),
    },
    credential,
  ).toString();
}
