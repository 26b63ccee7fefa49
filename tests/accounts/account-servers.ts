import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import type { EtagereServer } from "../../src/index.ts";
import { adminHeaders } from "../admin/admin-server.ts";

export const adminToken = "a token that is long enough";

/** A key that consists of one byte. */
export const keyOf = (fill: number): string => Buffer.alloc(64, fill).toString("base64");

export interface AdminAnswer {
  readonly status: number;
  readonly body: {
    readonly error?: { readonly code: string; readonly message: string };
    readonly keys?: readonly string[];
    readonly connectionString?: string;
    readonly accounts?: readonly { readonly name: string; readonly source: string }[];
    readonly unserved?: readonly { readonly name: string }[];
  };
}

/** Calls the account routes of the admin API with the admin token. */
export async function callAccounts(
  { adminUrl }: EtagereServer,
  method: string,
  path = "",
  body?: object,
): Promise<AdminAnswer> {
  const response = await fetch(`${adminUrl}/admin/v1/accounts${path}`, {
    method,
    headers: {
      ...adminHeaders,
      authorization: `Bearer ${adminToken}`,
      "content-type": "application/json",
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed = text === "" ? {} : (JSON.parse(text) as AdminAnswer["body"]);
  return { status: response.status, body: parsed };
}

/** A client that sends each request once, signed with an account key. */
export function clientOf(
  { urls }: Pick<EtagereServer, "urls">,
  account: string,
  key: string,
): BlobServiceClient {
  const credential = new StorageSharedKeyCredential(account, key);
  const retryOptions = { maxTries: 1 };
  return new BlobServiceClient(`${urls.blob ?? ""}/${account}`, credential, { retryOptions });
}

/** The error code of a request that must fail; the empty text if it succeeds. */
export async function codeOf(sent: Promise<unknown>): Promise<string> {
  try {
    await sent;
    return "";
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error);
  }
}
