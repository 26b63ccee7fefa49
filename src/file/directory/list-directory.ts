import { formatIso } from "../../base/dates.ts";
import {
  formatMarker,
  marker,
  maxResults,
  pageSize,
  prefix,
  wordSet,
} from "../../operation/listing.ts";
import { noETag } from "../../operation/operation.ts";
import { boolean, header } from "../../protocol/params.ts";
import { xmlListBody } from "../../encoding/xml-body.ts";
import { nameElement, startTag, textElement } from "../../encoding/xml-writer.ts";
import { fileOperation } from "../file-operation.ts";
import { presenceAccess } from "../locks/file-access.ts";
import { foldName } from "../share-tree.ts";
import { directoryPage } from "./directory-page.ts";

/** Lists the files and directories directly in a directory, both in one order by name.
 *  learn.microsoft.com/rest/api/storageservices/list-directories-and-files */
export const listDirectory = fileOperation({
  name: "List Directories and Files",
  ids: ["Directory_ListFilesAndDirectoriesSegment"],
  route: {
    method: "GET",
    resource: "directory",
    query: { restype: "directory", comp: "list" },
  },
  params: {
    prefix,
    marker,
    maxResults,
    include: wordSet("include", "timestamps", "etag", "attributes", "permissionkey"),
    extended: header("x-ms-file-extended-info", boolean),
  },
  permission: { letters: "l", resourceType: "co" },
  target: "must-exist",
  ...noETag,
  fileAccess: presenceAccess,
  largeResponse: true,
  event: "none",
  reads: (view, { scope, target, input, version }) => {
    const tree = { share: scope.share.id, epoch: scope.snapshot?.epoch };
    const wanted = {
      directory: target.id,
      prefix: foldName(input.prefix ?? ""),
      from: input.marker?.[0] ?? "",
      limit: pageSize(input.maxResults),
    };
    return directoryPage(view, tree, wanted, { include: input.include ?? new Set(), version });
  },
  decide: ({ target, scope, address, input, readResult, endpoint, version }) => {
    const { entries, next } = readResult;
    const head =
      (input.prefix === undefined ? "" : nameElement("Prefix", input.prefix)) +
      textElement("Marker", input.marker && formatMarker(input.marker)) +
      textElement("MaxResults", input.maxResults) +
      (version >= "2020-10-02" ? textElement("DirectoryId", target.id) : "");
    const tail = textElement("NextMarker", next === undefined ? "" : formatMarker([next]));
    const { snapshot } = address;
    const names = {
      ServiceEndpoint: `${endpoint}/`,
      ShareName: address.share,
      ...(snapshot === undefined ? {} : { ShareSnapshot: formatIso(snapshot) }),
      DirectoryPath: scope.components.join("/"),
    };
    const before = startTag("EnumerationResults", names) + head;
    const after = `${tail}</EnumerationResults>`;
    return { body: xmlListBody({ before, name: "Entries", entries, after }) };
  },
});
