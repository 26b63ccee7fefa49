import type { AccountChangeParts } from "../../account/account-changes.ts";
import type { AccountLoadResult, LoadRules } from "../../account/load-account.ts";
import { isConfigurableName } from "../../account/parse-settings.ts";
import type { Log } from "../../base/world.ts";
import type { ContentStore } from "../../content/content.ts";
import type { AccountFrame, EndFrame, Frame, StartFrame } from "./archive-format.ts";
import { ArchiveRefused } from "./archive-refused.ts";
import { readFrames } from "./frame-reader.ts";
import { idMap } from "./id-map.ts";
import { RecordLoader } from "./record-loader.ts";
import { StagedAccounts } from "./staged-accounts.ts";

export interface LoadOptions extends LoadRules {
  readonly parts: AccountChangeParts;
  readonly content: ContentStore;
  readonly log: Log;
  /** Name of the target account if the archive has one account; undefined: the archived name. */
  readonly as?: string | undefined;
}

export interface LoadReport {
  readonly accounts: readonly AccountLoadResult[];
  readonly records: number;
  readonly contentBytes: number;
}

/**
 * Loads an archive. Everything becomes visible in one transaction at the end; a load that fails or
 * is killed changes nothing visible, and what it has stored is deleted later.
 */
export async function loadArchive(
  archive: AsyncIterable<Uint8Array>,
  options: LoadOptions,
): Promise<LoadReport> {
  const load = new ArchiveLoad(options);
  try {
    for await (const frame of readFrames(archive)) await load.add(frame);
    return await load.publish();
  } catch (error) {
    await load.abandon().catch((failure: unknown) => {
      options.log.warn({ err: failure }, "data of failed load is kept; a job deletes it in 1 day");
    });
    throw error;
  }
}

class ArchiveLoad {
  readonly #options: LoadOptions;
  readonly #mapId: (id: bigint) => bigint;
  readonly #staged: StagedAccounts;
  readonly #loader: RecordLoader;
  /** Names in the archive, in order. */
  #names: readonly string[] = [];
  #isStarted = false;
  #end: EndFrame | undefined;

  constructor(options: LoadOptions) {
    const { parts, content } = options;
    this.#options = options;
    this.#mapId = idMap(parts.random);
    this.#staged = new StagedAccounts(parts, options);
    this.#loader = new RecordLoader({ store: parts.store, content, mapId: this.#mapId });
  }

  async add(frame: Frame): Promise<void> {
    const isFirst = !this.#isStarted;
    if (isFirst !== (frame.kind === "start")) throw invalid("its first part is missing");
    switch (frame.kind) {
      case "start":
        return this.#start(frame.payload);
      case "account":
        return this.#beginAccount(frame.payload);
      case "end":
        this.#end = frame.payload;
        return undefined;
      default:
        break;
    }
    if (this.#staged.count === 0) throw invalid("a record has no account");
    switch (frame.kind) {
      case "records":
        return this.#loader.addRecords(frame.payload);
      case "content":
        return this.#loader.addContent(frame.payload);
      case "moreContent":
        return this.#loader.addMore(frame.payload);
    }
  }

  async publish(): Promise<LoadReport> {
    await this.#loader.finish();
    const { records, contentBytes } = this.#loader;
    const isComplete =
      this.#end?.records === records &&
      this.#end.contentBytes === contentBytes &&
      this.#staged.count === this.#names.length;
    if (!isComplete) throw invalid("its figures differ from its contents");
    return { accounts: await this.#staged.publish(), records, contentBytes };
  }

  async abandon(): Promise<void> {
    await this.#loader.abandon();
    await this.#staged.abandon();
  }

  async #start({ accounts: names }: StartFrame): Promise<void> {
    this.#isStarted = true;
    const isList = Array.isArray(names) && names.length > 0 && names.every(isName);
    if (!isList || new Set(names).size !== names.length)
      throw invalid("its accounts have no names");
    if (this.#options.as !== undefined && names.length > 1) {
      throw new ArchiveRefused([`--as: the archive has ${names.length} accounts, not one`]);
    }
    this.#names = names;
    await this.#staged.check(names.map((name) => this.#targetOf(name)));
  }

  async #beginAccount(account: AccountFrame): Promise<void> {
    const { id, name, properties } = account;
    if (name !== this.#names[this.#staged.count] || typeof id !== "bigint") {
      throw invalid("an account is not listed");
    }
    if (typeof properties !== "object" || properties === null) throw invalid("no properties");
    await this.#staged.stage({
      ...account,
      id: this.#mapId(id),
      name: this.#targetOf(name),
    });
  }

  #targetOf(name: string): string {
    return this.#options.as ?? name;
  }
}

function isName(name: unknown): boolean {
  return typeof name === "string" && isConfigurableName(name);
}

function invalid(what: string): ArchiveRefused {
  return new ArchiveRefused([`the archive is not valid: ${what}`]);
}
