import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useFeed } from "../admin/feed.ts";
import { shortEtag } from "../format.ts";
import { Badge } from "../parts/states.tsx";
import type { BlobAddress } from "../rest/blob.ts";

interface StaleBadgeProps {
  readonly address: BlobAddress;
  readonly etag: string;
}

/** Shown when the request feed reports a write of the edited blob with another ETag than `etag`;
 *  saving then fails and opens the conflict dialog. Must be mounted anew for another `etag`
 *  (`key`). */
export function StaleBadge({ address, etag }: StaleBadgeProps): JSX.Element | null {
  const [newer, setNewer] = useState<string>();
  useFeed(["change"], {
    change: (event) => {
      const isThis =
        event.service === "blob" &&
        event.account === address.account &&
        event.container === address.container &&
        event.path === address.name;
      if (isThis && event.etag !== undefined && event.etag !== etag) setNewer(event.etag);
    },
  });
  if (newer === undefined) return null;
  return (
    <span role="status">
      <Badge tone="warn">changed by another client to {shortEtag(newer)}</Badge>
    </span>
  );
}
