import { developmentAccountName } from "../../src/account/settings.ts";
import { accountSas } from "./raw-client.ts";
import type { SimFile } from "./sim-file.ts";
import type { SimResponse } from "./sim-service.ts";

/** Common first steps of file tests. */

export async function newShare(world: SimFile, share = "share"): Promise<string> {
  await expectDone(world.send({ method: "PUT", path: `/${share}?restype=share` }));
  return `/${share}`;
}

export async function newDirectory(world: SimFile, path: string): Promise<void> {
  await expectDone(world.send({ method: "PUT", path: `${path}?restype=directory` }));
}

export async function newFile(world: SimFile, path: string, text = ""): Promise<void> {
  const headers = { "x-ms-type": "file", "x-ms-content-length": String(text.length) };
  await expectDone(world.send({ method: "PUT", path, headers }));
  if (text !== "") await expectDone(putRange(world, path, 0, text));
}

export function putRange(
  world: SimFile,
  path: string,
  from: number,
  text: string,
): Promise<SimResponse> {
  const range = `bytes=${from}-${from + text.length - 1}`;
  const headers = { "x-ms-write": "update", "x-ms-range": range };
  return world.send({ method: "PUT", path: `${path}?comp=range`, headers, body: text });
}

export async function snapshot(world: SimFile, share: string): Promise<string> {
  const path = `${share}?restype=share&comp=snapshot`;
  const { headers } = await expectDone(world.send({ method: "PUT", path }));
  return headers["x-ms-snapshot"] ?? "";
}

export async function namesIn(world: SimFile, path: string, query = ""): Promise<string[]> {
  const listed = await expectDone(
    world.send({ method: "GET", path: `${path}?restype=directory&comp=list${query}` }),
  );
  return [...listed.body.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name]) => name ?? "");
}

/** The signed URL of a file, as rename and copy requests name their source. */
export function signedUrl(path: string): string {
  return `http://127.0.0.1/${developmentAccountName}${path}?${sas}`;
}

const sas = accountSas();

export async function expectDone(answer: Promise<SimResponse>): Promise<SimResponse> {
  const done = await answer;
  if (done.status >= 300) throw new Error(`${done.status} ${done.code}: ${done.body}`);
  return done;
}
