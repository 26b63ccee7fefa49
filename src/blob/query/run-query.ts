import type { LoopShare } from "../../base/loop-share.ts";
import {
  ArrowPage,
  AvroWriter,
  TextPage,
  type QueryError,
  type ResultPage,
} from "./result-pages.ts";
import {
  evaluate,
  isTrue,
  type Lookup,
  type Aggregate,
  type Expression,
  type Projection,
  type Query,
} from "./evaluate.ts";
import { TooManyLikeSteps } from "./like-pattern.ts";
import type { RangeFile } from "./parquet/column-cursor.ts";
import { readParquet } from "./parquet/read-parquet.ts";
import { isOrdinal, readDelimited } from "./read-delimited.ts";
import { readJson } from "./read-json.ts";
import {
  checkComparedUnits,
  FatalQueryError,
  RecordError,
  tooLarge,
  type Field,
  type InputRecord,
} from "./records.ts";
import type { QueryRequest } from "./query-blob.ts";
import { numberOf, type SqlValue } from "./values.ts";

/** Runs a query over the records of a blob and writes the results, as a transform of the response
 *  body: `query-blob.ts` passes it to the reply. */

/** Computes the aggregates of a query (COUNT, SUM …) record by record, in constant memory. */
class Aggregation {
  readonly #accumulators: readonly Accumulator[];

  constructor(aggregates: readonly Aggregate[]) {
    this.#accumulators = aggregates.map((aggregate) => new Accumulator(aggregate));
  }

  add(lookup: Lookup): void {
    for (const accumulator of this.#accumulators) accumulator.add(lookup);
  }

  fields(): readonly Field[] {
    return this.#accumulators.map((accumulator, index) => accumulator.field(index));
  }
}

class Accumulator {
  readonly #aggregate: Aggregate;
  #count = 0;
  #sum = 0;
  #extreme: number | string | undefined;

  constructor(aggregate: Aggregate) {
    this.#aggregate = aggregate;
  }

  add(lookup: Lookup): void {
    const { name, of } = this.#aggregate;
    const value: SqlValue = of === undefined ? true : evaluate(of, lookup);
    if (value === null) return;
    if (name === "SUM" || name === "AVG") this.#sum += numberOf(value);
    if (name === "MIN" || name === "MAX") this.#compare(value, name === "MIN");
    this.#count += 1;
  }

  #compare(value: SqlValue, smaller: boolean): void {
    const candidate = typeof value === "string" ? numberIfNumeric(value) : numberOf(value);
    const best = this.#extreme;
    if (best === undefined) this.#extreme = candidate;
    else if (smaller ? candidate < best : candidate > best) this.#extreme = candidate;
  }

  field(index: number): Field {
    const { name, alias } = this.#aggregate;
    return { name: alias ?? `_${index + 1}`, value: this.#result(name) };
  }

  #result(name: Aggregate["name"]): SqlValue {
    switch (name) {
      case "COUNT":
        return this.#count;
      case "SUM":
        return this.#count === 0 ? null : this.#sum;
      case "AVG":
        return this.#count === 0 ? null : this.#sum / this.#count;
      case "MIN":
      case "MAX":
        return this.#extreme ?? null;
    }
  }
}

/** The value of a field that MIN or MAX compares: delimited text has no types, so a text that looks
 *  like a number counts as one. */
function numberIfNumeric(text: string): number | string {
  const number = Number(text);
  return text.trim() === "" || Number.isNaN(number) ? text : number;
}

/** Length of buffered results, in characters, at which a page is sent. */
const resultUnitsMax = 64 * 1024;
/** Bytes of the blob after which the response reports progress. */
const progressEveryBytes = 4 * 1024 * 1024;
/** Bytes of the blob after which reading lets other requests run. */
const pieceBytesMax = 64 * 1024;
const bytesPerUnit = 512;
/** Costs in units of event-loop time (about 10 µs; `base/loop-share.ts`): per record, and per
 *  character of the query, which is evaluated for each record. */
const unitsPerRecord = 0.1;
const unitsPerCharacter = 0.0005;

/** The blob that a query reads, and the share of the event loop that the query may use. */
interface QueriedBlob {
  /** All bytes of the blob in order. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Reads a range; a chunk is valid until the next one is requested. */
  readonly read: (from: number, length: number) => AsyncIterable<Uint8Array>;
  readonly totalBytes: number;
  /** Sync marker of the Avro container. */
  readonly marker: Uint8Array;
  readonly loop: LoopShare;
}

/** Executes a query in one pass over the blob, or over the columns of a Parquet file that it needs.
 *  Holds one record, or one page of each column, and one page of results in memory. */
export async function* runQuery(
  blob: QueriedBlob,
  request: QueryRequest,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { totalBytes, marker, loop } = blob;
  const avro = new AvroWriter(marker);
  const meter = new Meter(blob);
  yield avro.header();
  const results = new ResultWriter(request);
  const units = unitsPerRecord + request.expressionUnits * unitsPerCharacter;
  const columns = columnsIn(request.query).length;
  yield* results.start(avro);
  let reportedBytes = 0;
  try {
    for await (const record of recordsOf(meter, request)) {
      checkComparedUnits(record.units ?? 0, columns, record.offset);
      const problem = results.take(record);
      const wait = loop.spend(units);
      if (wait !== undefined) await wait;
      if (problem !== undefined) results.addError(problem, record.offset);
      if (results.isFull) yield* results.flush(avro);
      if (meter.bytes - reportedBytes >= progressEveryBytes) {
        reportedBytes = meter.bytes;
        yield avro.progress(reportedBytes, totalBytes);
      }
      if (results.isDone) break;
    }
    const problem = results.finish();
    if (problem !== undefined) results.addError(problem, totalBytes);
    yield* results.flush(avro);
  } catch (error) {
    if (!(error instanceof FatalQueryError)) throw error;
    yield* results.flush(avro);
    const { name, message: description, position } = error;
    yield avro.error({ fatal: true, name, description, position });
  }
  // Recorded from Azure: for Parquet the final progress counts only the bytes that were read,
  // because unneeded columns are skipped; for other formats it is the length of the blob.
  const scannedBytes = request.input.type === "parquet" ? meter.bytes : totalBytes;
  yield avro.progress(scannedBytes, totalBytes);
  yield avro.end(totalBytes);
}

function recordsOf(meter: Meter, { input, query }: QueryRequest): AsyncIterable<InputRecord> {
  switch (input.type) {
    case "json":
      return readJson(meter.chunks(), query.from);
    case "delimited":
      return readDelimited(meter.chunks(), input, meter.loop);
    case "parquet":
      return readParquet(meter, columnNames(query));
  }
}

/** The queried blob, with a count of the bytes that were read, which the response reports as
 *  progress. */
class Meter implements RangeFile {
  readonly #blob: QueriedBlob;
  bytes = 0;

  constructor(blob: QueriedBlob) {
    this.#blob = blob;
  }

  get length(): number {
    return this.#blob.totalBytes;
  }

  get loop(): LoopShare {
    return this.#blob.loop;
  }

  /** Reads a range of the blob, as a copy that stays valid when the next chunk is read. */
  async read(from: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.alloc(length);
    let at = 0;
    for await (const chunk of this.#blob.read(from, length)) {
      bytes.set(chunk, at);
      at += chunk.length;
      await this.loop.spend(chunk.length / bytesPerUnit);
    }
    this.bytes = Math.min(this.bytes + at, this.#blob.totalBytes);
    return bytes.subarray(0, at);
  }

  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of this.#blob.chunks) {
      for (let from = 0; from < chunk.length; from += pieceBytesMax) {
        const piece = chunk.subarray(from, from + pieceBytesMax);
        this.bytes += piece.length;
        yield piece;
        await this.loop.spend(piece.length / bytesPerUnit);
      }
    }
  }
}

const noBytes = new Uint8Array(0);

interface RecordProblem {
  readonly name: string;
  readonly description: string;
}

const errorsMax = 256;

/** Filters records and writes results in pages. The errors of records follow the results of their
 *  page; the first page is sent even without results (recorded from Azure). */
class ResultWriter {
  readonly #request: QueryRequest;
  #errors: QueryError[] = [];
  #isStarted = false;
  readonly #aggregation: Aggregation | undefined;
  readonly #page: ResultPage;
  #written = 0;

  constructor(request: QueryRequest) {
    this.#request = request;
    const { selection } = request.query;
    this.#aggregation =
      selection.kind === "aggregates" ? new Aggregation(selection.aggregates) : undefined;
    const { output } = request;
    this.#page = output.type === "arrow" ? new ArrowPage(output) : new TextPage(output);
  }

  get isFull(): boolean {
    return this.#page.units >= resultUnitsMax || this.#errors.length >= errorsMax;
  }

  get isDone(): boolean {
    return this.#written >= (this.#request.query.limit ?? Infinity);
  }

  /** Adds a record to the results if it satisfies the condition (WHERE); returns the error of a
   *  record that was skipped. */
  take(record: InputRecord): RecordProblem | undefined {
    const { query } = this.#request;
    if (this.isDone) return undefined;
    return catchRecordError(record.offset, () => {
      if (query.where !== undefined && !isTrue(query.where, record.lookup)) return;
      if (this.#aggregation !== undefined) this.#aggregation.add(record.lookup);
      else this.#write(this.#fieldsOf(record));
    });
  }

  finish(): RecordProblem | undefined {
    const aggregation = this.#aggregation;
    if (aggregation === undefined || this.isDone) return undefined;
    return catchRecordError(0, () => this.#write(aggregation.fields()));
  }

  addError(problem: RecordProblem, position: number): void {
    this.#errors.push({ ...problem, fatal: false, position });
  }

  *start(avro: AvroWriter): Generator<Uint8Array, void, undefined> {
    const { first } = this.#page;
    if (first.length > 0) yield this.#data(avro, first);
  }

  *flush(avro: AvroWriter): Generator<Uint8Array, void, undefined> {
    if (this.#page.units > 0) {
      for (const part of this.#page.takeParts()) yield this.#data(avro, part);
    }
    if (!this.#isStarted) yield this.#data(avro, noBytes);
    for (const error of this.#errors) yield avro.error(error);
    this.#errors = [];
  }

  #data(avro: AvroWriter, bytes: Uint8Array): Uint8Array {
    this.#isStarted = true;
    return avro.data(bytes);
  }

  #fieldsOf(record: InputRecord): readonly Field[] {
    const { selection } = this.#request.query;
    if (selection.kind !== "columns") return record.all();
    return selection.columns.map((column, index) => ({
      name: nameOf(column, index),
      value: evaluate(column.of, record.lookup),
    }));
  }

  #write(fields: readonly Field[]): void {
    this.#page.write(fields);
    this.#written += 1;
  }
}

function catchRecordError(offset: number, work: () => void): RecordProblem | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof TooManyLikeSteps) throw tooLarge(offset);
    if (!(error instanceof RecordError)) throw error;
    return { name: error.name, description: error.message };
  }
}

function nameOf({ of, alias }: Projection, index: number): string {
  const last =
    of.kind === "column" ? of.path.findLast((step) => typeof step === "string") : undefined;
  return alias ?? (last === undefined || isOrdinal(last) ? `_${index + 1}` : last);
}

/** The columns that a query needs, in lower case, so that only they are read of a Parquet file;
 *  undefined if it needs all. A column in a structure counts as the structure. */
function columnNames(query: Query): ReadonlySet<string> | undefined {
  return query.selection.kind === "all" ? undefined : new Set(columnsIn(query));
}

/** The name of each column in a query, in lower case, as often as the query has it: each occurrence
 *  costs a comparison (`checkComparedUnits`). */
function columnsIn(query: Query): readonly string[] {
  const names: string[] = [];
  for (const expression of expressionsOf(query)) addColumns(expression, names);
  return names;
}

function expressionsOf({ selection, where }: Query): Expression[] {
  const conditions = where === undefined ? [] : [where];
  switch (selection.kind) {
    case "all":
      return conditions;
    case "columns":
      return [...conditions, ...selection.columns.map(({ of }) => of)];
    case "aggregates":
      return [...conditions, ...selection.aggregates.flatMap(({ of }) => of ?? [])];
  }
}

/** Into one list: a list per operand would take quadratic time for a long chain of AND. */
function addColumns(expression: Expression, names: string[]): void {
  switch (expression.kind) {
    case "literal":
      return;
    case "column":
      names.push(String(expression.path[0]).toLowerCase());
      return;
    case "binary":
      addColumns(expression.left, names);
      addColumns(expression.right, names);
      return;
    case "call":
      for (const each of expression.given) addColumns(each, names);
      return;
    case "in":
      for (const each of [expression.of, ...expression.among]) addColumns(each, names);
      return;
    case "unary":
    case "null-test":
    case "cast":
    case "like":
      addColumns(expression.of, names);
  }
}
