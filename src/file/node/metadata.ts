import { metadata } from "../../operation/common-params.ts";
import { propertiesChange, propertiesRead } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { fileOperation } from "../file-operation.ts";
import { presenceAccess, propertiesAccess, writeAccess } from "../locks/file-access.ts";
import { updateNode } from "../shared/node-replies.ts";
import { isReadOnly, serverEncrypted } from "../shared/smb-properties.ts";

/** Get and Set Metadata of files and directories; setting replaces all metadata. Only files have
 *  leases, and bytes that an SMB client may cache.
 *  learn.microsoft.com/rest/api/storageservices/get-file-metadata and set-file-metadata,
 *  get-directory-metadata and set-directory-metadata */
function declareMetadata(resource: "file" | "directory") {
  const isFile = resource === "file";
  const name = isFile ? "File" : "Directory";
  const query = { ...(isFile ? {} : { restype: "directory" }), comp: "metadata" };
  const get = fileOperation({
    ...propertiesRead,
    name: `Get ${name} Metadata`,
    ids: [`${name}_GetMetadata_GET`, `${name}_GetMetadata_HEAD`],
    route: { method: ["GET", "HEAD"], resource, query },
    permission: { letters: "r", resourceType: "o" },
    lease: isFile ? propertiesRead.lease : "none",
    fileAccess: isFile ? propertiesAccess : presenceAccess,
    event: "none",
    decide: ({ target }) => ({ metadata: target.metadata }),
  });
  const set = fileOperation({
    ...propertiesChange,
    name: `Set ${name} Metadata`,
    ids: [`${name}_SetMetadata`],
    route: { method: "PUT", resource, query },
    params: { metadata },
    permission: { letters: "w", resourceType: "o" },
    lease: isFile ? "match-if-leased" : "none",
    fileAccess: writeAccess,
    event: `Set${name}Metadata`,
    decide: ({ target, scope, input, newETag }) => {
      if (isFile && isReadOnly(target)) return fail("ReadOnlyAttribute");
      const next = { ...target, metadata: input.metadata, change: newETag };
      return { ...updateNode(scope, { target, next }), headers: serverEncrypted };
    },
  });
  return [get, set] as const;
}

export const [getFileMetadata, setFileMetadata] = declareMetadata("file");
export const [getDirectoryMetadata, setDirectoryMetadata] = declareMetadata("directory");
