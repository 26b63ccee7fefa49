import { oneChunk } from "../../content/content.ts";
import { createHash } from "node:crypto";

import { readAccount, type AccountRecord } from "../../account/account-record.ts";
import { isOfFile, readEvents, type LoggedEvent } from "../../account/event-log.ts";
import { fileTimeStart, ticksPerDay, ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import {
  emptyContent,
  inlinePartBytesMax,
  append,
  whole,
  type ContentPlan,
  type ReceivedBody,
} from "../../content/content-ref.ts";
import { put, remove, type Effect } from "../../operation/effects.ts";
import { newId } from "../../operation/identifiers.ts";
import { Records } from "../../operation/records.ts";
import { runOnce, type Attempt, type Runtime } from "../../operation/work.ts";
import { nextETag } from "../../protocol/conditions.ts";
import { comparePositions, type LogPosition } from "../../store/logs.ts";
import type { View } from "../../store/store.ts";
import { readRecord } from "../../store/typed-records.ts";
import { blobs, containers, type BlobKey, type BlobRecord } from "../records.ts";
import {
  chunkBlocks,
  chunkHeader,
  chunkName,
  chunksPrefix,
  feedContainer,
  feedStates,
  manifestName,
  manifestOf,
  manifestsPrefix,
  placeholderName,
  segmentEnd,
  segmentOf,
  segmentOfManifest,
  segmentsName,
  segmentsOf,
  type FeedState,
} from "./feed-records.ts";

/** Writes the events of accounts with a change feed to blobs of the container `$blobchangefeed`,
 *  which clients read as a log of all changes. Called by `FeedTask` (`run-feed.ts`). */

/** Most events of the log that one transaction writes to the feed: a few milliseconds of work, so
 *  that requests do not wait longer. */
const stepEventsMax = 500;
/** Once a chunk has this length, the next events begin another chunk, so that no blob of the feed
 *  grows without bound. */
const chunkBytesMax = 64 * 1024 * 1024;
/** How long after the end of its hour a segment still gets events. Transactions that began before
 *  the end have committed by then. */
const segmentGrace: Ticks = 15n * ticksPerSecond;
/** Most blobs of an expired segment that one transaction deletes, so that it stays short. */
const removalsMax = 200;

/** What one step of the writer reads of a change feed, from one state of the store. */
interface Feed {
  readonly account: AccountRecord;
  /** Days for which the feed keeps segments; 0: for ever. */
  readonly days: number;
  /** Undefined if the feed has no blobs yet. */
  readonly state: FeedState | undefined;
  readonly now: Ticks;
}

/** What one transaction appends to the feed: events of one segment, for one chunk. */
interface Batch {
  readonly segment: Ticks;
  readonly chunk: number;
  readonly isFirst: boolean;
  /** The events of the log that concern blobs, not other events. */
  readonly events: readonly LoggedEvent[];
  /** The position up to which the log was read, including the entries that are not in `events`. It
   *  is stored with the events, so that none is written twice. */
  readonly to: LogPosition;
}

/** A change of the blobs of a feed, in a transaction; returns the feed's new state. */
type FeedChange = (blobsOfFeed: FeedBlobs, state: FeedState) => Promise<FeedState>;

/** Writes the change feeds of accounts, step by step. Several processes may do so: the transaction
 *  that adds events to a chunk also moves the cursor, so each event is in the feed once. */
export class FeedWriter {
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Writes the next events of one account to its feed, or ends or deletes a segment, in one
   *  bounded transaction; returns whether there may be more to do. */
  async step(account: string): Promise<boolean> {
    const { store } = this.#runtime;
    const found = await store.snapshot(async (view) => {
      const feed = await readFeed(view, account);
      return feed && { feed, batch: await this.#nextBatch(view, feed) };
    });
    if (found === undefined) return false;
    const { feed, batch } = found;
    if (feed.state === undefined) return this.#change(account, feed, create);
    if (batch !== undefined) {
      const { to } = batch;
      if ("events" in batch) return this.#add(account, feed, batch);
      return this.#change(account, feed, async (_, state) => ({ ...state, cursor: to }));
    }
    if (isOver(feed)) return this.#change(account, feed, close);
    return this.#removeExpired(account, feed);
  }

  /** Reads the next events of blobs that belong to one segment. The result has only `to` if all are
   *  of files, which have no feed; undefined if there are no new events. */
  async #nextBatch(
    view: View,
    { account, state }: Feed,
  ): Promise<Batch | Pick<Batch, "to"> | undefined> {
    if (state === undefined) return undefined;
    const logged = await readEvents(view, account.id, state.cursor, stepEventsMax);
    const last = logged.at(-1);
    if (last === undefined) return undefined;
    const first = logged.find(({ event }) => !isOfFile(event));
    if (first === undefined) return { to: last.position };
    const segment = segmentFor(state, first);
    const isOther = ({ event }: LoggedEvent) => !isOfFile(event) && segmentOf(event.time) > segment;
    const other = logged.findIndex(isOther);
    const read = other === -1 ? logged : logged.slice(0, other);
    const events = read.filter(({ event }) => !isOfFile(event));
    const place = await this.#findChunk(view, account, state, segment);
    return { ...place, events, to: read.at(-1)?.position ?? last.position };
  }

  /** The chunk that gets the next events: the newest one, unless it is full. A loaded archive may
   *  contain chunks that the state does not know. */
  async #findChunk(
    view: View,
    account: AccountRecord,
    state: FeedState,
    segment: Ticks,
  ): Promise<Omit<Batch, "events" | "to">> {
    const records = this.#records(view);
    const container = await records.get(containers, { account: account.id, name: feedContainer });
    const isCurrent = state.segment === segment;
    for (let chunk = isCurrent ? state.chunk : 0; ; chunk += 1) {
      const name = chunkName(segment, chunk);
      const record = container && (await records.get(blobs, { container: container.id, name }));
      if (record === undefined) return { segment, chunk, isFirst: true };
      const isWritten = isCurrent && chunk === state.chunk;
      if (isWritten && record.content.length < chunkBytesMax) {
        return { segment, chunk, isFirst: false };
      }
    }
  }

  async #add(account: string, feed: Feed, batch: Batch): Promise<boolean> {
    const { segment, chunk, isFirst, events, to } = batch;
    const name = chunkName(segment, chunk);
    const marker = markerOf(feed.account.id, name);
    const blocks = chunkBlocks(account, events, marker);
    const bytes = Buffer.concat(isFirst ? [chunkHeader(marker), ...blocks] : blocks);
    const { content } = this.#runtime;
    const received = await content.receive(oneChunk(bytes), {
      length: bytes.length,
      lengthMax: bytes.length,
      inlineBytesMax: inlinePartBytesMax,
      md5: false,
      crc64: false,
    });
    try {
      return await this.#change(account, feed, async (blobsOfFeed, state) => {
        const { now } = blobsOfFeed;
        if (state.segment !== segment) await begin(blobsOfFeed, state, segment);
        await blobsOfFeed.append(name, received);
        await blobsOfFeed.putJson(segmentsName, segmentsOf(consumableAt(segment, events), now));
        return { cursor: to, segment, chunk };
      });
    } finally {
      content.discard(received);
    }
  }

  /** Deletes the oldest segment if its retention time has passed: first the chunks, then the
   *  manifest, by which the next round finds the segment again after an interruption. */
  async #removeExpired(account: string, feed: Feed): Promise<boolean> {
    const { days, now } = feed;
    if (days === 0) return false;
    const oldest = await this.#runtime.store.snapshot((view) => this.#oldestSegment(view, feed));
    const isExpired =
      oldest !== undefined && segmentEnd(oldest) + BigInt(days) * ticksPerDay <= now;
    if (!isExpired || oldest === feed.state?.segment) return false;
    return this.#change(account, feed, async (blobsOfFeed, state) => {
      const isEmpty = await blobsOfFeed.removeSome(chunksPrefix(oldest));
      if (isEmpty) blobsOfFeed.remove(manifestName(oldest));
      return state;
    });
  }

  async #oldestSegment(view: View, { account }: Feed): Promise<Ticks | undefined> {
    const records = this.#records(view);
    const container = await records.get(containers, { account: account.id, name: feedContainer });
    if (container === undefined) return undefined;
    const bounds = { ...blobs.range([container.id], manifestsPrefix), limit: 2 };
    for (const { key } of await view.readHead(bounds)) {
      const segment = segmentOfManifest(blobs.parts(key)[1] as string);
      if (segment !== undefined) return segment;
    }
    return undefined;
  }

  /** Runs `change` in a transaction; does nothing if another process has changed the feed since
   *  `state` was read. Returns true in both cases: there may be more to do. */
  #change(account: string, { account: { id }, state }: Feed, change: FeedChange): Promise<boolean> {
    return runOnce(this.#runtime, {
      effect: "writes",
      attempt: async (attempt) => {
        const current = await readFeed(attempt.view, account);
        if (current?.account.id !== id || !isSame(current.state, state)) return true;
        const blobsOfFeed = await FeedBlobs.open(attempt, id);
        const next = await change(blobsOfFeed, state ?? noState);
        await attempt.apply([...blobsOfFeed.effects, put(feedStates, id, next)]);
        return true;
      },
    });
  }

  #records(view: View): Records {
    return new Records(view, this.#runtime.content, this.#runtime);
  }
}

const noState: FeedState = { chunk: 0 };

/** Reads settings and state of an account's feed; undefined if it has no change feed. */
async function readFeed(view: View, name: string): Promise<Feed | undefined> {
  const account = await readAccount(view, name);
  const days = account?.events?.changeFeedDays;
  if (account === undefined || days === undefined) return undefined;
  const state = await readRecord(view, feedStates, account.id);
  return { account, days, state, now: view.now };
}

/** The segment that gets an event: that of its time, unless the feed has begun a later one, because
 *  transactions need not commit in the order of their times. */
function segmentFor({ segment = 0n, isFinal }: FeedState, { event }: LoggedEvent): Ticks {
  const first = isFinal === true ? segmentEnd(segment) : segment;
  const own = segmentOf(event.time);
  return own > first ? own : first;
}

function isOver({ state, now }: Feed): boolean {
  if (state?.segment === undefined || state.isFinal === true) return false;
  return now >= segmentEnd(state.segment) + segmentGrace;
}

function isSame(left: FeedState | undefined, right: FeedState | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  const isAtSame =
    left.cursor === undefined || right.cursor === undefined
      ? left.cursor === right.cursor
      : comparePositions(left.cursor, right.cursor) === 0;
  return isAtSame && left.isFinal === right.isFinal;
}

/** Creates the blobs that readers of a feed expect even before the first event. */
async function create(blobsOfFeed: FeedBlobs): Promise<FeedState> {
  await blobsOfFeed.putJson(placeholderName, manifestOf(placeholderSegment, true));
  const { now } = blobsOfFeed;
  await blobsOfFeed.putJson(segmentsName, segmentsOf(segmentOf(now), now));
  return noState;
}

/** The segment of 1601 with which Azure begins every change feed (`placeholderName`). */
const placeholderSegment = fileTimeStart;

async function finalise(blobsOfFeed: FeedBlobs, state: FeedState): Promise<FeedState> {
  const { segment } = state;
  if (segment === undefined) return state;
  await blobsOfFeed.putJson(manifestName(segment), manifestOf(segment, true));
  return { ...state, isFinal: true };
}

/** Marks a segment whose hour is over as final: it gets no more events, so readers may read all of
 *  it. */
async function close(blobsOfFeed: FeedBlobs, state: FeedState): Promise<FeedState> {
  const { segment } = state;
  if (segment === undefined) return state;
  await blobsOfFeed.putJson(segmentsName, segmentsOf(segmentEnd(segment), blobsOfFeed.now));
  return finalise(blobsOfFeed, state);
}

/** Begins a segment of the feed; the one before it becomes final. */
async function begin(blobsOfFeed: FeedBlobs, state: FeedState, segment: Ticks): Promise<void> {
  if (state.isFinal !== true) await finalise(blobsOfFeed, state);
  await blobsOfFeed.putJson(manifestName(segment), manifestOf(segment, false));
}

/** Up to when readers may read the feed of the present hour: the second after the last event. The
 *  JavaScript library reads only segments that begin before this time: with the service's value,
 *  the begin of the newest segment, it would miss the newest hour. */
function consumableAt(segment: Ticks, events: readonly LoggedEvent[]): Ticks {
  const last = events.at(-1)?.event.time ?? segment;
  const latest = last > segment ? last : segment;
  return latest - (latest % ticksPerSecond) + ticksPerSecond;
}

/** The sync marker between the Avro blocks of a chunk. It is derived from the name, so that a
 *  restarted server can append to the chunk. */
function markerOf(account: bigint, name: string): Uint8Array {
  return createHash("md5").update(`${account} ${name}`).digest();
}

/** Reads and writes the blobs of one account's feed in one transaction. */
class FeedBlobs {
  readonly effects: Effect[] = [];
  readonly now: Ticks;
  readonly #attempt: Attempt;
  readonly #container: bigint;

  private constructor(attempt: Attempt, container: bigint) {
    this.#attempt = attempt;
    this.#container = container;
    this.now = attempt.now;
  }

  /** Opens the container of the feed. Creates it if there is none. */
  static async open(attempt: Attempt, account: bigint): Promise<FeedBlobs> {
    const key = { account, name: feedContainer };
    const found = await attempt.records.get(containers, key);
    const id = found?.id ?? newId(attempt.runtime.random);
    const opened = new FeedBlobs(attempt, id);
    if (found === undefined) {
      const record = { id, etag: attempt.now, metadata: [], policies: [] };
      opened.effects.push(put(containers, key, record));
    }
    return opened;
  }

  async putJson(name: string, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    const { length } = bytes;
    const plan = whole({ length, pieces: [{ length, source: { bytes } }] });
    await this.#put(name, "BlockBlob", "application/json", () => plan);
  }

  async append(name: string, received: ReceivedBody): Promise<void> {
    await this.#put(name, "AppendBlob", "avro/binary", (before) =>
      before === undefined ? whole(received) : append(before.content, received),
    );
  }

  remove(name: string): void {
    this.effects.push(remove(blobs, this.#keyOf(name)));
  }

  /** Deletes at most `removalsMax` blobs with a prefix; returns whether these are all. */
  async removeSome(prefix: string): Promise<boolean> {
    const bounds = { ...blobs.range([this.#container], prefix), limit: removalsMax };
    const entries = await this.#attempt.view.readHead(bounds);
    for (const { key } of entries) this.remove(blobs.parts(key)[1] as string);
    return entries.length < removalsMax;
  }

  async #put(
    name: string,
    type: BlobRecord["type"],
    contentType: string,
    planOf: (before: BlobRecord | undefined) => ContentPlan,
  ): Promise<void> {
    const { now } = this;
    const key = this.#keyOf(name);
    const before = await this.#attempt.records.get(blobs, key);
    const blockCount = (before?.committedBlockCount ?? 0) + 1;
    const record: BlobRecord = {
      etag: nextETag(now, before?.etag),
      created: before?.created ?? now,
      type,
      content: before?.content ?? emptyContent,
      headers: { contentType },
      metadata: [],
      ...(type === "AppendBlob" && { committedBlockCount: blockCount }),
    };
    this.effects.push(put(blobs, key, record, planOf(before)));
  }

  #keyOf(name: string): BlobKey {
    return { container: this.#container, name };
  }
}
