import { invalidQuery } from "../../protocol/faults.ts";
import {
  delimiter,
  maxResults,
  pageSize,
  pathMarker,
  nameText,
  prefix,
  wordSet,
} from "../../operation/listing.ts";
import { query, type InputOf } from "../../protocol/params.ts";
import type { AclCaller } from "../../protocol/posix-access.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { AccountScope } from "../../account/account-record.ts";
import { isHierarchical } from "../resources.ts";
import type { EntryOptions } from "./blob-entry.ts";
import type { Selection } from "./scan-blobs.ts";

const include = wordSet(
  "include",
  "snapshots",
  "metadata",
  "uncommittedblobs",
  "copy",
  "deleted",
  "tags",
  "versions",
  "deletedwithversions",
  "immutabilitypolicy",
  "legalhold",
  "permissions",
);

/** `showonly`. On flat accounts every blob counts as a file. */
const showOnly = wordSet("showonly", "deleted", "files", "directories");

/** `startfrom`: the first name to list. Ignored on later pages, which have a marker. */
const startFrom = query("startfrom", nameText);

/** The parameters of List Blobs in both formats. */
export const listParams = {
  prefix,
  delimiter,
  marker: pathMarker,
  maxResults,
  include,
  showOnly,
  startFrom,
};

type ListInput = InputOf<typeof listParams>;

/** The entries that a request lists: prefix, delimiter, marker and kinds of blobs. */
export function selectionOf(
  container: bigint,
  input: ListInput,
  caller: AclCaller | undefined,
): Selection {
  const { include: included, startFrom: start } = input;
  return {
    container,
    prefix: input.prefix ?? "",
    delimiter: input.delimiter ?? "",
    from: input.marker ?? (start === undefined ? undefined : [start]),
    limit: pageSize(input.maxResults),
    snapshots: included?.has("snapshots") ?? false,
    versions: included?.has("versions") ?? false,
    deleted: included?.has("deleted") ?? false,
    deletedWithVersions: included?.has("deletedwithversions") ?? false,
    onlyDeleted: input.showOnly?.has("deleted") ?? false,
    uncommitted: included?.has("uncommittedblobs") ?? false,
    kind: kindOf(input.showOnly),
    caller,
  };
}

function kindOf(shown: ListInput["showOnly"]): Selection["kind"] {
  if (shown?.has("files")) return shown.has("directories") ? undefined : "files";
  return shown?.has("directories") ? "directories" : undefined;
}

/** The properties that a request lists for each entry. */
export function entryOptions(
  { include: included }: ListInput,
  { now, features, scope }: Pick<EntryOptions, "now" | "features"> & { scope: AccountScope },
): EntryOptions {
  return {
    now,
    features,
    metadata: included?.has("metadata") ?? false,
    copy: included?.has("copy") ?? false,
    tags: included?.has("tags") ?? false,
    versions: included?.has("versions") ?? false,
    immutability: included?.has("immutabilitypolicy") ?? false,
    legalHold: included?.has("legalhold") ?? false,
    hierarchical: isHierarchical(scope),
    permissions: included?.has("permissions") ?? false,
  };
}

/** Checks the parameters, and the access control lists that the listing came upon. With a
 *  delimiter, entries below a prefix are rolled up into the prefix, which cannot show
 *  snapshots. On hierarchical accounts only the slash is a possible delimiter. */
export function checkList(
  { delimiter: delimiterText, include: included }: ListInput,
  scope: AccountScope,
  isDenied: boolean | undefined,
): Result<void> {
  if (isDenied === true) return fail("AuthorizationPermissionMismatch");
  if (delimiterText === undefined) return ok(undefined);
  const endsDirectories = delimiterText === "/" || delimiterText === "" || !isHierarchical(scope);
  const isPossible = endsDirectories && included?.has("snapshots") !== true;
  return isPossible ? ok(undefined) : invalidQuery("delimiter", delimiterText);
}
