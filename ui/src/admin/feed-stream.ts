interface Listener {
  readonly kinds: readonly string[];
  readonly hear: (kind: string, data: unknown) => void;
  readonly onState: (isOpen: boolean, isBroken: boolean) => void;
}

const reopenMilliseconds = 3000;

/**
 * A connection to the request feed that several views share: a browser opens only about six to a
 * server, for all tabs together. It has the kinds of events of all listeners, and ends with the
 * last one.
 */
export class FeedStream {
  readonly #object: string;
  readonly #listeners = new Set<Listener>();
  #source: EventSource | undefined;
  #kinds: readonly string[] = [];
  #isOpen = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `object` is the query that names an object, or empty. */
  constructor(object: string) {
    this.#object = object;
  }

  /** Returns the function that leaves the stream. */
  join(listener: Listener): () => void {
    this.#listeners.add(listener);
    const isCovered = listener.kinds.every((kind) => this.#kinds.includes(kind));
    if (this.#source === undefined || !isCovered) this.reopen();
    else listener.onState(this.#isOpen, false);
    return () => {
      this.#listeners.delete(listener);
      listener.onState(false, false);
      if (this.#listeners.size === 0) this.#close();
    };
  }

  reopen(): void {
    this.#close();
    const kinds = [...new Set([...this.#listeners].flatMap((one) => one.kinds))];
    if (kinds.length === 0) return;
    this.#kinds = kinds;
    const query = `kinds=${kinds.join(",")}${this.#object === "" ? "" : `&${this.#object}`}`;
    const source = new EventSource(`/admin/v1/feed?${query}`);
    this.#source = source;
    source.addEventListener("hello", () => this.#tell(true, false));
    source.addEventListener("error", () => {
      this.#tell(false, true);
      // The browser reconnects, but not after a response that is no event stream.
      if (source.readyState !== EventSource.CLOSED) return;
      this.#timer = setTimeout(() => this.reopen(), reopenMilliseconds);
    });
    for (const kind of [...kinds, "missed"]) {
      source.addEventListener(kind, (event: MessageEvent<string>) => {
        const data: unknown = JSON.parse(event.data);
        for (const listener of this.#listeners) listener.hear(kind, data);
      });
    }
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
    this.#kinds = [];
    this.#isOpen = false;
  }

  #tell(isOpen: boolean, isBroken: boolean): void {
    this.#isOpen = isOpen;
    for (const { onState } of this.#listeners) onState(isOpen, isBroken);
  }
}
