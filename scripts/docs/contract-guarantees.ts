import { dataLake } from "./contract-data-lake.ts";

/** A group of guarantees, with the tests that fail if one of them is violated. */
export interface Section {
  readonly title: string;
  readonly guarantees: readonly Guarantee[];
}

export interface Guarantee {
  readonly text: string;
  readonly tests: readonly TestReference[];
}

/** A test file and a part of a test title in it. */
export type TestReference = readonly [path: string, title: string];

const behaviour = "tests/contract/blob-behaviour.test.ts";
const declarations = "tests/contract/blob-declarations.test.ts";
const blobRace = "tests/race/blob-race.test.ts";
const tableRace = "tests/race/table-race.test.ts";
const tableRows = "tests/contract/table-declarations.test.ts";
const tableBehaviour = "tests/contract/table-behaviour.test.ts";
const messages = "tests/contract/queue-messages.test.ts";
const queueLife = "tests/contract/queue-life.test.ts";
const fileLocks = "tests/contract/file-locks.test.ts";
const fileDisplaced = "tests/contract/file-displaced.test.ts";
const renameOverOpen = "tests/smb-wire/rename-over-open.test.ts";
const fileRace = "tests/race/file-race.test.ts";
const restAndSmbFiles = "tests/smb-wire/rest-and-smb-files.test.ts";
const restAndSmbLocks = "tests/smb-wire/rest-and-smb-locks.test.ts";
const treeRace = "tests/smb-wire/tree-race.test.ts";
const fileQuota = "tests/contract/file-quota.test.ts";
const notices = "tests/smb-wire/notices.test.ts";
const planted = "tests/verify/planted-bugs.proof.ts";
const bugs = "tests/verify/planted-bugs.ts";
const eventBugs = "tests/verify/planted-event-bugs.ts";
const powerCut = "tests/power-cut/power-cut.proof.ts";
const fuzz = "tests/fuzz/fuzz.test.ts";

export const contract: readonly Section[] = [
  {
    title: "1. Consistency",
    guarantees: [
      {
        text:
          "**Strong consistency.** Once a write is acknowledged, every later read returns it, on " +
          "any connection and in any process.",
        tests: [
          [planted, "finds no violation"],
          [bugs, "stale reads"],
        ],
      },
      {
        text:
          "**Snapshot isolation.** A read returns one state during concurrent writes: headers " +
          "and bytes of one version, even if the download takes minutes; one page of a listing " +
          "or query; all changes of a transaction or none.",
        tests: [
          [blobRace, "GETs during overwrites never show an ETag with another version's bytes"],
          ["tests/race/download.test.ts", "returns the old bytes whole"],
          [tableRace, "32 overlapping transactions with readers: no torn read"],
          [bugs, "torn transaction"],
        ],
      },
      {
        text:
          "**Durability.** Every acknowledged write survives `SIGKILL` and loss of power. Data " +
          "folders of earlier releases open without conversion.",
        tests: [
          ["tests/kill/kill.proof.ts", "kills under clients of all services"],
          ["tests/workers/worker-kills.proof.ts", "keeps all writes over"],
          [powerCut, "losses of power lose nothing that was acknowledged, and tear nothing"],
          [powerCut, "a server that responds before it flushes is detected"],
          ["tests/upgrade/upgrade.test.ts", "1 durable: serves what"],
          ["tests/folder/check.test.ts", "a valid folder"],
          ["tests/folder/check.test.ts", "damage to content is found"],
          ["tests/folder/check.test.ts", "damage to records is found"],
          ["tests/folder/live.test.ts", "is copied and checked while clients write to it"],
          ["tests/kill/queue-kill.proof.ts", "delivers correctly over"],
          ["src/content/crash.test.ts", "a killed process keeps its acknowledged writes"],
          ["src/content/reclaim/compaction-race.test.ts", "is not counted twice"],
          [bugs, "acknowledge before flush"],
        ],
      },
      {
        text: "**Atomicity.** A rejected request changes no record, no ETag and no byte.",
        tests: [
          [behaviour, "rejects a stale If-Match with 412 and changes nothing"],
          [fuzz, "never gets 500"],
          [fuzz, "a request that is rejected but executed"],
          ["tests/contract/queue-bad-input.test.ts", "rejected requests change nothing"],
          [tableBehaviour, "are rejected with an error code, change nothing"],
          [bugs, "refused, but done"],
          ["tests/attack/attacks.test.ts", "only one request is served"],
        ],
      },
      {
        text:
          "**Events.** In accounts with an event log, an event exists if and only if its commit " +
          "exists, in commit order: each one is in the change feed once, and is delivered at " +
          "least once, also after `SIGKILL`.",
        tests: [
          ["tests/events/every-operation.test.ts", "appends one event, or says why not"],
          ["tests/events/kills.test.ts", "no event is lost if the server is killed"],
          ["tests/events/events.proof.ts", "the feed equals the commits one to one"],
          [eventBugs, "event outside the transaction"],
          [eventBugs, "order by wall clock"],
          [eventBugs, "loss at segment rotation"],
          [eventBugs, "duplicates after a kill"],
          [eventBugs, "event of an aborted transaction"],
        ],
      },
    ],
  },
  {
    title: "2. Three strategies",
    guarantees: [
      {
        text:
          "**Optimistic.** `If-Match` is evaluated inside the committing transaction: of any " +
          "number of clients with the same ETag exactly one succeeds, the others get 412.",
        tests: [
          [blobRace, "64 clients with one ETag: exactly one succeeds"],
          [blobRace, "loses no increment"],
          ["src/store/interleaving.test.ts", "have exactly one winner in every interleaving"],
          [bugs, "commit without validation"],
        ],
      },
      {
        text: "**Pessimistic.** A lease or lock has one holder; other writers are rejected.",
        tests: [
          [blobRace, "64 acquires: exactly one lease"],
          [bugs, "lease check outside the transaction"],
          [bugs, "two holders"],
        ],
      },
      {
        text: "**Last writer wins.** Unconditional writes succeed, in one order for all readers.",
        tests: [[blobRace, "64 unconditional writes all succeed"]],
      },
    ],
  },
  {
    title: "3. Blob service",
    guarantees: [
      {
        text: "Each operation on containers and blobs has the documented ETag and preconditions.",
        tests: [
          [declarations, "3 blob $operation"],
          [behaviour, "3 blob conditions: $id"],
          [behaviour, "3 blob ETag: $id"],
          [behaviour, "3 container conditions"],
        ],
      },
      {
        text: "Writes to a leased blob need its lease id; reads with a wrong id are rejected.",
        tests: [
          [declarations, "every operation that changes a blob's ETag requires its lease id"],
          [behaviour, "3 blob leases: $id"],
          ["tests/race/blob-types.test.ts", "no copy changes a blob after its lease was acquired"],
        ],
      },
      {
        text: "Of the operations on a leased container only Delete Container needs the lease id.",
        tests: [
          [declarations, "only Delete Container requires the lease of the container"],
          [behaviour, "only Delete Container requires the lease"],
        ],
      },
      {
        text: "Appended blocks are ordered, without gaps, also under kills and lost connections.",
        tests: [
          ["tests/race/blob-types.test.ts", "parallel appends get contiguous, distinct offsets"],
          [bugs, "repeated append"],
        ],
      },
    ],
  },
  {
    title: "4. Table service",
    guarantees: [
      {
        text: "Each operation on entities returns an ETag and requires `If-Match` as documented.",
        tests: [[tableRows, "4 table $operation"]],
      },
      {
        text: "A stale ETag gets 412, `*` matches any, none means upsert; Delete requires one.",
        tests: [
          [tableBehaviour, "a stale ETag gets 412, * matches any, none is an upsert"],
          [tableRace, "64 merges with one ETag: exactly one succeeds"],
        ],
      },
      {
        text: "Entity group transactions are atomic and isolated.",
        tests: [
          [tableBehaviour, "one partition, no entity twice, in order, all or nothing"],
          [tableRace, "a serial order exists"],
          [bugs, "transaction without validation"],
        ],
      },
    ],
  },
  {
    title: "5. Queue service",
    guarantees: [
      {
        text: "A dequeued message is invisible for its visibility timeout, then visible again.",
        tests: [
          [messages, "a received message is invisible until its visibility timeout ends"],
          [messages, "a message that is not deleted becomes visible again"],
          [bugs, "no visibility window"],
        ],
      },
      {
        text: "Delete and Update Message need the pop receipt of the latest get or update.",
        tests: [
          [messages, "%s requires the pop receipt of the latest get or update"],
          [bugs, "receipt not renewed"],
        ],
      },
      {
        text: "No message is lost, or delivered to two consumers within one visibility timeout.",
        tests: [
          [messages, "concurrent consumers never receive the same message"],
          ["tests/kill/queue-kill.proof.ts", "delivers correctly over"],
          [bugs, "forgotten message"],
        ],
      },
      {
        text: "For queue settings and message updates the last writer wins.",
        tests: [[queueLife, "5 queue last writer wins"]],
      },
    ],
  },
  {
    title: "6. File service",
    guarantees: [
      {
        text: "REST evaluates no conditional headers; leases on files and shares are enforced.",
        tests: [
          ["tests/contract/file-declarations.test.ts", "declares no conditional headers"],
          [
            "tests/contract/file-declarations.test.ts",
            "requires the lease id for writes to leased files",
          ],
        ],
      },
      {
        text: "A REST operation that violates an SMB share mode gets 409 SharingViolation.",
        tests: [
          [fileLocks, "an open that shares nothing blocks REST until it is closed"],
          [fileRace, "no REST write happens between an exclusive open and its close"],
          [restAndSmbFiles, "REST and an SMB open that shares"],
          [bugs, "SMB lock ignored"],
        ],
      },
      {
        text: "A REST operation that overlaps a byte-range lock gets 409 FileLockConflict.",
        tests: [
          [fileLocks, "a locked range is blocked, and no other"],
          [restAndSmbLocks, "REST and bytes 2 to 4 locked by an SMB client"],
          [bugs, "SMB lock ignored"],
        ],
      },
      {
        text: "A delete-pending file gets 409 and is not listed; after its last close it gets 404.",
        tests: [
          [
            fileLocks,
            "a delete-pending file is neither listed nor reachable, and the mark can be removed",
          ],
          [fileLocks, "404 only after the last handle is closed"],
          [restAndSmbFiles, "REST and a delete-pending file"],
          [bugs, "delete-pending ignored"],
          [restAndSmbLocks, "reports a delete-pending file"],
          [restAndSmbLocks, "accept no new entries and are not listed if delete-pending"],
        ],
      },
      {
        text:
          "A rename replaces an open file only if all its handles share deletion. These keep its " +
          "content, and the last close deletes it.",
        tests: [
          [fileDisplaced, "is read and written through its handles, and deleted with the last one"],
          [fileDisplaced, "is not replaced if one of its handles does not share deletion"],
          [renameOverOpen, "has no problems, also in its exports, and loses the file after a kill"],
        ],
      },
      {
        text: "A REST lease blocks SMB writers; REST can close SMB handles.",
        tests: [
          [restAndSmbLocks, "an SMB open of a file with a REST lease"],
          [restAndSmbLocks, "are listed with their properties and closed by id"],
        ],
      },
      {
        text: "REST waits until an SMB client has flushed its cache, for 30 s at most.",
        tests: [
          [restAndSmbLocks, "reads cached writes only after they were flushed"],
          [fileLocks, "a break without acknowledgement takes 35 s and ends with 500"],
        ],
      },
      {
        text: "Concurrent REST and SMB operations on a tree have one order.",
        tests: [
          [treeRace, "have results that a serial order explains"],
          [fileQuota, "is not exceeded by concurrent writers"],
          [notices, "receives changes made over REST, in order"],
        ],
      },
      {
        text: "Deletes and renames over REST are atomic.",
        tests: [
          [fileRace, "no file is lost in a directory that is deleted concurrently"],
          [fileRace, "stay reachable from the root"],
          [bugs, "rename that copies"],
        ],
      },
    ],
  },
  dataLake,
];
