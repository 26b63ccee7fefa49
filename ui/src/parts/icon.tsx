import type { JSX } from "preact";

/** Strokes on a 16-by-16 grid. */
const paths = {
  blobs: "M2 4.5 8 2l6 2.5v7L8 14l-6-2.5zM2 4.5 8 7l6-2.5M8 7v7",
  tables: "M2 3h12v10H2zM2 6.5h12M2 10h12M6.5 6.5V13",
  queues: "M2 4h8M2 8h12M2 12h8M12.5 2.5v3M11 4h3",
  shares: "M2 4h4l1.5 2H14v7H2z",
  concurrency: "M4 7V5a4 4 0 0 1 8 0v2M3 7h10v7H3zM8 10v1.5",
  health: "M1.5 8h3l2-5 3 10 2-5h3",
  overview: "M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z",
  settings: "M2 4h7M13 4h1M11 2.5v3M2 8h2M8 8h6M6 6.5v3M2 12h6M12 12h2M10 10.5v3",
  principals: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14a5.5 5.5 0 0 1 11 0",
  folder: "M2 4h4l1.5 2H14v7H2z",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  upload: "M8 11V3M5 6l3-3 3 3M3 13h10",
  download: "M8 3v8M5 8l3 3 3-3M3 13h10",
  trash: "M3 4h10M6 4V2.5h4V4M4.5 4l.5 9.5h6l.5-9.5",
  plus: "M8 3v10M3 8h10",
  refresh: "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
  close: "M4 4l8 8M12 4l-8 8",
  lock: "M5 7V5a3 3 0 0 1 6 0v2M4 7h8v6H4z",
  link: "M7 9a3 3 0 0 0 4 0l2-2a2.8 2.8 0 0 0-4-4L8 4M9 7a3 3 0 0 0-4 0L3 9a2.8 2.8 0 0 0 4 4l1-1",
  copy: "M5 5h8v8H5zM3 11V3h8",
  edit: "M3 13l.6-3L11 2.6 13.4 5 6 12.4z",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1 1M12 12l1 1M13 3l-1 1",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  auto: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  camera: "M2 5h3l1-1.5h4L11 5h3v8H2zM8 11a2.2 2.2 0 1 0 0-4.4A2.2 2.2 0 0 0 8 11z",
  restore: "M3 8a5 5 0 1 1 1.5 3.5M3 12V9h3",
  rename: "M3 12h10M5 9l6-6 1.5 1.5-6 6z",
  stop: "M4 4h8v8H4z",
  filter: "M2 3h12L9.5 8.5V13l-3-1.5v-3z",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  tag: "M2 8V2h6l6 6-6 6zM5 5h.01",
  count: "M3 13V8M6.5 13V4M10 13V9M13.5 13V2",
  columns: "M2 3h12v10H2zM6 3v10M10 3v10",
  minimise: "M4 11.5h8",
  minus: "M3 8h10",
  expand: "M4 10l4-4 4 4",
  paste: "M5 3h6v2H5zM5 4H3v10h10V4h-2M6 9h4M6 11.5h3",
  cut: "M3 11h3v3H3zM10 11h3v3h-3zM5.5 11 11 3M10.5 11 5 3",
  play: "M5 3l8 5-8 5z",
  pause: "M5 3v10M11 3v10",
  events: "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z",
  timeline: "M2 4h7M5 8h8M3 12h6M2 2v12",
  leave: "M9 3H3v10h6M7 8h7M11 5l3 3-3 3",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
