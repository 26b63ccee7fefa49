import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { MessageInFlight } from "../admin/live.ts";
import { TimeLeft } from "../concurrency/time-left.tsx";
import { plural } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { report } from "../parts/notices.tsx";
import { Badge, Empty } from "../parts/states.tsx";
import type { Result } from "../result.ts";
import { deleteMessage, updateMessage, type QueueAddress } from "../rest/queue.ts";
import { useStore } from "../store.ts";
import { decoding } from "./decoding.ts";
import { EditDialog } from "./message-dialogs.tsx";
import { shownText, wholeText } from "./message-text.ts";

interface InFlightProps {
  readonly address: QueueAddress;
  readonly messages: readonly MessageInFlight[];
  readonly onChanged: () => void;
  readonly onShow: (message: MessageInFlight) => void;
}

const extensionSeconds = 60;

/** Messages that are invisible: dequeued and not deleted, or put with a delay. */
export function InFlight({ address, messages, onChanged, onShow }: InFlightProps): JSX.Element {
  const [edited, setEdited] = useState<MessageInFlight>();
  return (
    <section class="half" aria-label="In flight">
      <h2>In flight</h2>
      {messages.length === 0 && <Empty>No messages in flight.</Empty>}
      <ul class="messages">
        {messages.map((message) => (
          <Message
            key={message.id}
            address={address}
            message={message}
            onEdit={() => setEdited(message)}
            onShow={() => onShow(message)}
            onChanged={onChanged}
          />
        ))}
      </ul>
      {edited !== undefined && (
        <EditDialog
          address={address}
          message={edited}
          onClose={() => setEdited(undefined)}
          onDone={onChanged}
        />
      )}
    </section>
  );
}

interface MessageProps {
  readonly address: QueueAddress;
  readonly message: MessageInFlight;
  readonly onEdit: () => void;
  readonly onShow: () => void;
  readonly onChanged: () => void;
}

function Message({ address, message, onEdit, onShow, onChanged }: MessageProps): JSX.Element {
  const { id, preview, state, dequeueCount, secondsLeft } = message;
  const how = useStore(decoding);
  const isDelayed = state === "delayed";
  const act = async (work: Promise<Result<unknown>>, words: string): Promise<void> => {
    report(await work, words);
    onChanged();
  };
  const hide = (hiddenSeconds: number, words: string): void =>
    void act(updateMessage(address, message, { hiddenSeconds }), words);
  return (
    <li class="message">
      <pre>{shownText(id, preview, how)}</pre>
      <div class="message-facts">
        <Badge tone={isDelayed ? "plain" : "warn"}>
          {isDelayed ? "delayed" : `dequeued ${plural(dequeueCount, "time")}`}
        </Badge>
        <span class="soft">
          returns in <TimeLeft secondsLeft={secondsLeft} />
        </span>
        <span class="grow" />
        <Button onClick={onShow}>Details</Button>
        <Button needs="update" onClick={() => hide(0, "Message visible again")}>
          Make visible
        </Button>
        <Button
          needs="update"
          onClick={() => hide(extensionSeconds, `Visibility timeout set to ${extensionSeconds} s`)}
        >
          Hold {extensionSeconds} s
        </Button>
        <Button
          icon="edit"
          label="Edit message"
          needs="update"
          disabled={wholeText(id, preview) === undefined}
          onClick={onEdit}
        />
        <Button
          kind="danger"
          icon="trash"
          label="Delete message"
          needs="process"
          onClick={() => void act(deleteMessage(address, message), "Deleted")}
        />
      </div>
    </li>
  );
}
