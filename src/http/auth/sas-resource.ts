import { authenticationFailed } from "../../protocol/authentication-faults.ts";
import type { SasResource, SasResourceKind } from "../../protocol/principal.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { queryText } from "../../protocol/signing/request.ts";
import type { AuthRequest } from "./request.ts";
import { directoryOf, mandatory, notWellFormed } from "./sas-fields.ts";

/** The resource that a token is for, as its string to sign contains it. */
interface TokenResource extends SasResource {
  /** The id of the snapshot or version; empty if the token is for neither. */
  readonly snapshotOrVersion: string;
}

/** Finds the resource that a token is for: the URL names it, and `sr` says which kind it is. */
export function tokenResource(request: AuthRequest): Result<TokenResource> {
  switch (request.service) {
    case "blob":
      return blobResource(request);
    case "file":
      return fileResource(request);
    case "queue":
      return queueResource(request);
    case "table":
      return tableResource(request);
  }
}

const blobKinds: Readonly<Record<string, SasResourceKind>> = {
  c: "container",
  b: "blob",
  bs: "snapshot",
  bv: "version",
  d: "directory",
};

/** The first version (`sv`) that has each kind. */
const kindSince: Readonly<Partial<Record<SasResourceKind, string>>> = {
  snapshot: "2018-11-09",
  version: "2019-10-10",
};

function blobResource(request: AuthRequest): Result<TokenResource> {
  const signed = queryText(request, "sr");
  if (signed === "") return mandatory("sr");
  const kind = blobKinds[signed];
  if (kind === undefined) return notWellFormed();
  const { name, path } = request.resource;
  if (name === undefined) return wrongLevel();
  const version = queryText(request, "sv");
  if (version < (kindSince[kind] ?? "")) return notWellFormed();
  const resource = { service: request.service, kind, name, snapshotOrVersion: "" };
  if (kind === "container") return ok({ ...resource, path: undefined });
  if (kind === "directory") return directoryResource(request, resource);
  if (path === undefined) return wrongLevel();
  if (kind === "blob") return ok({ ...resource, path });
  const snapshotOrVersion = queryText(request, kind === "snapshot" ? "snapshot" : "versionid");
  return snapshotOrVersion === "" ? wrongLevel() : ok({ ...resource, path, snapshotOrVersion });
}

function directoryResource(
  request: AuthRequest,
  resource: Omit<TokenResource, "path">,
): Result<TokenResource> {
  if (queryText(request, "sv") < "2020-02-10") return fail("DirectorySasNotSupportedVersion");
  const directory = directoryOf(request.resource.path ?? "", queryText(request, "sdd"));
  if (!directory.ok) return directory;
  return ok({ ...resource, path: directory.value === "" ? undefined : directory.value });
}

function fileResource(request: AuthRequest): Result<TokenResource> {
  const signed = queryText(request, "sr");
  if (signed === "") return mandatory("sr");
  if (signed !== "s" && signed !== "f") return notWellFormed();
  const { name, path } = request.resource;
  if (name === undefined) return wrongLevel();
  const resource = { service: request.service, name, snapshotOrVersion: "" };
  if (signed === "s") return ok({ ...resource, kind: "share", path: undefined });
  return path === undefined ? wrongLevel() : ok({ ...resource, kind: "file", path });
}

function queueResource(request: AuthRequest): Result<TokenResource> {
  const { name } = request.resource;
  if (name === undefined) return wrongLevel();
  return ok({
    service: request.service,
    kind: "queue",
    name,
    path: undefined,
    snapshotOrVersion: "",
  });
}

/** A table SAS names its table in `tn`, because the URL of a transaction has none. */
function tableResource(request: AuthRequest): Result<TokenResource> {
  const name = queryText(request, "tn");
  if (name === "") return mandatory("tn");
  const addressed = request.resource.name;
  if (addressed !== undefined && addressed.toLowerCase() !== name.toLowerCase()) {
    return fail("AuthorizationFailure");
  }
  return ok({
    service: request.service,
    kind: "table",
    name,
    path: undefined,
    snapshotOrVersion: "",
  });
}

/** The fault of a token for another kind of resource than the URL names. Recorded for the token of
 *  a container, sent with a batch to the account. */
function wrongLevel(): Failure {
  return authenticationFailed(
    "The specified signed resource is not allowed for this resource level",
  );
}
