/* Small pictures beside words, drawn in lines on a grid of 16. They say nothing by themselves: the word or the label does. */

const paths = {
  plus: 'M8 3v10M3 8h10',
  chat: 'M4.5 2.5h7a2 2 0 0 1 2 2v5a2 2 0 0 1-2 2H7.5L4 14v-2.6a2 2 0 0 1-1.5-1.9v-5a2 2 0 0 1 2-2z',
  box: 'M8 1.8 13.5 5v6L8 14.2 2.5 11V5zM2.5 5 8 8.2 13.5 5M8 8.2v6',
  sliders:
    'M2 4.5h5M11 4.5h3M2 11.5h3M9 11.5h5M9 6.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM7 13.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z',
  search: 'M7 11.8a4.8 4.8 0 1 0 0-9.6 4.8 4.8 0 0 0 0 9.6zM10.5 10.5 14 14',
  send: 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
  clip: 'm13 7-5.5 5.5a3.2 3.2 0 0 1-4.5-4.5L8.5 2.5a2.1 2.1 0 0 1 3 3L6 11a1 1 0 0 1-1.5-1.5L9.5 4.5',
  right: 'm6 3.5 4.5 4.5L6 12.5',
  down: 'm3.5 6 4.5 4.5L12.5 6',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  check: 'm3 8.5 3.2 3.2L13 4.8',
  cross: 'm4 4 8 8M12 4l-8 8',
  file: 'M4 1.8h5L12.2 5v9.2H4zM9 1.8V5h3.2',
  folder: 'M1.8 4a1 1 0 0 1 1-1h3.4l1.5 1.8h5.5a1 1 0 0 1 1 1v6.4a1 1 0 0 1-1 1H2.8a1 1 0 0 1-1-1z',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1',
  download: 'M8 2v8.5M4.5 7 8 10.5 11.5 7M2.5 13.5h11',
  upload: 'M8 10.5V2.5M4.5 6 8 2.5 11.5 6M2.5 13.5h11',
  terminal: 'm2.5 4 3.5 3.5L2.5 11M8 12h5.5',
  branch:
    'M4.5 5.5v5M4.5 5.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM4.5 13.9a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 7c0 2.5-3.5 1.8-6 3.8',
  globe: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c3.3 3.5 3.3 8.5 0 12-3.3-3.5-3.3-8.5 0-12z',
  list: 'M6 4h7.5M6 8h7.5M6 12h7.5M2.5 4h.6M2.5 8h.6M2.5 12h.6',
  pulse: 'M1.5 8h3l2-5 3 10 2-5h3',
  pencil: 'm10.8 2.7 2.5 2.5L5.5 13l-3 .500.5-3z',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z',
  stop: 'M4 4h8v8H4z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.2v9.6L12.5 8z',
  dots: 'M2.8 8a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0zM7.4 8a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0zM12 8a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0z',
  panel: 'M2.2 3h11.6v10H2.2zM6.2 3v10',
  chip: 'M4.5 4.5h7v7h-7zM6 2v2.5M10 2v2.5M6 11.5V14M10 11.5V14M2 6h2.5M2 10h2.5M11.5 6H14M11.5 10H14',
  spark: 'm8 2 1.4 4.6L14 8l-4.6 1.4L8 14l-1.4-4.6L2 8l4.6-1.4z',
  diff: 'M8 2.5v6M5 5.5h6M5 12.5h6',
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name, className = 'size-4' }: { name: IconName; className?: string }) => (
  <svg
    aria-hidden
    viewBox="0 0 16 16"
    className={`shrink-0 fill-none stroke-current stroke-[1.4] [stroke-linecap:round] [stroke-linejoin:round] ${className}`}
  >
    <path d={paths[name]} />
  </svg>
)
