import type { AccountChangeParts } from "../../account/account-changes.ts";
import {
  findLoadProblem,
  findNamespaceProblem,
  publishLoad,
  type AccountLoad,
  type AccountLoadResult,
  type LoadRules,
} from "../../account/load-account.ts";
import { isObject } from "../../account/field-table.ts";
import { parseIdentity } from "../../account/parse-identity.ts";
import { isConfigurableName } from "../../account/parse-settings.ts";
import {
  findSubscriptionNameProblem,
  parseSubscription,
} from "../../account/parse-subscription.ts";
import type { Log, Random } from "../../base/world.ts";
import type { ContentStore } from "../../content/content.ts";
import {
  type AccountFrame,
  type EndFrame,
  type Frame,
  type StartFrame,
  invalid,
  readFrames,
} from "./archive-format.ts";
import type { ContentFigures } from "../progress.ts";
import { ArchiveRefused } from "../../host/refused.ts";
import { RecordLoader } from "./record-loader.ts";
import { createHash } from "node:crypto";
import type { Transaction } from "../../store/store.ts";
import { UnpublishedData } from "../unpublished-data.ts";

/** Carries out `etagere load`: the accounts of an archive become visible in one transaction at its
 *  end. */

/** Length of the salt, random bytes that make the ids of each load new. */
const saltBytes = 16;
const idMax = 2n ** 64n - 1n;

/** Returns a new id for each id of an archive: always the same one during a load, and another one
 *  in the next load, so that an archive can be loaded twice into one store, also beside its
 *  original. Ids are derived from a random number instead of being remembered: an archive may have
 *  millions of directories. Throws `ArchiveRefused` for an id that no export writes. */
function idMap(random: Random): (id: bigint) => bigint {
  const salt = random.bytes(saltBytes);
  const bytes = Buffer.alloc(8);
  let last: { readonly id: bigint; readonly mapped: bigint } | undefined;
  return (id) => {
    if (id === last?.id) return last.mapped;
    if (id < 0n || id > idMax) throw invalid(`${id} is not an id`);
    bytes.writeBigUInt64BE(id);
    const digest = createHash("sha256").update(salt).update(bytes).digest();
    // Uses 63 bits, as `newId` does for new ids.
    last = { id, mapped: digest.readBigUInt64BE(0) >> 1n };
    return last.mapped;
  };
}

/** The accounts of a load until its last transaction publishes them. Until then the load is
 *  invisible, because no name refers to its data. */
class StagedAccounts {
  readonly #parts: AccountChangeParts;
  readonly #rules: LoadRules;
  readonly #accounts: AccountLoad[] = [];
  readonly #data: UnpublishedData;

  constructor(parts: AccountChangeParts, rules: LoadRules) {
    this.#parts = parts;
    this.#rules = rules;
    this.#data = new UnpublishedData(parts.store);
  }

  get count(): number {
    return this.#accounts.length;
  }

  /** Throws if data cannot be loaded under these names, before any is stored. */
  async check(names: readonly string[]): Promise<void> {
    await this.#parts.store.transact(async (tx) => this.#refuse(tx, names));
  }

  /** Adds an account, with the jobs that delete its data if the load fails. They must be stored
   *  before any of its data is. */
  async stage(account: AccountLoad): Promise<void> {
    const { services } = this.#parts;
    const jobs = services.map((name) => ({ kind: `${name}-account`, scope: [account.id] }));
    await this.#data.add(jobs, (tx) => refuseNamespace(tx, account));
    this.#accounts.push(account);
  }

  /** Makes the data of all accounts visible in one transaction, or none. */
  publish(): Promise<readonly AccountLoadResult[]> {
    return this.#parts.store.transact(async (tx) => {
      await this.#refuse(
        tx,
        this.#accounts.map(({ name }) => name),
      );
      if (!(await this.#data.keep(tx))) {
        throw new ArchiveRefused(["the load took longer than 1 day, or a snapshot was restored"]);
      }
      const results: AccountLoadResult[] = [];
      for (const account of this.#accounts) {
        await refuseNamespace(tx, account);
        const result = await publishLoad(this.#parts, tx, account, this.#rules);
        if ("problem" in result) throw new ArchiveRefused([result.problem]);
        results.push(result);
      }
      return results;
    });
  }

  /** After a failure: lets a running server delete the data soon. */
  async abandon(): Promise<void> {
    await this.#data.abandon();
  }

  async #refuse(tx: Transaction, names: readonly string[]): Promise<void> {
    const problems: string[] = [];
    for (const name of names) {
      const problem = await findLoadProblem(this.#parts, tx, name, this.#rules);
      if (problem !== undefined) problems.push(problem);
    }
    if (problems.length > 0) throw new ArchiveRefused(problems);
  }
}

async function refuseNamespace(tx: Transaction, account: AccountLoad): Promise<void> {
  const problem = await findNamespaceProblem(tx, account);
  if (problem !== undefined) throw new ArchiveRefused([problem]);
}

export interface LoadOptions extends LoadRules {
  readonly parts: AccountChangeParts;
  readonly content: ContentStore;
  readonly log: Log;
  /** Name of the target account if the archive has one account; undefined: the archived name. */
  readonly as?: string | undefined;
}

export interface LoadReport extends ContentFigures {
  readonly accounts: readonly AccountLoadResult[];
  readonly records: number;
}

/** Loads an archive. Everything becomes visible in one transaction at the end; a load that fails or
 *  is killed changes nothing visible, and what it has stored is deleted later. */
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

/** One load: gets the frames of the archive in order and passes their records to `RecordLoader`. */
class ArchiveLoad {
  readonly #options: LoadOptions;
  readonly #mapId: (id: bigint) => bigint;
  readonly #staged: StagedAccounts;
  readonly #loader: RecordLoader;
  /** Names of the accounts in the archive, in order. */
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
    const { records, pieceBytes, contents } = this.#loader;
    const isComplete =
      this.#end?.records === records &&
      this.#end.contentBytes === pieceBytes &&
      this.#staged.count === this.#names.length;
    if (!isComplete) throw invalid("its figures differ from its contents");
    return { accounts: await this.#staged.publish(), records, ...contents.figures };
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
    this.#loader.account = this.#mapId(id);
    await this.#staged.stage({
      ...account,
      subscriptions: parsedSubscriptions(account),
      pausedSubscriptions: pausedNames(account),
      roleAssignments: checkedAssignments(account),
      id: this.#mapId(id),
      name: this.#targetOf(name),
    });
  }

  #targetOf(name: string): string {
    return this.#options.as ?? name;
  }
}

function parsedSubscriptions({ subscriptions = {} }: AccountFrame): AccountLoad["subscriptions"] {
  if (!isObject(subscriptions)) throw invalid("its subscriptions are no object");
  const parsed = Object.entries(subscriptions).map(([name, input]) => {
    const wrongName = findSubscriptionNameProblem(name);
    if (wrongName !== undefined) throw invalid(wrongName);
    const subscription = parseSubscription(`subscription "${name}"`, input);
    if (!subscription.ok) throw invalid(subscription.problems.join("; "));
    return [name, subscription.value] as const;
  });
  return Object.fromEntries(parsed);
}

function pausedNames({ pausedSubscriptions = [] }: AccountFrame): readonly string[] {
  const isList = Array.isArray(pausedSubscriptions);
  if (!isList || pausedSubscriptions.some((name) => typeof name !== "string")) {
    throw invalid("its paused subscriptions are no list of names");
  }
  return pausedSubscriptions;
}

function checkedAssignments({ roleAssignments }: AccountFrame): AccountLoad["roleAssignments"] {
  const parsed = parseIdentity({ roleAssignments });
  if (!parsed.ok) throw invalid(parsed.problems.join("; "));
  return roleAssignments;
}

function isName(name: unknown): boolean {
  return typeof name === "string" && isConfigurableName(name);
}
