import type { JSX } from "preact";
import { moment, plural } from "../format.ts";
import { Badge, Empty } from "../parts/states.tsx";
import type { QueueMessage } from "../rest/queue.ts";
import { readableText } from "./message-text.ts";

export interface WaitingProps {
  readonly messages: readonly QueueMessage[];
}

/** The first visible messages, peeked: they stay visible to other clients. */
export function Waiting({ messages }: WaitingProps): JSX.Element {
  return (
    <section class="half" aria-label="Visible">
      <h2>Visible</h2>
      {messages.length === 0 && <Empty>No visible messages. Put one with Put message.</Empty>}
      <ul class="messages">
        {messages.map(({ id, text, insertedAt, dequeueCount }) => (
          <li key={id} class="message">
            <pre>{readableText(text)}</pre>
            <div class="soft">
              {moment(insertedAt)}{" "}
              {dequeueCount > 0 && (
                <Badge tone="warn">dequeued {plural(dequeueCount, "time")}</Badge>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
