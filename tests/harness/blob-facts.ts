import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { AccountSettings } from "../../src/account/settings.ts";
import type { RawCall } from "./raw-client.ts";
import { simBlob, type SimBlob } from "./sim-blob.ts";
import type { SimResponse } from "./sim-service.ts";

/**
 * Recorded responses where the documentation is silent or differs, one row each. Headers that are
 * `undefined` must be absent.
 */
export interface Fact {
  readonly title: string;
  readonly settings?: Partial<AccountSettings>;
  readonly given?: (blob: SimBlob) => Promise<Readonly<Record<string, string>> | void>;
  /** `{name}` is replaced by the value that `given` returned under that name. */
  readonly call: RawCall;
  readonly status: number;
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** A part of the body. */
  readonly body?: string;
}

export const home = "http://127.0.0.1/devstoreaccount1";
export const put = (path: string, headers: RawCall["headers"] = {}, body?: string): RawCall => ({
  method: "PUT",
  path,
  headers,
  ...(body === undefined ? {} : { body }),
});
export const block = { "x-ms-blob-type": "BlockBlob" };
export const old = { "x-ms-version": "2018-11-09" };

export function md5(text: string): string {
  return createHash("md5").update(text).digest("base64");
}

export const abc = "abc";
export const list = "<BlockList><Latest>YQ==</Latest></BlockList>";
export const page = "x".repeat(512);
export const onPage = { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" };

export async function write(blob: SimBlob, call: RawCall): Promise<SimResponse> {
  const answer = await blob.send(call);
  if (answer.status >= 300) throw new Error(`${call.method} ${call.path}: ${answer.code}`);
  return answer;
}

export const blockBlob = async (blob: SimBlob) => {
  await write(blob, put("/abc/b", block, abc));
};
export const appendBlob = async (blob: SimBlob) => {
  await write(blob, put("/abc/b", { "x-ms-blob-type": "AppendBlob" }));
};
export const pageBlob = async (blob: SimBlob) => {
  await write(
    blob,
    put("/abc/b", { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" }),
  );
};
export const softDelete = (blob: SimBlob, more = "") => {
  const policy = `<Enabled>true</Enabled><Days>3</Days>${more}`;
  const body = `<StorageServiceProperties><DeleteRetentionPolicy>${policy}</DeleteRetentionPolicy></StorageServiceProperties>`;
  return write(blob, put("/?restype=service&comp=properties", {}, body));
};
export const snapshot = async (blob: SimBlob) => {
  const { headers } = await write(blob, put("/abc/b?comp=snapshot"));
  return { snapshot: headers["x-ms-snapshot"] ?? "" };
};
export const version = async (blob: SimBlob) => {
  const { headers } = await write(blob, put("/abc/b", block, abc));
  await write(blob, put("/abc/b", block, "newer"));
  return { version: headers["x-ms-version-id"] ?? "" };
};
export const archived = async (blob: SimBlob) => {
  await blockBlob(blob);
  await write(blob, put("/abc/b?comp=tier", { "x-ms-access-tier": "Archive" }));
};
export const uncommitted = async (blob: SimBlob) => {
  await write(blob, put("/abc/b?comp=block&blockid=YQ==", {}, abc));
};
export const from = { "x-ms-copy-source": `${home}/abc/b` };

function filled(text: string, names: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ""));
}

export async function prove(fact: Fact): Promise<void> {
  const blob = await simBlob(fact.settings);
  await write(blob, put("/abc?restype=container"));
  const names = (await fact.given?.(blob)) ?? {};
  const answer = await blob.send({ ...fact.call, path: filled(fact.call.path, names) });
  expect([answer.status, answer.code]).toEqual([fact.status, fact.code]);
  for (const [name, value] of Object.entries(fact.headers ?? {})) {
    expect([name, answer.headers[name]]).toEqual([name, value]);
  }
  expect(answer.body).toContain(fact.body ?? "");
}
