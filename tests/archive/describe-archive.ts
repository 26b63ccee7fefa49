import { createHash } from "node:crypto";
import { decodeKey } from "../../src/encoding/keys.ts";
import {
  type Frame,
  type MoreContentFrame,
  readFrames,
} from "../../src/commands/archive/archive-format.ts";
import { recordsOf, idFieldsOf, tableOf } from "../../src/commands/archive/record-loader.ts";

/** Gives ids numbers in the order of their first use, which is the same for equal accounts. */
class Ids {
  readonly #numbers = new Map<bigint, string>();

  name(id: bigint): string {
    const known = this.#numbers.get(id) ?? `#${this.#numbers.size}`;
    this.#numbers.set(id, known);
    return known;
  }
}

/** All that an archive contains, as lines of text that are equal for equal accounts: without ids,
 *  the release and the time of the export, and the division of contents into pieces. */
export async function describeArchive(archive: AsyncIterable<Uint8Array>): Promise<string[]> {
  const lines: string[] = [];
  const ids = new Ids();
  let open: ContentText | undefined;
  for await (const frame of readFrames(archive)) {
    if (frame.kind === "moreContent") open?.add(frame.payload);
    else lines.push(...linesOf(frame, ids));
    if (frame.kind === "content") {
      open = new ContentText(frame.payload.length);
      open.add(frame.payload);
    }
    const isLast = "isLast" in frame.payload && frame.payload.isLast;
    if (isLast && open !== undefined) {
      lines.push(open.text());
      open = undefined;
    }
  }
  return lines;
}

function linesOf(frame: Exclude<Frame, { kind: "moreContent" }>, ids: Ids): readonly string[] {
  switch (frame.kind) {
    case "start":
      return [textOf(frame.payload.accounts)];
    case "account": {
      const { id, name, hierarchicalNamespace, properties, settings } = frame.payload;
      const account = { name, hierarchicalNamespace, properties, settings };
      return [`account ${ids.name(id)} ${textOf(account)}`];
    }
    case "records": {
      const { table } = frame.payload;
      const records = [...recordsOf(frame.payload)];
      return records.map(({ key, value }) => recordText(table, key, value, ids));
    }
    case "content": {
      const { table, key, value, base } = frame.payload;
      const changed = base && `base ${keyText(base.key, ids)}`;
      return [recordText(table, key, value, ids), ...(changed === undefined ? [] : [changed])];
    }
    case "end":
      return [textOf([frame.payload.records, frame.payload.contentBytes])];
  }
}

function recordText(name: string, key: Uint8Array, value: Uint8Array, ids: Ids): string {
  const table = tableOf(name);
  const idFields = idFieldsOf(table);
  const place = keyText(key, ids);
  const record = table.codec.decode(value) as Record<string, unknown>;
  const shown = Object.entries({ ...record }).map(([field, part]) => [
    field,
    idFields.includes(field) && typeof part === "bigint" ? ids.name(part) : part,
  ]);
  return `${name} ${place} ${textOf(Object.fromEntries(shown))}`;
}

function keyText(key: Uint8Array, ids: Ids): string {
  const [owner, ...rest] = decodeKey(key, 1);
  return `${ids.name(owner as bigint)} ${textOf(rest)}`;
}

/** Content without the division into pieces: blocks, and the hash of each stretch without holes. */
class ContentText {
  readonly #length: number;
  readonly #parts: string[] = [];
  #hash = createHash("sha256");
  #end = 0;

  constructor(length: number) {
    this.#length = length;
  }

  add({ pieces, bytes }: MoreContentFrame): void {
    let from = 0;
    for (const { at, length, block, isHole } of pieces) {
      if (at !== this.#end || block !== undefined) this.#cut(`${at} ${block ?? ""}`);
      if (isHole === true) {
        this.#parts.push(`hole ${at} ${length}`);
        continue;
      }
      this.#hash.update(bytes.subarray(from, from + length));
      from += length;
      this.#end = at + length;
    }
  }

  text(): string {
    this.#cut("end");
    return `content ${this.#length}: ${this.#parts.join(" ")}`;
  }

  #cut(next: string): void {
    this.#parts.push(this.#hash.digest("hex").slice(0, 16), `${this.#end}, ${next}`);
    this.#hash = createHash("sha256");
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === "bigint") return `${part}n`;
    if (part instanceof Map) return [...part];
    return part;
  });
}
