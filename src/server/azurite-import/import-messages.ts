import { ticksMax, ticksPerMillisecond } from "../../base/ticks.ts";
import { applyEffects } from "../../operation/apply.ts";
import { newGuid } from "../../operation/identifiers.ts";
import { insertMessage } from "../../queue/message/message-effects.ts";
import { messageIdTicksMin, newMessageId } from "../../queue/message/message-id.ts";
import { chunkOf, countOf, requiredText, ticksOf, type Fields } from "./document-fields.ts";
import type { ImportContext } from "./import-context.ts";
import { ImportRefused } from "./import-refused.ts";
import { runLimited } from "./run-limited.ts";

const messagesAtOnceMax = 64;
const messageBytesMax = 64 * 1024;
/** Expiry times from here on mean that a message never expires: Azurite stores the year 9999. */
const neverSince = ticksMax - ticksPerMillisecond;

/** Messages keep their order, dequeue counts and times. Their ids are new, because an id begins
 *  with the insertion time; pop receipts of messages in flight become invalid. */
export async function importMessages(context: ImportContext): Promise<void> {
  const all = context.folder.documents("queue", (name) => name === "$MESSAGES_COLLECTION$");
  let position = 0;
  let previous: unknown;
  await runLimited(all, messagesAtOnceMax, ({ fields }) => {
    const { insertionTime } = fields;
    position = insertionTime === previous ? position + 1 : 0;
    previous = insertionTime;
    return importMessage(context, fields, position);
  });
}

async function importMessage(
  { folder, engines, random, staged, counts }: ImportContext,
  document: Fields,
  position: number,
): Promise<void> {
  const account = requiredText(document, "accountName");
  const name = requiredText(document, "queueName");
  const queue = staged.find("queue", { account, name })?.record.id;
  const given = ticksOf(document["expirationTime"]) ?? ticksMax;
  const expires = given >= neverSince ? ticksMax : given;
  const chunk = chunkOf(document["persistency"]);
  if (chunk.count > messageBytesMax) {
    throw new ImportRefused([`queue ${name}: a message exceeds ${messageBytesMax} bytes`]);
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of folder.bytes("queue", chunk)) pieces.push(piece);
  const text = Buffer.concat(pieces).toString("utf8");
  const dequeueCount = countOf(document["dequeueCount"]) ?? 0;
  const isInserted = await engines.store.transact(async (tx) => {
    if (queue === undefined || expires <= tx.now) return false;
    const inserted = ticksOf(document["insertionTime"]) ?? tx.now;
    const visibleAt = ticksOf(document["timeNextVisible"]) ?? inserted;
    // Messages inserted in the same millisecond keep the order of their documents.
    const ordered = inserted + ((BigInt(position) * messageIdTicksMin) % ticksPerMillisecond);
    const id = newMessageId(ordered, newGuid(random));
    const message = { inserted, expires, visibleAt, dequeueCount, updateCount: 0, text };
    await applyEffects(engines.content, tx, insertMessage(queue, id, message), tx.now);
    return true;
  });
  counts[isInserted ? "messages" : "skipped"] += 1;
}
