import type { JSX } from "preact";

export interface Line {
  readonly name: string;
  readonly tone: "accent" | "warn" | "bad" | "soft";
  readonly values: readonly (number | undefined)[];
}

export interface ChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** When each value was measured, in milliseconds. */
  readonly times: readonly number[];
  readonly span: Span;
}

/** The period that charts show. */
export interface Span {
  readonly milliseconds: number;
  readonly words: string;
}

const width = 300;
const height = 80;

/** A chart over time, with the current values as text for screen readers. */
export function Chart({ title, lines, format, times, span }: ChartProps): JSX.Element {
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const top = niceTop(Math.max(0, ...all));
  const scale = { top, times, span };
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div class="chart-now">
        {lines.map(({ name, tone, values }) => {
          const last = values.at(-1);
          return (
            <span key={name} class={`legend ${tone}`}>
              <span class="swatch" aria-hidden="true" />
              {name} <strong>{last === undefined ? "–" : format(last)}</strong>
            </span>
          );
        })}
      </div>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <line class="axis" x1={0} x2={width} y1={height - 0.5} y2={height - 0.5} />
        {lines.map(({ name, tone, values }) => (
          <g key={name} class={`line ${tone}`}>
            {tone === "accent" && <path class="area" d={areaOf(values, scale)} />}
            <path class="stroke" d={pathOf(values, scale)} />
          </g>
        ))}
      </svg>
      <div class="chart-scale">
        <span>{span.words} ago</span>
        <span>top {format(top)}</span>
      </div>
    </figure>
  );
}

interface Scale extends Pick<ChartProps, "times" | "span"> {
  readonly top: number;
}

type Point = readonly [x: number, y: number];

function pointsOf(values: Line["values"], { top, times, span }: Scale): readonly Point[] {
  const end = times.at(-1) ?? 0;
  return values.flatMap((value, index): readonly Point[] => {
    if (value === undefined) return [];
    const x = width * (1 - (end - (times[index] ?? end)) / span.milliseconds);
    return [[x, height - 2 - (value / top) * (height - 8)]];
  });
}

function pathOf(values: Line["values"], scale: Scale): string {
  const points = pointsOf(values, scale);
  return points
    .map(([x, y], at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`)
    .join("");
}

function areaOf(values: Line["values"], scale: Scale): string {
  const points = pointsOf(values, scale);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return "";
  const [right, left] = [last[0].toFixed(1), first[0].toFixed(1)];
  return `${pathOf(values, scale)}L${right} ${height}L${left} ${height}Z`;
}

/** The upper end of the scale: the next of 1, 2, 5, 10, 20 … above a value, so that it changes
 *  rarely. */
function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((one) => value <= one * power) ?? 10;
  return factor * power;
}
