import type { JSX } from "preact";
import { useCallback, useState } from "preact/hooks";
import { useFeed } from "../admin/feed.ts";
import { getMessagesInFlight } from "../admin/live.ts";
import { useRepeating } from "../clock.ts";
import { count, plural } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { describeFailure, notify } from "../parts/notices.tsx";
import { Failed } from "../parts/states.tsx";
import type { Result } from "../result.ts";
import {
  clearMessages,
  countMessages,
  peekMessages,
  type QueueMessage,
  type QueueAddress,
} from "../rest/queue.ts";
import { formatRoute } from "../route.ts";
import { InFlight } from "./in-flight.tsx";
import { GetDialog, PutDialog } from "./message-dialogs.tsx";
import { MoveDialog } from "./move-dialog.tsx";
import { DecodingChoice, MessageDetail, type ShownMessage } from "./message-detail.tsx";
import { rememberMessage } from "./message-text.ts";
import { Waiting } from "./waiting.tsx";

const refreshMilliseconds = 1000;

async function peekAndRemember(
  address: QueueAddress,
  signal: AbortSignal,
): Promise<Result<readonly QueueMessage[]>> {
  const found = await peekMessages(address, signal);
  if (found.ok) for (const { id, text } of found.value) rememberMessage(id, text);
  return found;
}

/** The messages of a queue, reloaded every second and when a message becomes visible again. */
function useMessages(address: QueueAddress) {
  const { account, queue } = address;
  const total = useLoad((signal) => countMessages(address, signal), [account, queue]);
  const waiting = useLoad((signal) => peekAndRemember(address, signal), [account, queue]);
  const taken = useLoad((signal) => getMessagesInFlight({ account, queue }, signal), [queue]);
  const refresh = useCallback(() => {
    total.reload();
    waiting.reload();
    taken.reload();
  }, []);
  useRepeating(refresh, refreshMilliseconds);
  useFeed(["message"], {
    message: (event) => {
      refresh();
      if (event.queue === queue && event.account === account) {
        notify("good", `A message is visible again after ${plural(event.dequeueCount, "dequeue")}`);
      }
    },
  });
  return { total, waiting, taken, refresh };
}

/** A queue: its visible messages and its messages in flight. */
export function QueueView({ address }: { readonly address: QueueAddress }): JSX.Element {
  const { queue } = address;
  const [dialog, setDialog] = useState<QueueDialog>();
  const [shown, setShown] = useState<ShownMessage>();
  const { total, waiting, taken, refresh } = useMessages(address);
  const clear = async (): Promise<string | undefined> => {
    const result = await clearMessages(address);
    refresh();
    return result.ok ? undefined : describeFailure(result.failure);
  };
  const close = (): void => setDialog(undefined);
  return (
    <>
      <QueueBar
        address={address}
        total={total.value}
        inFlight={taken.value?.messages.length}
        onDialog={setDialog}
      />
      <div class="work">
        <div class="halves">
          {waiting.failure !== undefined && (
            <Failed what="visible messages" failure={waiting.failure} onRetry={refresh} />
          )}
          {waiting.value !== undefined && (
            <Waiting
              messages={waiting.value}
              onShow={(message) => setShown({ kind: "visible", message })}
            />
          )}
          {taken.failure !== undefined && (
            <Failed what="messages in flight" failure={taken.failure} onRetry={refresh} />
          )}
          {taken.value !== undefined && (
            <InFlight
              address={address}
              messages={taken.value.messages}
              onChanged={refresh}
              onShow={(message) => setShown({ kind: "in-flight", message })}
            />
          )}
        </div>
        {shown !== undefined && (
          <MessageDetail address={address} shown={shown} onClose={() => setShown(undefined)} />
        )}
      </div>
      <MessageDialogs dialog={dialog} address={address} onClose={close} onDone={refresh} />
      {dialog === "clear" && (
        <Confirm
          title="Clear queue"
          text={`Delete all messages of ${queue}, including those in flight?`}
          action="Clear"
          onConfirm={clear}
          onClose={close}
        />
      )}
    </>
  );
}

interface MessageDialogsProps {
  readonly dialog: QueueDialog | undefined;
  readonly address: QueueAddress;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function MessageDialogs({ dialog, ...props }: MessageDialogsProps): JSX.Element | null {
  if (dialog === "put") return <PutDialog {...props} />;
  if (dialog === "get") return <GetDialog {...props} />;
  return dialog === "move" ? <MoveDialog {...props} /> : null;
}

type QueueDialog = "put" | "get" | "move" | "clear";

interface QueueBarProps {
  readonly address: QueueAddress;
  readonly total: number | undefined;
  readonly inFlight: number | undefined;
  readonly onDialog: (dialog: QueueDialog) => void;
}

function QueueBar({ address, total, inFlight, onDialog }: QueueBarProps): JSX.Element {
  const { account, queue } = address;
  return (
    <div class="bar">
      <Crumbs
        crumbs={[{ words: "Queues", href: formatRoute("queues", [account]) }, { words: queue }]}
      />
      <span class="soft" role="status">
        {total === undefined ? "" : `About ${plural(total, "message")}`}
        {inFlight === undefined ? "" : `, ${count(inFlight)} in flight`}
      </span>
      <DecodingChoice />
      <Button needs="process" onClick={() => onDialog("get")}>
        Get messages
      </Button>
      <Button icon="rename" needs="process" onClick={() => onDialog("move")}>
        Move messages
      </Button>
      <Button kind="danger" icon="trash" needs="delete" onClick={() => onDialog("clear")}>
        Clear queue
      </Button>
      <span data-new>
        <Button kind="main" icon="plus" needs="write" onClick={() => onDialog("put")}>
          Put message
        </Button>
      </span>
    </div>
  );
}
