import type { ServiceName } from "../../src/protocol/names.ts";
import { accountKey, urlOf, type NamedWorld, type WorldCall } from "./named-world.ts";

/** A request of an operation that names a second resource. */
export interface NamedSample {
  readonly service: ServiceName;
  /** The container or share of both resources. */
  readonly owner: string;
  /** The path of the target; undefined for a container or share. */
  readonly first: string | undefined;
  /** The path of the second resource. */
  readonly second: string | undefined;
  /** The target is one snapshot of a blob, the second resource another. */
  readonly snapshot?: string;
  readonly call: WorldCall;
  /** For a linked resource: the path of its URL, and further headers of the request. */
  readonly source?: { readonly header: string; readonly path: string };
}

export type NewSample = (world: NamedWorld, id: string) => Promise<NamedSample>;

const pages = "x".repeat(512);

async function must(
  world: NamedWorld,
  service: ServiceName,
  call: WorldCall,
): Promise<Readonly<Record<string, string>>> {
  const { status, headers, body } = await world.send(service, {
    authorization: accountKey,
    ...call,
  });
  if (status >= 300) throw new Error(`${call.method} ${call.path}: ${status} ${body}`);
  return headers;
}

async function container(world: NamedWorld, owner: string): Promise<void> {
  await must(world, "blob", { method: "PUT", path: `/${owner}?restype=container` });
}

async function blob(world: NamedWorld, path: string, type = "BlockBlob"): Promise<void> {
  const isPage = type === "PageBlob";
  const headers = {
    "x-ms-blob-type": type,
    ...(isPage && { "x-ms-blob-content-length": String(pages.length) }),
  };
  const isEmpty = type !== "BlockBlob";
  await must(world, "blob", { method: "PUT", path, headers, ...(!isEmpty && { body: pages }) });
}

async function snapshot(world: NamedWorld, path: string): Promise<string> {
  const taken = await must(world, "blob", { method: "PUT", path: `${path}?comp=snapshot` });
  return taken["x-ms-snapshot"] ?? "";
}

async function share(world: NamedWorld, owner: string, protocol: "SMB" | "NFS"): Promise<void> {
  const headers = { "x-ms-enabled-protocols": protocol };
  await must(world, "file", { method: "PUT", path: `/${owner}?restype=share`, headers });
  for (const name of ["first", "second"]) {
    const made = { "x-ms-type": "file", "x-ms-content-length": String(pages.length) };
    await must(world, "file", { method: "PUT", path: `/${owner}/${name}`, headers: made });
    const range = { "x-ms-write": "update", "x-ms-range": `bytes=0-${pages.length - 1}` };
    const path = `/${owner}/${name}?comp=range`;
    await must(world, "file", { method: "PUT", path, headers: range, body: pages });
  }
}

/** A copy between two blobs of one container. */
function blobCopy(query: string, headers: Record<string, string>, types: readonly string[] = []) {
  return async (world: NamedWorld, id: string): Promise<NamedSample> => {
    const owner = `c${id}`;
    const [target, source] = types;
    await container(world, owner);
    if (target !== undefined) await blob(world, `/${owner}/first`, target);
    await blob(world, `/${owner}/second`, source);
    const at = query.includes("incrementalcopy") ? await snapshot(world, `/${owner}/second`) : "";
    const path = `/${owner}/second${at === "" ? "" : `?snapshot=${at}`}`;
    return {
      service: "blob",
      owner,
      first: "first",
      second: "second",
      call: { method: "PUT", path: `/${owner}/first${query}`, headers },
      source: { header: "x-ms-copy-source", path },
    };
  };
}

function fileLink(
  query: string,
  header: string,
  headers: Record<string, string>,
  target = "first",
): NewSample {
  return async (world, id) => {
    const owner = `s${id}`;
    await share(world, owner, "SMB");
    return {
      service: "file",
      owner,
      first: target,
      second: "second",
      call: { method: "PUT", path: `/${owner}/${target}${query}`, headers },
      source: { header, path: `/${owner}/second` },
    };
  };
}

const renamed = fileLink("?comp=rename", "x-ms-file-rename-source", {}, "third");

async function renamedDirectory(world: NamedWorld, id: string): Promise<NamedSample> {
  const owner = `s${id}`;
  await must(world, "file", { method: "PUT", path: `/${owner}?restype=share` });
  await must(world, "file", { method: "PUT", path: `/${owner}/second?restype=directory` });
  return {
    service: "file",
    owner,
    first: "third",
    second: "second",
    call: { method: "PUT", path: `/${owner}/third?restype=directory&comp=rename` },
    source: { header: "x-ms-file-rename-source", path: `/${owner}/second` },
  };
}

async function hardLink(world: NamedWorld, id: string): Promise<NamedSample> {
  const owner = `s${id}`;
  await share(world, owner, "NFS");
  const headers = { "x-ms-type": "file", "x-ms-file-target-file": "second" };
  const call = { method: "PUT", path: `/${owner}/third?restype=hardlink`, headers };
  return { service: "file", owner, first: "third", second: "second", call };
}

async function previousShareSnapshot(world: NamedWorld, id: string): Promise<NamedSample> {
  const owner = `s${id}`;
  await share(world, owner, "SMB");
  const path = `/${owner}?restype=share&comp=snapshot`;
  const { "x-ms-snapshot": at = "" } = await must(world, "file", { method: "PUT", path });
  const call = { method: "GET", path: `/${owner}/first?comp=rangelist&prevsharesnapshot=${at}` };
  return { service: "file", owner, first: "first", second: "first", call };
}

function previousSnapshot(by: "query" | "header"): NewSample {
  return async (world, id) => {
    const owner = `c${id}`;
    await container(world, owner);
    await blob(world, `/${owner}/first`, "PageBlob");
    const earlier = await snapshot(world, `/${owner}/first`);
    const later = await snapshot(world, `/${owner}/first`);
    const path = `/${owner}/first?comp=pagelist&snapshot=${later}`;
    const url = urlOf(`/${owner}/first?snapshot=${earlier}`);
    const call =
      by === "query"
        ? { method: "GET", path: `${path}&prevsnapshot=${earlier}` }
        : { method: "GET", path, headers: { "x-ms-previous-snapshot-url": url } };
    return { service: "blob", owner, first: "first", second: "first", snapshot: later, call };
  };
}

async function deletedContainer(world: NamedWorld, id: string): Promise<NamedSample> {
  await container(world, `d${id}`);
  await must(world, "blob", { method: "DELETE", path: `/d${id}?restype=container` });
  const { body } = await world.send("blob", {
    method: "GET",
    path: `/?comp=list&include=deleted&prefix=d${id}`,
    authorization: accountKey,
  });
  const deleted = /<Version>([^<]+)<\/Version>/.exec(body)?.[1] ?? "";
  const headers = {
    "x-ms-deleted-container-name": `d${id}`,
    "x-ms-deleted-container-version": deleted,
  };
  const path = `/c${id}?restype=container&comp=undelete`;
  const call = { method: "PUT", path, headers };
  return { service: "blob", owner: `c${id}`, first: undefined, second: undefined, call };
}

async function deletedPath(world: NamedWorld, id: string): Promise<NamedSample> {
  const owner = `c${id}`;
  await container(world, owner);
  await blob(world, `/${owner}/first`);
  const headers = { "x-ms-undelete-source": "second?deletionid=1" };
  const call = { method: "PUT", path: `/${owner}/first?comp=undelete`, headers };
  return { service: "blob", owner, first: "first", second: "second", call };
}

async function deletedShare(world: NamedWorld, id: string): Promise<NamedSample> {
  await must(world, "file", { method: "PUT", path: `/d${id}?restype=share` });
  await must(world, "file", { method: "DELETE", path: `/d${id}?restype=share` });
  const { body } = await world.send("file", {
    method: "GET",
    path: `/?comp=list&include=deleted&prefix=d${id}`,
    authorization: accountKey,
  });
  const deleted = /<Version>([^<]+)<\/Version>/.exec(body)?.[1] ?? "";
  const headers = { "x-ms-deleted-share-name": `d${id}`, "x-ms-deleted-share-version": deleted };
  const path = `/d${id}?restype=share&comp=undelete`;
  const call = { method: "PUT", path, headers };
  return { service: "file", owner: `d${id}`, first: undefined, second: undefined, call };
}

async function renamedContainer(world: NamedWorld, id: string): Promise<NamedSample> {
  await container(world, `d${id}`);
  const headers = { "x-ms-source-container-name": `d${id}` };
  const path = `/c${id}?restype=container&comp=rename`;
  const call = { method: "PUT", path, headers };
  return { service: "blob", owner: `c${id}`, first: undefined, second: undefined, call };
}

const pageHeaders = { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" };
const rangeHeaders = { "x-ms-write": "update", "x-ms-range": "bytes=0-511" };
const sourceRange = { "x-ms-source-range": "bytes=0-511" };

/** By the operation and the parameter that names the second resource. */
export const samples: Readonly<Record<string, NewSample>> = {
  "Copy Blob: x-ms-copy-source": blobCopy("", {}),
  "Copy Blob From URL: x-ms-copy-source": blobCopy("", { "x-ms-requires-sync": "true" }),
  "Put Blob From URL: x-ms-copy-source": blobCopy("", { "x-ms-blob-type": "BlockBlob" }),
  "Put Block From URL: x-ms-copy-source": blobCopy("?comp=block&blockid=YWE%3D", {}),
  "Append Block From URL: x-ms-copy-source": blobCopy("?comp=appendblock", {}, ["AppendBlob"]),
  "Put Page From URL: x-ms-copy-source": blobCopy(
    "?comp=page",
    { ...pageHeaders, ...sourceRange },
    ["PageBlob"],
  ),
  "Incremental Copy Blob: x-ms-copy-source": async (world, id) =>
    blobCopy("?comp=incrementalcopy", {}, [undefined, "PageBlob"] as never)(world, id),
  "Get Page Ranges: prevsnapshot": previousSnapshot("query"),
  "Get Page Ranges: x-ms-previous-snapshot-url": previousSnapshot("header"),
  "Undelete Blob: x-ms-undelete-source": deletedPath,
  "Restore Container: x-ms-deleted-container-name": deletedContainer,
  "Rename Container: x-ms-source-container-name": renamedContainer,
  "Copy File: x-ms-copy-source": fileLink("", "x-ms-copy-source", {}, "third"),
  "Put Range From URL: x-ms-copy-source": fileLink("?comp=range", "x-ms-copy-source", {
    ...rangeHeaders,
    ...sourceRange,
  }),
  "Rename File: x-ms-file-rename-source": renamed,
  "Rename Directory: x-ms-file-rename-source": renamedDirectory,
  "Create Hard Link: x-ms-file-target-file": hardLink,
  "List Ranges: prevsharesnapshot": previousShareSnapshot,
  "Restore Share: x-ms-deleted-share-name": deletedShare,
};
