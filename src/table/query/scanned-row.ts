import type { EntityKeys } from "../../protocol/entity-range.ts";
import type { Rendered, RecordView, Scanned } from "../../operation/view.ts";
import type { Row } from "../json/write-entity.ts";
import type { EntityRecord } from "../stored/entity-record.ts";
import type { KeyReader } from "./key-reader.ts";

/** A row of a scan. Decodes its keys on first use: most rows are filtered out, or rendered from the
 *  cache. `Required<Row>` makes `renderCached` mandatory, without which every row would be rendered
 *  anew. */
export class ScannedRow implements Required<Row> {
  readonly #view: RecordView;
  readonly #reader: KeyReader;
  readonly #entry: Scanned<EntityRecord>;
  #keys: EntityKeys | undefined;

  constructor(view: RecordView, reader: KeyReader, entry: Scanned<EntityRecord>) {
    this.#view = view;
    this.#reader = reader;
    this.#entry = entry;
  }

  get record(): EntityRecord {
    return this.#entry.record;
  }

  get partitionKey(): string {
    this.#keys ??= this.#reader.read(this.#entry.key);
    return this.#keys.partitionKey;
  }

  get rowKey(): string {
    this.#keys ??= this.#reader.read(this.#entry.key);
    return this.#keys.rowKey;
  }

  renderCached(cacheKey: number, render: () => Rendered): string {
    return this.#view.renderCached(this.#entry, cacheKey, render) ?? "";
  }
}
