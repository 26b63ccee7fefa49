import type { JSX } from "preact";
import type { MessageInFlight } from "../admin/live.ts";
import { bytes, moment } from "../format.ts";
import { CopyText } from "../parts/copy-text.tsx";
import { Detail, Facts, Section } from "../parts/detail.tsx";
import { Choice } from "../parts/field.tsx";
import type { QueueAddress, QueueMessage } from "../rest/queue.ts";
import { useStore } from "../store.ts";
import { timelineRoute } from "../timeline/timeline-route.ts";
import { decoded, decoding, decodings, setDecoding } from "./decoding.ts";
import { ownReceipt, shownText, wholeText } from "./message-text.ts";

export type ShownMessage =
  | { readonly kind: "visible"; readonly message: QueueMessage }
  | { readonly kind: "in-flight"; readonly message: MessageInFlight };

interface MessageDetailProps {
  readonly address: QueueAddress;
  readonly shown: ShownMessage;
  readonly onClose: () => void;
}

/** The properties and the text of one message. */
export function MessageDetail({ address, shown, onClose }: MessageDetailProps): JSX.Element {
  const how = useStore(decoding);
  const { kind, message } = shown;
  const { account, queue } = address;
  const stored = kind === "visible" ? message.text : wholeText(message.id, message.preview);
  const text =
    kind === "visible" ? decoded(message.text, how) : shownText(message.id, message.preview, how);
  const receipt = kind === "visible" ? undefined : ownReceipt(message.id, message.popReceipt);
  return (
    <Detail title="Message" onClose={onClose}>
      <Section title="Properties">
        <Facts
          facts={[
            ["Message id", <code>{message.id}</code>],
            ["State", kind === "visible" ? "visible" : message.state],
            ["Inserted", moment(message.insertedAt)],
            ["Expires", message.expiresAt === null ? "never" : moment(message.expiresAt)],
            ["Next visible", kind === "visible" ? "now" : moment(message.visibleAt)],
            ["Dequeue count", message.dequeueCount],
            ["Length", stored === undefined ? undefined : bytes(stored.length)],
          ]}
        />
        <p>
          <a
            href={timelineRoute({ service: "queue", account, container: queue, path: message.id })}
          >
            Timeline of the message
          </a>
        </p>
        {receipt !== undefined && <CopyText label="Pop receipt" text={receipt} />}
      </Section>
      <Section title="Text">
        <DecodingChoice />
        <pre class="preview-text" tabIndex={0}>
          {text}
        </pre>
        {stored === undefined && (
          <p class="hint">Only the start of the text of a message in flight is known.</p>
        )}
      </Section>
    </Detail>
  );
}

/** The choice applies to all views of messages. */
export function DecodingChoice(): JSX.Element {
  const how = useStore(decoding);
  return <Choice label="Show text as" value={how} options={decodings} onChange={setDecoding} />;
}
