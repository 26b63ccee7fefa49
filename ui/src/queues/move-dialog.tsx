import type { JSX } from "preact";
import { nowMilliseconds } from "../clock.ts";
import { startJob } from "../jobs/jobs.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Check } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { NamePicker } from "../parts/name-picker.tsx";
import { done, failed, type Result } from "../result.ts";
import {
  deleteMessage,
  putMessage,
  takeMessages,
  type QueueAddress,
  type QueueMessage,
} from "../rest/queue.ts";

interface MoveDialogProps {
  readonly address: QueueAddress;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const messagesPerGet = 32;
/** Time for which a message is invisible while it is moved. */
const hiddenSeconds = 120;
const messagesMax = 100_000;

/** Moves the visible messages of a queue to another one. */
export function MoveDialog({ address, onClose, onDone }: MoveDialogProps): JSX.Element {
  const submit = (values: FormData): Promise<string | undefined> => {
    const queue = textIn(values, "queue").trim();
    if (queue === address.queue) return Promise.resolve("Target queue: is this queue.");
    moveMessages(
      address,
      { account: address.account, queue },
      { onDone, isFirst: values.has("one") },
    );
    return Promise.resolve(undefined);
  };
  return (
    <FormDialog
      title={`Move messages of ${address.queue}`}
      action="Move"
      onClose={onClose}
      onSubmit={submit}
    >
      <NamePicker
        label="Target queue"
        name="queue"
        account={address.account}
        service="queue"
        value=""
      />
      <Check name="one">Only the first message</Check>
      <p class="hint">
        Each visible message is put into the target, then deleted here. If the page is closed in
        between, a message may be in both queues; none is lost.
      </p>
    </FormDialog>
  );
}

function moveMessages(
  from: QueueAddress,
  to: QueueAddress,
  { onDone, isFirst }: { readonly onDone: () => void; readonly isFirst: boolean },
): void {
  startJob<QueueMessage>({
    title: `Move messages to ${to.queue}`,
    items: async function* ({ signal, idle }) {
      for (let moved = 0; moved < messagesMax && !signal.aborted;) {
        const howMany = isFirst ? 1 : messagesPerGet;
        const taken = await takeMessages(from, { howMany, hiddenSeconds });
        if (!taken.ok) return yield taken;
        for (const message of taken.value) yield done(message);
        moved += taken.value.length;
        // Messages are invisible only for some time: the next ones are taken when these are done.
        await idle();
        if (taken.value.length === 0 || isFirst) return;
      }
    },
    nameOf: ({ id }) => id,
    run: (message) => moveOne(from, to, message),
    onDone,
  });
}

async function moveOne(
  from: QueueAddress,
  to: QueueAddress,
  { id, text, expiresAt, popReceipt = "" }: QueueMessage,
): Promise<Result<unknown>> {
  const left = Math.ceil((Date.parse(expiresAt) - nowMilliseconds()) / 1000);
  if (left <= 0) return failed({ status: 404, code: "MessageNotFound", message: "It has expired" });
  const livesSeconds = isEndless(left) ? -1 : left;
  const put = await putMessage(to, { text, hiddenSeconds: 0, livesSeconds });
  return put.ok ? deleteMessage(from, { id, popReceipt }) : put;
}

/** A message that never expires has a time far in the future. */
function isEndless(seconds: number): boolean {
  return Number.isNaN(seconds) || seconds > 2 ** 31 - 1;
}
