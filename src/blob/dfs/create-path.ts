import { emptyContent } from "../../content/content-ref.ts";
import { reclaimAt } from "../../operation/effects.ts";
import { noBody } from "../../operation/operation.ts";
import { encryption } from "../../protocol/encryption.ts";
import { startLease } from "../../protocol/lease.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { header, text } from "../../protocol/params.ts";
import type { PathKind } from "../../protocol/posix-access.ts";
import { fail } from "../../protocol/result.ts";
import {
  chooseSealing,
  encryptionHeaderNames,
  encryptionHeaders,
} from "../encryption/blob-encryption.ts";
import { uploads } from "../records.ts";
import { isHierarchical, operation } from "../resources.ts";
import { blobKey, dropUpload } from "../shared/overwrite.ts";
import { withFolderMark } from "../tree/directory-record.ts";
import { expiryOf, expiryOption } from "../write/set-blob-expiry.ts";
import {
  acl,
  contentHeaders,
  encryptionContext,
  group,
  newLease,
  newProperties,
  owner,
  permissions,
  umask,
} from "./params.ts";
import { accessOfNew } from "./posix.ts";

const params = {
  properties: newProperties,
  headers: contentHeaders,
  permissions,
  umask,
  acl,
  owner,
  group,
  lease: newLease,
  expiryOption,
  expiryTime: header("x-ms-expiry-time", text),
  encryptionContext,
  encryption,
};

/** Replaces what is there: a file loses its content, a directory keeps what is below it.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/create */
function declareCreate(kind: PathKind) {
  return operation({
    name: kind === "file" ? "Create File" : "Create Directory",
    ids: ["Path_Create"],
    route: {
      method: "PUT",
      resource: "blob",
      query: { resource: kind },
      headers: { "x-ms-rename-source": false },
    },
    since: "2018-11-09",
    params,
    body: noBody,
    permission: { letters: "cw", resourceType: "o", overwrite: true },
    target: "may-exist",
    conditions: "create",
    lease: "match-if-leased",
    etag: "renew",
    effect: "writes",
    success: {
      status: 201,
      headers: ["x-ms-request-server-encrypted", ...encryptionHeaderNames],
    },
    reads: (view, { scope }) => view.get(uploads, blobKey({ scope })),
    decide: (context) => {
      const { scope, target, input, newETag, now, newId, callerId } = context;
      const key = blobKey(context);
      if (key.name === "") return fail("InvalidUri");
      const isDirectory = kind === "directory";
      const hierarchical = isHierarchical(scope);
      const isConflict = target !== undefined && (target.directory !== undefined) !== isDirectory;
      if (hierarchical && isConflict) return fail("PathConflict");
      const sealing = chooseSealing(input.encryption, scope.container);
      if (!sealing.ok) return sealing;
      const parent = scope.ancestors.at(-1);
      const posix = accessOfNew(input, { kind, parent, callerId });
      if (!posix.ok) return posix;
      const { expiryOption: option = "NeverExpire", expiryTime } = input;
      const expiry = expiryOf(option, expiryTime, { created: now, now });
      if (!expiry.ok) return expiry;
      if (expiry.value !== undefined && !hierarchical) {
        return fail("HierarchicalNamespaceNotEnabled");
      }
      const { lease } = input;
      return {
        put: {
          etag: newETag,
          created: target?.created ?? now,
          type: "BlockBlob" as const,
          content: emptyContent,
          headers: input.headers,
          metadata: metadataOf(input.properties, isDirectory),
          lease: lease === undefined ? target?.lease : startLease(lease.id, lease.seconds, now),
          expiresAt: expiry.value,
          ...(hierarchical && { posix: posix.value }),
          directory: hierarchical && isDirectory ? (target?.directory ?? newId()) : undefined,
          encryptionContext: input.encryptionContext,
          writtenBy: "dfs" as const,
          ...sealing.value,
        },
        effects: [
          ...dropUpload(key, context.readResult),
          ...(expiry.value === undefined
            ? []
            : [reclaimAt(expiry.value, "blob-expiry", key.container, key.name)]),
        ],
        headers: {
          "x-ms-request-server-encrypted": "true",
          ...encryptionHeaders(sealing.value),
        },
      };
    },
  });
}

function metadataOf(pairs: Metadata, isDirectory: boolean): Metadata {
  return isDirectory ? withFolderMark(pairs) : pairs;
}

export const createFile = declareCreate("file");
export const createDirectory = declareCreate("directory");
