/** What became of numbered changes: few bytes for each, because there are a million. */
export class EventLedger {
  readonly #called: Float64Array;
  readonly #returned: Float64Array;
  readonly #isAcknowledged: Uint8Array;
  readonly #isRefused: Uint8Array;
  readonly #feed: Uint8Array;
  readonly #delivered: Uint8Array;
  readonly #order: Uint32Array;
  #begun = 0;
  #missingInFeed = 0;
  acknowledged = 0;
  unknown = 0;
  /** Events in the feed. */
  seen = 0;
  deliveries = 0;

  constructor(changesMax: number) {
    this.#called = new Float64Array(changesMax);
    this.#returned = new Float64Array(changesMax).fill(Infinity);
    this.#isAcknowledged = new Uint8Array(changesMax);
    this.#isRefused = new Uint8Array(changesMax);
    this.#feed = new Uint8Array(changesMax);
    this.#delivered = new Uint8Array(changesMax);
    this.#order = new Uint32Array(changesMax * 2);
  }

  begin(): number {
    const id = this.#begun;
    this.#begun += 1;
    this.#called[id] = performance.now();
    return id;
  }

  /** `status` is undefined without a response. */
  end(id: number, status: number | undefined): void {
    this.#returned[id] = status === undefined ? Infinity : performance.now();
    if (status === 201) {
      this.#isAcknowledged[id] = 1;
      this.acknowledged += 1;
      this.#missingInFeed += 1;
    } else if (status === undefined) this.unknown += 1;
    else this.#isRefused[id] = 1;
  }

  deliver(id: number): void {
    this.deliveries += 1;
    this.#delivered[id] = 1;
  }

  see(id: number): void {
    this.#order[this.seen] = id;
    this.seen += 1;
    if (this.#isAcknowledged[id] === 1 && this.#feed[id] === 0) this.#missingInFeed -= 1;
    this.#feed[id] = Math.min(255, this.#feed[id]! + 1);
  }

  get isFeedComplete(): boolean {
    return this.#missingInFeed === 0;
  }

  /** Acknowledged changes that the feed does not have. */
  get absent(): number {
    return this.#count((id) => this.#isAcknowledged[id] === 1 && this.#feed[id] === 0);
  }

  /** Changes that the feed has more than once. */
  get repeated(): number {
    return this.#count((id) => this.#feed[id]! > 1);
  }

  /** Acknowledged changes that the webhook did not get. */
  get missed(): number {
    return this.#count((id) => this.#isAcknowledged[id] === 1 && this.#delivered[id] === 0);
  }

  #count(matches: (id: number) => boolean): number {
    let count = 0;
    for (let id = 0; id < this.#begun; id += 1) if (matches(id)) count += 1;
    return count;
  }

  /** The first violations. */
  problems(): readonly string[] {
    const problems: string[] = [];
    for (let id = 0; id < this.#begun; id += 1) {
      const [count, isAcknowledged] = [this.#feed[id]!, this.#isAcknowledged[id] === 1];
      if (isAcknowledged && count !== 1) problems.push(`${id} is in the feed ${count} times`);
      if (isAcknowledged && this.#delivered[id] === 0) problems.push(`${id} was not delivered`);
      if (!isAcknowledged && count > 1) problems.push(`${id} is in the feed ${count} times`);
      const isSeen = count > 0 || this.#delivered[id] === 1;
      // A 503 says that nothing was committed.
      if (this.#isRefused[id] === 1 && isSeen) problems.push(`${id} was refused, but is an event`);
      if (count > 0 !== (this.#delivered[id] === 1)) {
        problems.push(`${id} is only in the feed, or only delivered`);
      }
    }
    return [...problems, ...this.#disorder()].slice(0, 20);
  }

  /** Changes that stand before others which were acknowledged before they began. */
  #disorder(): readonly string[] {
    const problems: string[] = [];
    let earliest = Infinity;
    for (let place = this.seen - 1; place >= 0; place -= 1) {
      const id = this.#order[place]!;
      if (earliest < this.#called[id]!) problems.push(`${id} stands before earlier changes`);
      earliest = Math.min(earliest, this.#returned[id]!);
    }
    return problems;
  }
}
