import { invalidQuery } from "../../protocol/faults.ts";
import {
  delimiter,
  marker,
  maxResults,
  pageSize,
  place,
  prefix,
  wordSet,
} from "../../operation/listing.ts";
import { query, type InputOf } from "../../protocol/params.ts";
import { ok, type Result } from "../../protocol/result.ts";
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

/** Files and directories are the same without a hierarchy: everything is a file. */
const showOnly = wordSet("showonly", "deleted", "files", "directories");

/** The first name to list; a marker, which is further on, takes its place. */
const startFrom = query("startfrom", place);

/** What can be asked of a listing of blobs, whatever its form. */
export const listParams = { prefix, delimiter, marker, maxResults, include, showOnly, startFrom };

export type ListInput = InputOf<typeof listParams>;

export function selectionOf(container: bigint, input: ListInput): Selection {
  const { include: asked, startFrom: start } = input;
  return {
    container,
    prefix: input.prefix ?? "",
    delimiter: input.delimiter ?? "",
    from: input.marker ?? (start === undefined ? undefined : [start]),
    limit: pageSize(input.maxResults),
    snapshots: asked?.has("snapshots") ?? false,
    versions: asked?.has("versions") ?? false,
    deleted: asked?.has("deleted") ?? false,
    deletedWithVersions: asked?.has("deletedwithversions") ?? false,
    onlyDeleted: input.showOnly?.has("deleted") ?? false,
    uncommitted: asked?.has("uncommittedblobs") ?? false,
    kind: kindOf(input.showOnly),
  };
}

function kindOf(shown: ListInput["showOnly"]): Selection["kind"] {
  if (shown?.has("files")) return shown.has("directories") ? undefined : "files";
  return shown?.has("directories") ? "directories" : undefined;
}

export function entryOptions(
  { include: asked }: ListInput,
  { now, features, scope }: Pick<EntryOptions, "now" | "features"> & { scope: AccountScope },
): EntryOptions {
  return {
    now,
    features,
    metadata: asked?.has("metadata") ?? false,
    copy: asked?.has("copy") ?? false,
    tags: asked?.has("tags") ?? false,
    versions: asked?.has("versions") ?? false,
    immutability: asked?.has("immutabilitypolicy") ?? false,
    legalHold: asked?.has("legalhold") ?? false,
    hierarchical: isHierarchical(scope),
    permissions: asked?.has("permissions") ?? false,
  };
}

/** A rolled-up prefix cannot show the snapshots below it, and directories end with a slash. */
export function checkList(
  { delimiter: rolledUpBy, include: asked }: ListInput,
  scope: AccountScope,
): Result<void> {
  if (rolledUpBy === undefined) return ok(undefined);
  const endsDirectories = rolledUpBy === "/" || rolledUpBy === "" || !isHierarchical(scope);
  const isPossible = endsDirectories && asked?.has("snapshots") !== true;
  return isPossible ? ok(undefined) : invalidQuery("delimiter", rolledUpBy);
}
