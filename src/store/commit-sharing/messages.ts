import type { BatchRecordPosition, CommitBatch } from "../commit-batch.ts";
import type { Committed } from "../group-writer.ts";
import { StoreBusy, StoreFull, StoreUnavailable } from "../store.ts";
import { readBatch, writeBatch } from "./batch-codec.ts";
import { ByteReader, MalformedFrame } from "./byte-reader.ts";
import { ByteWriter, FrameTooLarge } from "./byte-writer.ts";
import { recordPosition } from "./batch-record.ts";

/** The first message of a follower. */
export interface Hello {
  readonly kind: "hello";
  /** Id of the process, for commit priority. */
  readonly owner: number;
  /** Id of the follower, for batch records. */
  readonly follower: string;
}

/** A message from a follower to the leader. */
export type FollowerMessage =
  | Hello
  | { readonly kind: "batch"; readonly batch: CommitBatch & { record: BatchRecordPosition } }
  /** Whether the follower has watchers, and thus needs notices. */
  | { readonly kind: "watching"; readonly isWatching: boolean }
  | Notice;

/** A message from the leader to a follower. `failure`: the leader could not commit the batch. */
export type LeaderMessage =
  | Answer
  | { readonly kind: "failure"; readonly number: number; readonly error: Error }
  | Notice;

/** The result of the batch with this number. */
export interface Answer {
  readonly kind: "answer";
  readonly number: number;
  /** Whether nothing was committed and the batch must be validated and written again. */
  readonly isPostponed: boolean;
  /** Indexes of the attempts that were not committed. */
  readonly dropped: readonly number[];
}

/** A commit of the sender, or of a follower whose notice the leader passes on. Followers get it
 *  only while they have watchers. If the keys are too many or too long for a frame, `writes` is
 *  empty and `previous` is -1: this gap in the sequence calls all watchers. */
export interface Notice extends Committed {
  readonly kind: "notice";
}

/** Version of the protocol. */
const version = 2;
const codes = { hello: 1, batch: 2, watching: 3, answer: 4, failure: 5, notice: 6 } as const;
const followerPattern = /^[0-9]+-[0-9]*-[0-9]+-[0-9]+$/;
/* Limits of this server for one message. */
const followerCharactersMax = 100;
const noticeKeysMax = 10_000;
const messageCharactersMax = 1000;

export function helloFrame({ owner, follower }: Omit<Hello, "kind">): Buffer {
  const to = begin(codes.hello);
  to.uint8(version);
  to.uint32(owner);
  to.text(follower);
  return to.frame();
}

/** The frame of a batch; `undefined` if it is larger than a frame may be. */
export function batchFrame(batch: CommitBatch, number: number): Buffer | undefined {
  const to = begin(codes.batch);
  return frameOf(to, () => {
    to.number(number);
    writeBatch(to, batch);
  });
}

export function watchingFrame(isWatching: boolean): Buffer {
  const to = begin(codes.watching);
  to.uint8(isWatching ? 1 : 0);
  return to.frame();
}

export function answerFrame({ number, isPostponed, dropped }: Omit<Answer, "kind">): Buffer {
  const to = begin(codes.answer);
  to.number(number);
  to.uint8(isPostponed ? 1 : 0);
  to.uint32(dropped.length);
  for (const index of dropped) to.uint16(index);
  return to.frame();
}

export function failureFrame(number: number, error: unknown): Buffer {
  const { name, message } = error instanceof Error ? error : { name: "", message: String(error) };
  const to = begin(codes.failure);
  to.number(number);
  to.text(name in errors ? name : "");
  to.bytes(new TextEncoder().encode(message.slice(0, messageCharactersMax)));
  return to.frame();
}

export function noticeFrame(commit: Committed): Buffer {
  const hasFewKeys = commit.previous >= 0 && commit.writes.length <= noticeKeysMax;
  return (hasFewKeys ? noticeWithKeys(commit) : undefined) ?? noticeWithoutKeys(commit);
}

/** `undefined` if the keys are larger than a frame may be. */
function noticeWithKeys({ previous, sequence, writes }: Committed): Buffer | undefined {
  const to = begin(codes.notice);
  to.uint8(1);
  to.number(sequence);
  to.number(previous);
  return frameOf(to, () => {
    to.uint32(writes.length);
    for (const { text } of writes) to.text(text);
  });
}

function noticeWithoutKeys({ sequence }: Committed): Buffer {
  const to = begin(codes.notice);
  to.uint8(0);
  to.number(sequence);
  return to.frame();
}

/** The frame with what `write` adds; `undefined` if it is larger than a frame may be. */
function frameOf(to: ByteWriter, write: () => void): Buffer | undefined {
  try {
    write();
    return to.frame();
  } catch (error) {
    if (error instanceof FrameTooLarge) return undefined;
    throw error;
  }
}

/** Reads a message of a follower. The first message must be a `hello`, and no
 *  later one may be. */
export function readFollowerMessage(content: Buffer, hello: Hello | undefined): FollowerMessage {
  const from = new ByteReader(content);
  const code = from.uint8();
  const message = hello === undefined ? readHello(from, code) : readNext(from, code, hello);
  from.end();
  return message;
}

function readHello(from: ByteReader, code: number): Hello {
  if (code !== codes.hello) throw new MalformedFrame("message before the first one");
  if (from.uint8() !== version) throw new MalformedFrame("other version of the protocol");
  const [owner, follower] = [from.uint32(), from.text()];
  if (owner === 0 || follower.length > followerCharactersMax || !followerPattern.test(follower)) {
    throw new MalformedFrame("invalid id of a follower");
  }
  return { kind: "hello", owner, follower };
}

function readNext(
  from: ByteReader,
  code: number,
  { owner, follower }: Pick<Hello, "owner" | "follower">,
): FollowerMessage {
  if (code === codes.watching) return { kind: "watching", isWatching: from.uint8() === 1 };
  if (code === codes.notice) return readNotice(from);
  if (code !== codes.batch) throw new MalformedFrame("unknown kind of message");
  const record = recordPosition(follower, from.number());
  return { kind: "batch", batch: { ...readBatch(from, { owner, record }), record } };
}

/** Reads a message of the leader. Throws `MalformedFrame` if it is malformed. */
export function readLeaderMessage(content: Buffer): LeaderMessage {
  const from = new ByteReader(content);
  const message = readLeaderContent(from);
  from.end();
  return message;
}

function readLeaderContent(from: ByteReader): LeaderMessage {
  const code = from.uint8();
  if (code === codes.notice) return readNotice(from);
  const number = from.number();
  if (code === codes.answer) {
    const isPostponed = from.uint8() === 1;
    return { kind: "answer", number, isPostponed, dropped: from.list(() => from.uint16()) };
  }
  if (code !== codes.failure) throw new MalformedFrame("unknown kind of message");
  const name = from.text();
  const message = new TextDecoder().decode(from.bytes());
  const { [name]: Failure = Error } = errors;
  return { kind: "failure", number, error: new Failure(message) };
}

function readNotice(from: ByteReader): Notice {
  const [hasAllKeys, sequence] = [from.uint8() === 1, from.number()];
  if (!hasAllKeys) return { kind: "notice", previous: -1, sequence, writes: [] };
  const previous = from.number();
  const writes = from.list(() => ({ text: from.text() }));
  return { kind: "notice", previous, sequence, writes };
}

/** The errors that keep their class at the follower, because callers handle them by class. */
const errors: Readonly<Record<string, new (message: string) => Error>> = {
  StoreBusy,
  StoreFull,
  StoreUnavailable,
  RangeError,
};

function begin(code: number): ByteWriter {
  const to = new ByteWriter();
  to.uint8(code);
  return to;
}
