import type { JSX } from "preact";
import { useRepeating } from "../clock.ts";
import { moment } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { report } from "../parts/notices.tsx";
import { Empty, Failed, Waiting } from "../parts/states.tsx";
import { closeHandle, listHandles, type FileAddress } from "../rest/file.ts";

const refreshMilliseconds = 2000;

/** SMB handles of a file, from the List Handles operation. */
export function HandlesList({ address }: { readonly address: FileAddress }): JSX.Element {
  const loaded = useLoad((signal) => listHandles(address, signal), [address.path]);
  useRepeating(loaded.reload, refreshMilliseconds);
  if (loaded.failure !== undefined) {
    return <Failed what="handles" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return <Waiting />;
  if (loaded.value.length === 0)
    return <Empty>No open handles. SMB clients that open the file appear here.</Empty>;
  const end = async (id: string): Promise<void> => {
    if (report(await closeHandle(address, id), "Handle closed")) loaded.reload();
  };
  return (
    <ul class="states">
      {loaded.value.map(({ id, client, openedAt, access }) => (
        <li key={id} class="state">
          <strong>{client}</strong>
          <span>{access}</span>
          <span class="soft">since {moment(openedAt)}</span>
          <span class="state-actions">
            <Button kind="danger" needs="write" onClick={() => void end(id)}>
              Close handle
            </Button>
          </span>
        </li>
      ))}
    </ul>
  );
}
