import { put } from "../../operation/effects.ts";
import { parseFilePath } from "../../protocol/file-names.ts";
import { invalidHeader, invalidQuery } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { checked, header, required, text } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import { nodes } from "../records.ts";
import { fileOperation } from "../file-operation.ts";
import { keepForSnapshots } from "../shared/node-replies.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";
import { smbHeaderNames, smbHeaders } from "../shared/smb-properties.ts";
import { resolvePath } from "../share-tree.ts";

const name = "x-ms-file-target-file";
const linksMax = 1000;

const linked = checked(required(header(name, text)), (value) => {
  try {
    return ok(decodeURIComponent(value));
  } catch {
    return invalidHeader(name, value);
  }
});

/** One more name for a file, on NFS shares only.
 *  learn.microsoft.com/rest/api/storageservices/create-hard-link */
export const createHardLink = fileOperation({
  name: "Create Hard Link",
  ids: ["File_CreateHardLink"],
  route: { method: "PUT", resource: "file", query: { restype: "hardlink" } },
  since: "2025-05-05",
  params: { linked, keepsTrailingDots },
  body: noBody,
  // The record of the linked file changes, and its content becomes reachable by the new name.
  names: [
    {
      kind: "covered",
      parameter: name,
      permission: { letters: "w", resourceType: "o" },
      named: ({ share }, { linked: path }) => ({
        name: share,
        path: path.replace(/^\//, ""),
      }),
    },
  ],
  permission: { letters: "cw", resourceType: "o" },
  target: "must-not-exist",
  conditions: "none",
  lease: "none",
  etag: "renew",
  fileAccess: "none",
  effect: "writes",
  success: { status: 201, headers: [...smbHeaderNames] },
  reads: async (view, { scope, input }) => {
    const path = parseFilePath(input.linked, { keepsTrailingDots: true });
    return path.ok ? resolvePath(view, { share: scope.share.id }, path.value) : undefined;
  },
  decide: ({ scope, readResult, newETag, newId, version }) => {
    const { share, key, parent } = scope;
    if (share.settings.protocol !== "NFS") return invalidQuery("restype", "hardlink");
    const file = readResult?.target;
    if (readResult === undefined || file === undefined) return fail("ResourceNotFound");
    if (file.kind === "directory") return fail("ResourceTypeMismatch");
    const { links = [] } = file;
    if (links.length >= linksMax) return fail("InvalidInput");
    const place = { parent: key.parent, folded: key.folded };
    const next = { ...file, change: newETag, links: [...links, place], since: share.epoch };
    return {
      put: {
        ...file,
        id: newId(),
        parent: parent.id,
        name: scope.name,
        since: share.epoch,
        content: undefined,
        allocated: undefined,
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
