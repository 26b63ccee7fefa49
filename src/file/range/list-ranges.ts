import { emptyContent } from "../../content/content-ref.ts";
import { parseSnapshotTime } from "../../base/dates.ts";
import { noBody } from "../../operation/operation.ts";
import { boolean, header, query } from "../../protocol/params.ts";
import { clipRange, type ByteRange, type Span } from "../../protocol/ranges.ts";
import { fail } from "../../protocol/result.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { shareSnapshots } from "../records.ts";
import { fileOperation, wholeFile } from "../file-operation.ts";
import { readAccess } from "../locks/file-access.ts";
import { readRange } from "../shared/range-params.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";
import { nodeAt } from "./previous-node.ts";
import {
  sameBytes,
  sectorsOf,
  slicesOf,
  intervalsOf,
  subtract,
  type Interval,
} from "./range-list.ts";

/** Lists the ranges that were written and not cleared or, with `prevsharesnapshot`, the ranges that
 *  were written or cleared since that snapshot.
 *  learn.microsoft.com/rest/api/storageservices/list-ranges */
export const listRanges = fileOperation({
  name: "List Ranges",
  ids: ["File_GetRangeList"],
  route: { method: "GET", resource: "file", query: { comp: "rangelist" } },
  since: "2015-02-21",
  params: {
    range: readRange,
    previous: query("prevsharesnapshot", parseSnapshotTime),
    followsRenames: header("x-ms-file-support-rename", boolean),
    keepsTrailingDots,
  },
  body: noBody,
  namedResources: [
    {
      kind: "same-credentials",
      parameter: "prevsharesnapshot",
      permission: { letters: "r", resourceType: "o" },
      resourceOf: ({ share, path }, input) =>
        input.previous === undefined ? undefined : { name: share, path },
    },
  ],
  permission: { letters: "r", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-given",
  etag: "keep",
  fileAccess: {
    ...readAccess,
    range: wholeFile,
  },
  effect: "reads",
  largeResponse: true,
  success: { status: 200, headers: ["x-ms-content-length"] },
  reads: async (view, { scope, target, input }) => {
    const { content = emptyContent } = target;
    const span = spanOf(input.range, content.length);
    const present = await slicesOf(view, content, span);
    if (input.previous === undefined) return { present, missing: false, since: 0 };
    const key = { share: scope.share.id, at: input.previous };
    const snapshot = await view.get(shareSnapshots, key);
    if (snapshot === undefined) return { present, missing: true, since: 0 };
    const { followsRenames = false } = input;
    const then = await nodeAt(view, scope, target, { epoch: snapshot.epoch, followsRenames });
    const earlier = then?.content ?? emptyContent;
    const previous = await slicesOf(view, earlier, spanOf(input.range, earlier.length));
    return { present, missing: false, previous, since: snapshot.epoch };
  },
  decide: ({ target, readResult }) => {
    if (readResult.missing) return fail("ShareNotFound");
    const length = target.content?.length ?? 0;
    const now = intervalsOf(readResult.present);
    const held = sectorsOf(now, Infinity);
    if (readResult.previous === undefined) return reply(length, held, []);
    const changed = sectorsOf(
      subtract(now, sameBytes(readResult.present, readResult.previous)),
      Infinity,
    );
    const noted = (target.cleared ?? []).filter(({ epoch }) => epoch > readResult.since);
    const lost = [...intervalsOf(readResult.previous), ...noted];
    const then = sectorsOf(
      lost.toSorted((left, right) => left.from - right.from),
      Infinity,
    );
    return reply(length, changed, subtract(then, held));
  },
});

function spanOf(asked: ByteRange | undefined, length: number): Span {
  const whole = { from: 0, length };
  return asked === undefined ? whole : (clipRange(asked, length) ?? { from: 0, length: 0 });
}

/** The response: ranges and cleared ranges in one list, ordered by offset. */
function reply(length: number, ranges: readonly Interval[], cleared: readonly Interval[]) {
  const all = [
    ...ranges.map((interval) => ({ name: "Range", ...interval })),
    ...cleared.map((interval) => ({ name: "ClearRange", ...interval })),
  ].toSorted((left, right) => left.from - right.from);
  let inner = "";
  for (const { name, from, to } of all) {
    inner += element(name, textElement("Start", from) + textElement("End", to - 1));
  }
  return {
    body: xmlBody(element("Ranges", inner)),
    headers: { "x-ms-content-length": String(length) },
  };
}
