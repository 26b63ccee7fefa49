import type { JSX } from "preact";

const width = 640;
const height = 260;
/** Clients in the picture; the list below it has all of them. */
const clientsMax = 12;
const shortening = 18;

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface WaitEdge {
  /** The client that waits, and the one it waits for. */
  readonly from: string;
  readonly to: string;
  /** Whether both wait for each other. */
  readonly isStuck: boolean;
}

/** A picture of the clients: an arrow leads from each to those it waits for. The list of waits has
 *  the same facts as text. */
export function WaitGraph({ edges: given }: { readonly edges: readonly WaitEdge[] }): JSX.Element {
  const edges = given.map((edge) => ({ ...edge, to: edge.to || "unknown" }));
  const clients = [...new Set(edges.flatMap(({ from, to }) => [from, to]))].slice(0, clientsMax);
  const points = new Map(clients.map((client, at) => [client, pointAt(at, clients.length)]));
  const stuck = new Set(edges.flatMap(({ from, to, isStuck }) => (isStuck ? [from, to] : [])));
  return (
    <svg class="wait-graph" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <defs>
        <marker
          id="arrow"
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="8"
          markerHeight="8"
          orient="auto"
        >
          <path d="M0 0 8 4 0 8z" />
        </marker>
      </defs>
      {edges.map(({ from, to, isStuck }, index) => {
        const [start, end] = [points.get(from), points.get(to)];
        if (start === undefined || end === undefined || from === to) return null;
        const line = { ...shortened(start, end), "marker-end": "url(#arrow)" };
        return <line key={index} class={isStuck ? "stuck" : ""} {...line} />;
      })}
      {[...points].map(([client, { x, y }]) => (
        <g key={client} class={stuck.has(client) ? "stuck" : ""}>
          <circle cx={x} cy={y} r={9} />
          <text x={x} y={y < height / 2 ? y - 16 : y + 26}>
            {client}
          </text>
        </g>
      ))}
    </svg>
  );
}

/** Clients are placed on an ellipse, the first on the left. */
function pointAt(index: number, count: number): Point {
  const angle = Math.PI + (2 * Math.PI * index) / Math.max(count, 1);
  return {
    x: Math.round(width / 2 + Math.cos(angle) * (width / 2 - 90)),
    y: Math.round(height / 2 + Math.sin(angle) * (height / 2 - 45)),
  };
}

/** A line between two circles, without the parts inside them. Opposite lines lie beside each
 *  other. */
function shortened(start: Point, end: Point) {
  const length = Math.hypot(end.x - start.x, end.y - start.y) || 1;
  const [dx, dy] = [(end.x - start.x) / length, (end.y - start.y) / length];
  const aside = { x: -dy * 5, y: dx * 5 };
  return {
    x1: start.x + dx * shortening + aside.x,
    y1: start.y + dy * shortening + aside.y,
    x2: end.x - dx * shortening + aside.x,
    y2: end.y - dy * shortening + aside.y,
  };
}
