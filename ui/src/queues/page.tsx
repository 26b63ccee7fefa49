import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { count } from "../format.ts";
import { useAbilities } from "../parts/abilities.ts";
import type { Column } from "../parts/grid.tsx";
import { LazyCell } from "../parts/lazy-cell.tsx";
import { NameList } from "../parts/name-list.tsx";
import { PropertiesDialog } from "../parts/properties-dialog.tsx";
import { mapped } from "../result.ts";
import {
  countMessages,
  createQueue,
  deleteQueue,
  listQueues,
  type QueueName,
} from "../rest/queue.ts";
import { formatRoute, go } from "../route.ts";
import { QueueView } from "./queue-view.tsx";

interface QueuesPageProps {
  readonly account: string;
  readonly queue: string | undefined;
}

function messagesColumn(account: string): Column<QueueName> {
  return {
    title: "Messages",
    width: "7rem",
    align: "end",
    cell: ({ name: queue }) => (
      <LazyCell
        of={queue}
        load={async (signal) => mapped(await countMessages({ account, queue }, signal), count)}
      />
    ),
  };
}

/** The page of the Queue service: the queues of an account, or one queue. */
export function QueuesPage({ account, queue }: QueuesPageProps): JSX.Element {
  if (queue !== undefined && queue !== "") {
    return <QueueView key={`${account}/${queue}`} address={{ account, queue }} />;
  }
  return <QueueList account={account} />;
}

function QueueList({ account }: { readonly account: string }): JSX.Element {
  const [shown, setShown] = useState<string>();
  const { manage } = useAbilities();
  return (
    <>
      <NameList
        account={account}
        service="queue"
        one="queue"
        many="Queues"
        icon="queues"
        hint="a–z, 0–9 and single hyphens"
        columns={[messagesColumn(account)]}
        list={(options) => listQueues(account, options)}
        create={(name) => createQueue(account, name)}
        remove={({ name }) => deleteQueue(account, name)}
        urlOf={({ name }) => ({ service: "queue", path: name })}
        onOpen={({ name }) => go(formatRoute("queues", [account, name]))}
        moreActions={({ name }) => [
          { label: "Properties", icon: "edit", needs: "read", run: () => setShown(name) },
        ]}
      />
      {shown !== undefined && (
        <PropertiesDialog
          title={`Properties of ${shown}`}
          owner={{ service: "queue", path: [account, shown] }}
          isEditable={manage}
          facts={(headers) => [["Messages", headers.get("x-ms-approximate-messages-count")]]}
          onClose={() => setShown(undefined)}
        />
      )}
    </>
  );
}
