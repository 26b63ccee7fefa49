import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RecordedEvent, Recording } from "../admin/recording.ts";
import { shortEtag } from "../format.ts";
import { RefusalReason } from "../parts/refusal-reason.tsx";
import { arrowsOf, lanesOf, type Bar, type Lane, type Mark, type Period } from "./lanes.ts";

/** Names of clients are beside their lanes, and above them on a phone. */
const namePixels = 150;
const namePixelsHigh = 16;
const nameLettersMax = 22;
const narrowPixelsMax = 520;
const rowPixels = 18;
const marksPixels = 40;
const axisPixels = 24;
const etagPixelsMin = 84;
/** Marks that are drawn in one lane; of more, the newest. */
const marksMax = 400;

interface PictureProps {
  readonly recording: Recording;
  readonly period: Period;
  readonly onZoom: (factor: number, around: number) => void;
}

/** Lanes of clients over time: bars for what they held, marks for their requests, and arrows from
 *  rejected requests to the writes that made their ETags stale. The list below has the same facts
 *  as text. */
export function Picture({ recording, period, onZoom }: PictureProps): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const widthPixels = useWidth(frame);
  const [hovered, setHovered] = useState<Hovered>();
  const lanes = useMemo(() => lanesOf(recording, period), [recording, period]);
  const arrows = useMemo(() => arrowsOf(lanes), [lanes]);
  const isNarrow = widthPixels < narrowPixelsMax;
  const labelPixels = isNarrow ? 0 : namePixels;
  const nameRow = isNarrow ? namePixelsHigh : 0;
  const tops = topsOf(lanes, nameRow);
  const height = (tops.at(-1) ?? 0) + axisPixels;
  const plot = Math.max(100, widthPixels - labelPixels - 12);
  const x = (at: number): number =>
    labelPixels + (plot * (at - period.from)) / Math.max(1, period.to - period.from);
  const markY = (lane: number): number => (tops[lane + 1] ?? 0) - marksPixels / 2;
  const zoom = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const part = (event.offsetX - labelPixels) / plot;
    const around = period.from + part * (period.to - period.from);
    onZoom(event.deltaY + event.deltaX > 0 ? 1.5 : 1 / 1.5, around);
  };
  return (
    <div class="lanes" ref={frame} onWheel={zoom} onPointerLeave={() => setHovered(undefined)}>
      <svg width={widthPixels} height={height} aria-hidden="true" data-lanes={lanes.length}>
        <ArrowHead />
        <Axis period={period} x={x} height={height} ticksMax={ticksIn(plot)} />
        {lanes.map((lane, index) => (
          <LaneView
            key={lane.client}
            lane={lane}
            top={(tops[index] ?? 0) + nameRow}
            nameY={isNarrow ? (tops[index] ?? 0) + 12 : markY(index) + 4}
            markY={markY(index)}
            x={x}
            edge={labelPixels}
            width={widthPixels}
            onHover={setHovered}
          />
        ))}
        {arrows.map(({ from, to }, index) => (
          <path
            key={index}
            class="stale-arrow"
            marker-end="url(#stale-head)"
            d={arrowPath([x(from.at), markY(from.lane)], [x(to.at), markY(to.lane)])}
          />
        ))}
      </svg>
      {hovered !== undefined && <Tip hovered={hovered} widthPixels={widthPixels} />}
    </div>
  );
}

function topsOf(lanes: readonly Lane[], nameRow: number): readonly number[] {
  const tops = [0];
  for (const { rows } of lanes) {
    tops.push((tops.at(-1) ?? 0) + nameRow + rows * rowPixels + marksPixels);
  }
  return tops;
}

function ArrowHead(): JSX.Element {
  return (
    <defs>
      <marker
        id="stale-head"
        viewBox="0 0 8 8"
        refX="7"
        refY="4"
        markerWidth="7"
        markerHeight="7"
        orient="auto"
      >
        <path d="M0 0 8 4 0 8z" />
      </marker>
    </defs>
  );
}

type Place = readonly [x: number, y: number];

/** A curve that leaves a rejected request upwards and ends at the write. */
function arrowPath([x1, y1]: Place, [x2, y2]: Place): string {
  const lift = y1 === y2 ? 26 : 14;
  const middle = Math.min(y1, y2) - lift;
  const ends = y2 <= y1 && y1 !== y2 ? y2 + 7 : y2 - 7;
  return `M${x1} ${y1 - 7}C${x1} ${middle} ${x2} ${middle} ${x2} ${ends}`;
}

/** Address and end of the program: programs of one publisher begin alike. */
function shortName(client: string): string {
  const { length } = client;
  return length <= nameLettersMax
    ? client
    : `${client.slice(0, nameLettersMax - 13)}…${client.slice(-12)}`;
}

interface LaneViewProps {
  readonly lane: Lane;
  readonly top: number;
  readonly nameY: number;
  readonly markY: number;
  readonly x: (at: number) => number;
  readonly edge: number;
  readonly width: number;
  readonly onHover: (hovered: Hovered) => void;
}

function LaneView(props: LaneViewProps): JSX.Element {
  const { lane, top, nameY, markY, x, edge, width, onHover } = props;
  const { client, bars, marks } = lane;
  const shown = marks.slice(-marksMax);
  const labelled = labelledMarks(shown, x);
  return (
    <g class="lane">
      <line class="lane-line" x1={edge} x2={width} y1={markY} y2={markY} />
      <text class="lane-name" x={0} y={nameY}>
        {shortName(client)}
      </text>
      {bars.map((bar) => {
        const [left, right] = [Math.max(edge, x(bar.from)), Math.max(edge + 2, x(bar.to))];
        const y = top + bar.row * rowPixels + 3;
        const hover = (): void => onHover({ kind: "bar", bar, client, x: left, y: y + rowPixels });
        return (
          <g key={`${bar.kind}${bar.from}${bar.what}`} onPointerEnter={hover}>
            <rect
              class={`hold ${bar.kind}`}
              x={left}
              y={y}
              width={Math.max(3, right - left)}
              height={rowPixels - 5}
              rx={3}
            />
            {right - left > 60 && (
              <text class="hold-text" x={left + 5} y={y + 10}>
                {bar.kind}
              </text>
            )}
          </g>
        );
      })}
      {shown.map((mark, index) => (
        <g
          key={index}
          data-what={mark.event.what}
          onPointerEnter={() =>
            onHover({ kind: "mark", mark, client, x: x(mark.at), y: markY + 12 })
          }
        >
          <MarkShape event={mark.event} x={x(mark.at)} y={markY} />
          <circle class="mark-hit" cx={x(mark.at)} cy={markY} r={9} />
          {labelled.has(mark) && (
            <text class="mark-etag" x={x(mark.at)} y={markY + 19}>
              {shortEtag(mark.event.etag)}
            </text>
          )}
        </g>
      ))}
    </g>
  );
}

/** The writes whose ETags have space beside each other. */
function labelledMarks(marks: readonly Mark[], x: (at: number) => number): ReadonlySet<Mark> {
  const labelled = new Set<Mark>();
  let free = Number.NEGATIVE_INFINITY;
  for (const mark of marks) {
    if (mark.event.what !== "write" || mark.event.etag === undefined || x(mark.at) < free) continue;
    labelled.add(mark);
    free = x(mark.at) + etagPixelsMin;
  }
  return labelled;
}

interface MarkShapeProps {
  readonly event: RecordedEvent;
  readonly x: number;
  readonly y: number;
}

function MarkShape({ event, x, y }: MarkShapeProps): JSX.Element {
  const { what } = event;
  if (what === "refused") {
    return <path class="mark refused" d={`M${x - 5} ${y - 5}l10 10M${x + 5} ${y - 5}l-10 10`} />;
  }
  if (what === "lease") {
    return <path class="mark lease" d={`M${x} ${y - 6}l6 6-6 6-6-6z`} />;
  }
  return <circle class={`mark ${what}`} cx={x} cy={y} r={what === "read" ? 3.5 : 5.5} />;
}

interface AxisProps {
  readonly period: Period;
  readonly x: (at: number) => number;
  readonly height: number;
  readonly ticksMax: number;
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900].map((seconds) => seconds * 1000);
/** Width of a time with the space beside it. */
const tickPixels = 72;

/** How many times fit beside each other. */
function ticksIn(plotPixels: number): number {
  return Math.max(2, Math.min(8, Math.floor(plotPixels / tickPixels)));
}

function Axis({ period, x, height, ticksMax }: AxisProps): JSX.Element {
  const length = period.to - period.from;
  const step = steps.find((one) => length / one <= ticksMax) ?? 1_800_000;
  const first = Math.ceil(period.from / step) * step;
  const count = Math.max(0, Math.floor((period.to - first) / step) + 1);
  const ticks = Array.from({ length: count }, (_, index) => first + index * step);
  return (
    <g class="time-axis">
      {ticks.map((at) => (
        <g key={at}>
          <line x1={x(at)} x2={x(at)} y1={0} y2={height - axisPixels} />
          <text x={x(at)} y={height - 8}>
            {new Date(at).toTimeString().slice(0, 8)}
          </text>
        </g>
      ))}
    </g>
  );
}

type Hovered = { readonly client: string; readonly x: number; readonly y: number } & (
  | { readonly kind: "mark"; readonly mark: Mark }
  | { readonly kind: "bar"; readonly bar: Bar }
);

const tipPixels = 300;

/** What is under the pointer, as text. */
function Tip({
  hovered,
  widthPixels,
}: {
  readonly hovered: Hovered;
  readonly widthPixels: number;
}): JSX.Element {
  const left = Math.max(0, Math.min(hovered.x + 8, widthPixels - tipPixels));
  return (
    <div class="lane-tip" style={{ left: `${left}px`, top: `${hovered.y}px` }}>
      <strong>{hovered.client}</strong>
      {hovered.kind === "bar" ? (
        <>
          <span>{hovered.bar.what}</span>
          <span class="soft">{barTimes(hovered.bar)}</span>
        </>
      ) : (
        <MarkTip event={hovered.mark.event} />
      )}
    </div>
  );
}

function MarkTip({ event }: { readonly event: RecordedEvent }): JSX.Element {
  const { operation, status, etag, at, action } = event;
  return (
    <>
      <span>
        {operation} {action ?? ""} {status}
      </span>
      {etag !== undefined && <code>{etag}</code>}
      {event.what === "refused" && <RefusalReason refusal={event} />}
      <span class="soft">{at.slice(11, 23)}</span>
    </>
  );
}

function barTimes({ from, to, isOpen }: Bar): string {
  const time = (at: number): string => new Date(at).toTimeString().slice(0, 8);
  return `${time(from)} to ${isOpen ? "now" : time(to)}, ${((to - from) / 1000).toFixed(1)} s`;
}

function useWidth(frame: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const watcher = new ResizeObserver(() => setWidth(element.clientWidth));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return width;
}
