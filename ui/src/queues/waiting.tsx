import type { JSX } from "preact";
import { moment, plural } from "../format.ts";
import { Badge, Empty } from "../parts/states.tsx";
import type { QueueMessage } from "../rest/queue.ts";
import { readableText } from "./message-text.ts";

export interface WaitingProps {
  readonly messages: readonly QueueMessage[];
}

/** The first messages that may be taken. Looking at them does not take them. */
export function Waiting({ messages }: WaitingProps): JSX.Element {
  return (
    <section class="half" aria-label="Waiting">
      <h2>Waiting</h2>
      {messages.length === 0 && <Empty>Nobody has anything to take.</Empty>}
      <ul class="messages">
        {messages.map(({ id, text, insertedAt, dequeueCount }) => (
          <li key={id} class="message">
            <pre>{readableText(text)}</pre>
            <div class="soft">
              {moment(insertedAt)}{" "}
              {dequeueCount > 0 && (
                <Badge tone="warn">taken {plural(dequeueCount, "time")} before</Badge>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
