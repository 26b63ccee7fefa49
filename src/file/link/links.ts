import { nodeCreation, createNode } from "../shared/create-node.ts";
import { put } from "../../operation/effects.ts";
import { parseFilePath } from "../../protocol/file-names.ts";
import { invalidHeader, invalidQuery } from "../../protocol/faults.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { checkLease, isLocked } from "../../protocol/lease.ts";
import { checked, header, required, text } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import { nodes } from "../records.ts";
import { fileOperation } from "../file-operation.ts";
import { keepForSnapshots } from "../shared/node-replies.ts";
import { smbProperties } from "../shared/smb-params.ts";
import { smbHeaders } from "../shared/smb-properties.ts";
import { resolvePath } from "../share-tree.ts";
import { metadata } from "../../operation/common-params.ts";
import { propertiesAccess } from "../locks/file-access.ts";
import { decodePercent } from "../../protocol/names.ts";
import { propertiesRead } from "../../operation/operation.ts";

/** The REST operations on hard links and symbolic links, which only NFS shares have. */

const targetFileHeader = "x-ms-file-target-file";
/** Limit of this server for the hard links of one file, because its record lists them all. */
const linksMax = 1000;

const linkedPath = checked(required(header(targetFileHeader, text)), (value) => {
  const path = decodePercent(value);
  return path === undefined ? invalidHeader(targetFileHeader, value) : ok(path);
});

/** Adds a name to a file; on NFS shares only. The file stays stored under its first name, and lists
 *  its further names in `links`. Each further name is a record with the id of the file in `linkTo`
 *  (`hard-link-names.ts`). learn.microsoft.com/rest/api/storageservices/create-hard-link */
export const createHardLink = fileOperation({
  ...nodeCreation,
  name: "Create Hard Link",
  ids: ["File_CreateHardLink"],
  route: { method: "PUT", resource: "file", query: { restype: "hardlink" } },
  since: "2025-05-05",
  params: { linkedPath, leaseId: header("x-ms-lease-id", parseGuid) },
  // The credentials of the request must also permit writing the linked file: its record changes,
  // and its content becomes reachable under the new name.
  namedResources: [
    {
      kind: "same-credentials",
      parameter: targetFileHeader,
      permission: { letters: "w", resourceType: "o" },
      resourceOf: ({ share }, { linkedPath: path }) => ({
        name: share,
        path: path.replace(/^\//, ""),
      }),
    },
  ],
  event: "CreateHardLink",
  status: 201,
  reads: async (view, { scope, input }) => {
    const path = parseFilePath(input.linkedPath, { keepsTrailingDots: true });
    return path.ok ? resolvePath(view, { share: scope.share.id }, path.value) : undefined;
  },
  decide: ({ scope, input, readResult, now, newETag, newId, version }) => {
    const { share, key, parent } = scope;
    if (share.settings.protocol !== "NFS") return invalidQuery("restype", "hardlink");
    const file = readResult?.target;
    if (readResult === undefined || file === undefined) return fail("ResourceNotFound");
    if (file.kind === "directory") return fail("ResourceTypeMismatch");
    const { links = [], lease } = file;
    if (isLocked(lease, now)) {
      const allowed = checkLease(lease, input.leaseId, "match-if-leased", "file", now);
      if (!allowed.ok) return allowed;
    }
    if (links.length >= linksMax) return fail("InvalidInput");
    const location = { parent: key.parent, folded: key.folded };
    const next = { ...file, change: newETag, links: [...links, location], since: share.epoch };
    return {
      // The record of the link. Only its name and `linkTo` are used: reads and listings show the
      // record of the file.
      put: {
        ...file,
        id: newId(),
        parent: parent.id,
        name: scope.name,
        since: share.epoch,
        content: undefined,
        allocated: undefined,
        counted: undefined,
        lease: undefined,
        links: undefined,
        linkTo: file.id,
      },
      effects: [
        ...keepForSnapshots({ share, key: readResult.key }, file),
        put(nodes, readResult.key, next),
      ],
      headers: smbHeaders(next, version),
    };
  },
});

/** Limit of this server for the text of a symbolic link, in UTF-16 code units: as many as a path on
 *  Linux may have bytes. A longer text is a fault. A malformed encoding */
const linkUnitsMax = 4096;

/** The header is percent-encoded, because the link text may contain any character. */
const linkText = checked(required(header("x-ms-link-text", text)), (value) => {
  const decoded = decodePercent(value);
  // A malformed encoding gets the fault of a text that is too long.
  const isValid = decoded !== undefined && decoded.length <= linkUnitsMax;
  return isValid ? ok(decoded) : invalidHeader("x-ms-link-text", value);
});

const query = { restype: "symboliclink" };

/** Creates a symbolic link; on NFS shares only.
 *  learn.microsoft.com/rest/api/storageservices/create-symbolic-link */
export const createSymbolicLink = fileOperation({
  ...nodeCreation,
  name: "Create Symbolic Link",
  ids: ["File_CreateSymbolicLink"],
  route: { method: "PUT", resource: "file", query },
  since: "2025-05-05",
  params: {
    linkText,
    metadata,
    smb: smbProperties({ words: ["now"], requiredByOldVersions: false }),
  },
  event: "CreateSymbolicLink",
  status: 201,
  decide: (context) => {
    const { scope, input } = context;
    if (scope.share.settings.protocol !== "NFS") return invalidQuery("restype", "symboliclink");
    const fields = { linkText: input.linkText };
    return createNode(context, { kind: "symlink", permission: {}, fields });
  },
});

/** Returns the text of a symbolic link, without following it.
 *  learn.microsoft.com/rest/api/storageservices/get-symbolic-link */
export const getSymbolicLink = fileOperation({
  name: "Get Symbolic Link",
  ids: ["File_GetSymbolicLink"],
  route: { method: "GET", resource: "file", query },
  since: "2025-05-05",
  permission: { letters: "r", resourceType: "o" },
  ...propertiesRead,
  lease: "none",
  fileAccess: propertiesAccess,
  event: "none",
  decide: ({ target }) =>
    target.linkText === undefined
      ? fail("ResourceTypeMismatch")
      : { headers: { "x-ms-link-text": encodeURIComponent(target.linkText) } },
});
