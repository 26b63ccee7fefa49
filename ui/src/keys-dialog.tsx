import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { accounts, server } from "./accounts.ts";
import { getKeys, type AccountKeys } from "./admin/server.ts";
import { Button } from "./parts/button.tsx";
import { CopyText } from "./parts/copy-text.tsx";
import { Dialog } from "./parts/dialog.tsx";
import { describeFailure, notify } from "./parts/notices.tsx";
import { useStore } from "./store.ts";

/** Shows the endpoints of an account. Its keys are loaded only when the user requests them. */
export function KeysDialog({
  account,
  onClose,
}: {
  readonly account: string;
  readonly onClose: () => void;
}): JSX.Element {
  const known = useStore(accounts).find(({ name }) => name === account);
  const smbUrl = useStore(server)?.smb?.url;
  const [keys, setKeys] = useState<AccountKeys>();
  const reveal = async (): Promise<void> => {
    const found = await getKeys(account);
    if (found.ok) setKeys(found.value);
    else notify("bad", describeFailure(found.failure));
  };
  return (
    <Dialog title={`Connect to ${account}`} onClose={onClose}>
      <div class="form">
        {Object.entries(known?.endpoints ?? {}).map(([service, url]) => (
          <CopyText key={service} label={`${service} endpoint`} text={url} />
        ))}
        {smbUrl !== undefined && (
          <>
            <CopyText label="SMB address" text={`${smbUrl}/SHARE`} />
            <p class="hint">
              SHARE is the name of a share, the user name is {account}, the password is the key.
            </p>
          </>
        )}
        {keys === undefined ? (
          <Button icon="lock" onClick={() => void reveal()}>
            Show key
          </Button>
        ) : (
          <>
            <CopyText label="Connection string" text={keys.connectionString} />
            {keys.keys.map((key, index) => (
              <CopyText key={key} label={`Key ${index + 1}`} text={key} />
            ))}
          </>
        )}
      </div>
    </Dialog>
  );
}
