import type { AccountInput } from "../../account/parse-settings.ts";

/** What `--init` and `start({ init })` create. Resources at the top level belong to the first
 *  account. */
export interface InitInput extends AccountInit {
  readonly accounts?: Readonly<Record<string, OtherAccountInit>>;
}

interface OtherAccountInit extends AccountInit {
  /** Settings and keys with which the account is created if it does not exist, as in the
   *  configuration; without keys it gets random ones. Undefined: it must exist. */
  readonly create?: AccountInput;
}

interface AccountInit {
  readonly containers?: Readonly<Record<string, ContainerInit>>;
  readonly queues?: Readonly<Record<string, QueueInit>>;
  readonly tables?: Readonly<Record<string, TableInit>>;
  readonly shares?: Readonly<Record<string, ShareInit>>;
}

interface ContainerInit {
  readonly access?: "private" | "blob" | "container";
  readonly metadata?: Readonly<Record<string, string>>;
  readonly policies?: Readonly<Record<string, PolicyInit>>;
  /** Blobs by name; a text is the content of a blob of type text/plain. */
  readonly blobs?: Readonly<Record<string, string | BlobInit>>;
}

interface PolicyInit {
  /** An ISO 8601 time (`2026-01-31T00:00:00Z`). */
  readonly start?: string;
  readonly expiry?: string;
  /** Letters of permissions, as in a shared access signature (`rl`: read and list). */
  readonly permissions?: string;
}

/** The content of a blob or file: exactly one of the fields must be set. */
interface ContentInit {
  readonly text?: string;
  readonly base64?: string;
  /** Path relative to the folder of the JSON file. */
  readonly file?: string;
}

interface BlobInit extends ContentInit {
  readonly contentType?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
}

interface FileInit extends ContentInit {
  readonly contentType?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

interface QueueInit {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly policies?: Readonly<Record<string, PolicyInit>>;
  /** Texts of messages, put only if the queue is created. */
  readonly messages?: readonly string[];
}

interface TableInit {
  readonly policies?: Readonly<Record<string, PolicyInit>>;
  /** In the JSON form of the service: PartitionKey, RowKey and properties, with `…@odata.type`
   *  where needed. */
  readonly entities?: readonly Readonly<Record<string, unknown>>[];
}

interface ShareInit {
  readonly quotaGiB?: number;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly policies?: Readonly<Record<string, PolicyInit>>;
  /** Paths; missing parents of directories and files are created. */
  readonly directories?: readonly string[];
  readonly files?: Readonly<Record<string, string | FileInit>>;
}
