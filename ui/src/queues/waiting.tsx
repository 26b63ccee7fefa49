import type { JSX } from "preact";
import { moment, plural } from "../format.ts";
import { useAbilities } from "../parts/abilities.ts";
import { Button } from "../parts/button.tsx";
import { Badge, Empty } from "../parts/states.tsx";
import type { QueueMessage } from "../rest/queue.ts";
import { useStore } from "../store.ts";
import { decoded, decoding } from "./decoding.ts";

interface WaitingProps {
  readonly messages: readonly QueueMessage[];
  readonly onShow: (message: QueueMessage) => void;
}

/** The first visible messages, peeked: they stay visible to other clients. */
export function Waiting({ messages, onShow }: WaitingProps): JSX.Element {
  const how = useStore(decoding);
  const { write } = useAbilities();
  return (
    <section class="half" aria-label="Visible">
      <h2>Visible</h2>
      {messages.length === 0 && (
        <Empty>No visible messages.{write ? " Put one with Put message." : ""}</Empty>
      )}
      <ul class="messages">
        {messages.map((message) => (
          <li key={message.id} class="message">
            <pre>{decoded(message.text, how)}</pre>
            <div class="message-facts">
              <span class="soft">{moment(message.insertedAt)}</span>
              {message.dequeueCount > 0 && (
                <Badge tone="warn">dequeued {plural(message.dequeueCount, "time")}</Badge>
              )}
              <span class="grow" />
              <Button onClick={() => onShow(message)}>Details</Button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
