import { contentRestore } from "../content/restore-rules.ts";
import { notices, watchedShares } from "../file/notices.ts";
import { locks } from "../file/records.ts";
import type { RestoreRules } from "../store/saved-states/restore-rules.ts";

/** How saved states are restored. Opens and byte-range locks belong to SMB connections, which may
 *  have ended since: a restore closes all of them, as Force Close Handles does. Which processes
 *  watch a share, and what they have not read yet, is not part of a state. */
export const restoreRules: RestoreRules = {
  ...contentRestore,
  excluded: new Set([...contentRestore.excluded, locks.tag, notices.tag, watchedShares.tag]),
  cleared: [locks.prefix([])],
};
