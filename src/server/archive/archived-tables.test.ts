import { describe, expect, it } from "vitest";
import { quotaState } from "../../account/account-quota.ts";
import { accounts, accountsState } from "../../account/account-record.ts";
import { deletedNames } from "../../account/deleted-names.ts";
import { heldLeases } from "../../account/held-leases.ts";
import * as index from "../../blob/indexes.ts";
import { notices, watchedShares } from "../../file/notices.ts";
import * as file from "../../file/records.ts";
import { reclaimJobs } from "../../operation/reclaim-jobs.ts";
import { transferJobs } from "../../operation/transfer-jobs.ts";
import { deletedQueues } from "../../queue/records.ts";
import { tablesByTag } from "../folder-check/known-tables.ts";
import { services } from "../services.ts";
import { archivedTable, archivedTableNames } from "./archived-tables.ts";

/** Tables that no archive has, with the reason. */
const excluded = new Map<{ readonly name: string }, string>([
  [accounts, "written as an account frame"],
  [accountsState, "counts the accounts of a store"],
  [quotaState, "of a store; the bytes of an account are counted after a load"],
  [deletedNames, "a reservation of seconds"],
  [file.shareTombstones, "a reservation of seconds"],
  [heldLeases, "leases are not archived"],
  [file.locks, "locks are not archived"],
  [notices, "for sessions of a running server"],
  [watchedShares, "for sessions of a running server"],
  [reclaimJobs, "derived from records (`period-jobs.ts`)"],
  [transferJobs, "a copy in progress counts as aborted"],
  [deletedQueues, "written by earlier releases only; cannot be restored"],
  [index.allTags, "derived by `indexes`"],
  [index.containerTags, "derived by `indexes`"],
  [index.containerNames, "derived by `indexes`"],
  [index.directoryNames, "derived by `indexes`"],
  [index.holds, "derived by `indexes`"],
  [file.shareNames, "derived by `indexes`"],
]);

/** Reclaim jobs that a load need not store, with the reason. */
const jobsWithoutPeriod = new Map([
  ...["blob", "queue", "table", "file"].flatMap((service) => [
    [`${service}-account`, "removes data that no account has"] as const,
    [`${service}-deleted-name`, "reservations are not archived"] as const,
  ]),
  ["blob-blocks", "removes data that no upload has"],
  ["blob-container", "removes data that no container has"],
  ["blob-directory", "removes data that no directory has"],
  ["blob-uploads", "blob-upload is stored for each upload instead"],
  ["file-share", "removes data that no share has"],
  ["file-snapshot", "in progress; what it has left is removed with the share"],
  ["file-tombstone", "reservations are not archived"],
  ["queue-deleted", "written by earlier releases only"],
  ["queue-messages", "removes data that no queue has"],
  ["table-entities", "removes data that no table has"],
]);

const jobsWithPeriod = [
  "blob-deleted-container",
  "blob-expiry",
  "blob-generation",
  "blob-upload",
  "file-deleted-share",
  "queue-expired",
];

describe("archived tables", () => {
  it("are all tables except those that are excluded for a reason", () => {
    const known = [...tablesByTag.values()].map(({ name }) => name).toSorted();
    const left = [...excluded.keys()].map(({ name }) => name);
    expect([...archivedTableNames, ...left].toSorted()).toEqual(known);
  });

  it("refer only to archived tables", () => {
    for (const name of archivedTableNames) {
      for (const below of archivedTable(name)?.below ?? []) {
        expect(archivedTable(below)).toBeDefined();
      }
    }
  });

  it("have a job for each period", () => {
    const kinds = services.flatMap(({ reclaimers }) => Object.keys(reclaimers));
    const decided = [...jobsWithoutPeriod.keys(), ...jobsWithPeriod];
    expect(decided.toSorted()).toEqual(kinds.toSorted());
  });
});
