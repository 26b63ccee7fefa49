import { blobChange } from "../../blob-policy.ts";
import { encryption } from "../../../protocol/encryption.ts";
import { fail } from "../../../protocol/result.ts";
import { pathOperation } from "../../resources.ts";
import { encryptionHeaders } from "../../shared/create-blob.ts";
import { nextVersion, preservePrevious } from "../../shared/overwrite.ts";
import { withFolderMark } from "../../tree/create-parents.ts";
import { rootName } from "../../tree/find-path.ts";
import { contentHeaders, properties } from "../params.ts";

/** Changes headers and metadata of a path. Headers that the request does not set stay; metadata is
 *  replaced as a whole.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/update */
export const setPathProperties = pathOperation({
  ...blobChange,
  name: "Set Path Properties",
  ids: [],
  route: { method: "PATCH", resource: "blob", query: { action: "setProperties" } },
  params: { properties, headers: contentHeaders, encryption },
  policy: { ...blobChange.policy, event: "SetBlobProperties" },
  decide: (context) => {
    const { scope, target, input, features } = context;
    if (scope.key.name === rootName) return fail("InvalidUri");
    const { properties: given = target.metadata } = input;
    const metadata = target.directory === undefined ? given : withFolderMark(given);
    const headers = { ...target.headers, ...input.headers };
    // Like Set Blob Metadata, a change of metadata creates a version; a change of headers alone
    // does not.
    const isVersioned = features.versioning && input.properties !== undefined;
    return {
      put: isVersioned
        ? { ...target, metadata, headers, versionId: nextVersion(context) }
        : { ...target, metadata, headers },
      effects: isVersioned ? preservePrevious(context) : [],
      headers: { "x-ms-request-server-encrypted": "true", ...encryptionHeaders(target) },
    };
  },
});
