import type { JSX } from "preact";
import { NameList } from "../parts/name-list.tsx";
import { createQueue, deleteQueue, listQueues } from "../rest/queue.ts";
import { formatRoute, go } from "../route.ts";
import { QueueView } from "./queue-view.tsx";

export interface QueuesPageProps {
  readonly account: string;
  readonly queue: string | undefined;
}

/** The page of the Queue service: the queues of an account, or one queue. */
export function QueuesPage({ account, queue }: QueuesPageProps): JSX.Element {
  if (queue !== undefined && queue !== "") {
    return <QueueView key={`${account}/${queue}`} place={{ account, queue }} />;
  }
  return (
    <NameList
      account={account}
      one="queue"
      many="Queues"
      icon="queues"
      hint="a–z, 0–9 and single hyphens"
      list={(options) => listQueues(account, options)}
      create={(name) => createQueue(account, name)}
      remove={(name) => deleteQueue(account, name)}
      onOpen={({ name }) => go(formatRoute("queues", [account, name]))}
    />
  );
}
