/**
 * The address of the database, on a machine of its own: it forwards each node's connections to the
 * current primary, as the virtual address of a high-availability set-up does. It delays bytes, and
 * loses connections and responses, because not every kernel can.
 */
import { connect, createServer, type Socket } from "node:net";
import type { GateOrder } from "./gate.ts";

interface Way {
  target: string;
  delayMilliseconds: number;
  /** Responses to commits that are lost with their connection, after the commit was forwarded. */
  answersToLose: number;
  isLying: boolean;
  /** The response to a commit that succeeded. */
  success: Buffer | undefined;
  readonly pairs: Set<readonly [Socket, Socket]>;
}

/** The names of portal and statement in the messages that execute a commit. */
const commitMark = Buffer.from("\0commit\0");
const databasePort = 5432;
/** Types of messages of the database: ErrorResponse, NoticeResponse, ParseComplete. */
const [errorType, noticeType, parseType] = Buffer.from("EN1");
const parseBytes = 5;
const ways = new Map<number, Way>();

function wayOf(port: number): Way {
  const known = ways.get(port);
  if (known !== undefined) return known;
  const way: Way = {
    target: "",
    delayMilliseconds: 0,
    answersToLose: 0,
    isLying: false,
    success: undefined,
    pairs: new Set(),
  };
  ways.set(port, way);
  createServer((client) => join(client, way)).listen(port, "0.0.0.0");
  return way;
}

function join(client: Socket, way: Way): void {
  const database = connect(databasePort, way.target);
  const pair = [client, database] as const;
  way.pairs.add(pair);
  let losesAnswer = false;
  let isCommitting = false;
  const end = (): void => {
    way.pairs.delete(pair);
    for (const socket of pair) socket.destroy();
  };
  for (const socket of pair) {
    socket.setNoDelay(true);
    socket.on("error", end);
    socket.on("close", end);
  }
  /** Whether the response of a failed commit was replaced. */
  const lied = (): boolean => {
    if (!way.isLying || !isCommitting || way.success === undefined) return false;
    isCommitting = false;
    client.end(way.success);
    return true;
  };
  database.prependListener("close", lied);
  client.on("data", (bytes) => {
    if (way.answersToLose > 0 && bytes.includes(commitMark)) {
      way.answersToLose -= 1;
      losesAnswer = true;
    }
    isCommitting = bytes.includes(commitMark);
    later(way, () => database.write(bytes));
  });
  database.on("data", (bytes) => {
    if (losesAnswer) return end();
    if (isFailure(bytes) && lied()) return;
    if (isCommitting && !isFailure(bytes)) way.success = withoutParse(bytes);
    later(way, () => client.write(bytes));
  });
}

/** An error, or the notice of a server that ends. */
function isFailure(bytes: Buffer): boolean {
  return bytes[0] === errorType || bytes[0] === noticeType;
}

/** Without the message that a statement was prepared, which each connection gets once. */
function withoutParse(bytes: Buffer): Buffer {
  return bytes[0] === parseType ? bytes.subarray(parseBytes) : bytes;
}

/** Timers of the same length fire in the order they were set; a shorter one must not overtake. */
function later({ delayMilliseconds }: Way, run: () => void): void {
  if (delayMilliseconds === 0) run();
  else setTimeout(run, delayMilliseconds);
}

process.on("message", ({ port, target, delay, cut, lose, lie }: GateOrder) => {
  const way = wayOf(port);
  if (target !== undefined) way.target = target;
  // What is on its way with the old delay would come after what is sent with a shorter one.
  const isShorter = delay !== undefined && delay < way.delayMilliseconds;
  if (delay !== undefined) way.delayMilliseconds = delay;
  if (lose !== undefined) way.answersToLose = lose;
  if (lie !== undefined) way.isLying = lie;
  if (cut === true || isShorter) {
    for (const pair of way.pairs) for (const socket of pair) socket.destroy();
  }
  process.send?.("done");
});
process.on("disconnect", () => process.exit(0));
